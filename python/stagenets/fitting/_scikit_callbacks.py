"""scikit-learn's callback protocol, which the estimators support where it exists (1.9 or later)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an older scikit-learn without callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Placeholder for scikit-learn's class of that name."""

    def with_callbacks(method: Any) -> Any:
        """Placeholder for scikit-learn's decorator of that name."""
        return method


Fit = TypeVar("Fit", bound=Callable[..., Any])

__all__ = ["CallbackSupportMixin", "StageTasks", "tells_callbacks"]


class StageTasks:
    """The stages of a fit as scikit-learn's tasks, children of the task "fit"."""

    def __init__(self, model: Any, units: int) -> None:
        self._model = model
        self._fit = model._init_callback_context(max_subtasks=model._most_stages(units))
        self._fit.call_on_fit_task_begin(estimator=model)
        self._ended = 0

    @classmethod
    def of(cls, model: Any, units: int) -> StageTasks | None:
        """The tasks of a model of so many units that has callbacks, otherwise None."""
        return cls(model, units) if getattr(model, "_skl_callbacks", None) else None

    def end_stage(self, max_units: int) -> bool:
        """Report a stage of a fit of `max_units` units; returns whether a callback wants to stop.

        The readout of a stage is not solved for until the fit ends, so no `fitted_estimator` is
        available here; `staged_predict` gives the predictions of all stages afterwards.
        """
        self._ended += 1
        # If candidates add nothing, a stage keeps fewer units than planned and more stages follow.
        self._fit.max_subtasks = max(self._model._most_stages(max_units), self._ended)
        stage = self._fit.subcontext(task_name="stage")
        stage.call_on_fit_task_begin(estimator=self._model)
        return bool(stage.call_on_fit_task_end(estimator=self._model))


def tells_callbacks(fit: Fit) -> Fit:
    """Decorate `fit` so that the task "fit", begun by `StageTasks`, ends once it has returned."""

    @wraps(fit)
    def told_fit(self: Any, X: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        fit(self, X, y, *args, **kwargs)
        context = getattr(self, "_callback_fit_ctx", None)
        if context is not None:
            context.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes={})
        return self

    return with_callbacks(told_fit)  # type: ignore[no-any-return]
