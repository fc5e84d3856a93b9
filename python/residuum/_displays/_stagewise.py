"""How a network grew: objective, residual and scores over the number of units."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score

from residuum._displays._common import (
    OBJECTIVE_COLOR,
    RESIDUAL_COLOR,
    VALIDATION_COLOR,
    network_of,
    pyplot,
    units_by_stage,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Metric = Callable[[Any, Any], float]


class StagewiseDisplay:
    """Objective, residual energy and scores of a network over its number of units.

    Make one with `from_estimator`; all parameters are kept as attributes.

    Parameters
    ----------
    units : ndarray of shape (n_iter + 1,)
        Number of units before the first stage and after each.
    objective, residual : ndarray of shape (n_iter + 1,)
        Ridge objective and squared residual likewise.
    train_scores, validation_scores : ndarray, optional
        Scores of the model before the first stage and after each, as far as they are known.
    n_kept : int, optional
        Number of units kept, where early stopping went back to fewer.
    score_name : str, default="score"
        What the scores are called.
    estimator_name : str, optional
        Name in the titles.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Objective and residual energy.
    score_ax_ : matplotlib Axes or None
        The scores, if there are any.
    figure_ : matplotlib Figure
        The figure of both.
    lines_ : dict of str to matplotlib Line2D
        Curves by name: "objective", "residual", "train", "validation".
    best_ : matplotlib Line2D or None
        Mark of the best validation score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from residuum import RVFLClassifier, StagewiseDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RVFLClassifier(random_state=0).fit(X[::2], y[::2])
    >>> display = StagewiseDisplay.from_estimator(
    ...     model, X[::2], y[::2], X_val=X[1::2], y_val=y[1::2]
    ... )
    >>> sorted(display.lines_)
    ['objective', 'residual', 'train', 'validation']
    """

    def __init__(
        self,
        *,
        units: NDArray[np.int64],
        objective: NDArray[np.float64],
        residual: NDArray[np.float64],
        train_scores: NDArray[np.float64] | None = None,
        validation_scores: NDArray[np.float64] | None = None,
        n_kept: int | None = None,
        score_name: str = "score",
        estimator_name: str | None = None,
    ) -> None:
        self.units = units
        self.objective = objective
        self.residual = residual
        self.train_scores = train_scores
        self.validation_scores = validation_scores
        self.n_kept = n_kept
        self.score_name = score_name
        self.estimator_name = estimator_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        metric: Metric | None = None,
        score_name: str | None = None,
        ax: Axes | tuple[Axes, Axes] | None = None,
    ) -> StagewiseDisplay:
        """Draw how a fitted network grew.

        Parameters
        ----------
        estimator : estimator
            A fitted network, or a Pipeline or search that ends in one.
        X, y : array-like, optional
            Data for the curve "train".
        X_val, y_val : array-like, optional
            Data for the curve "validation". Without them it shows the samples that
            ``early_stopping="validation"`` has set aside, if the model was fitted so.
        metric : callable, optional
            ``metric(y_true, y_pred) -> float``, the more the better. Default is accuracy, or R² for
            regressors.
        score_name : str, optional
            What the scores are called; by default the name of the metric.
        ax : matplotlib Axes, or a pair of them if there are scores, optional
            Where to draw; a new figure by default.

        Returns
        -------
        StagewiseDisplay
        """
        network, prepare = network_of(estimator)
        if metric is None:
            metric = accuracy_score if is_classifier(network) else r2_score
            score_name = score_name or ("accuracy" if is_classifier(network) else "R²")

        def scores(names: str, inputs: Any, targets: Any) -> NDArray[np.float64] | None:
            if inputs is None and targets is None:
                return None
            if inputs is None or targets is None:
                raise ValueError(f"{names} must be given together; got only one of them")
            staged = network.staged_predict(prepare(inputs))
            return np.array([metric(targets, predicted) for predicted in staged])

        validation_scores = scores("X_val and y_val", X_val, y_val)
        if validation_scores is None:
            validation_scores = getattr(network, "validation_path_", None)
        return cls(
            units=units_by_stage(network),
            objective=network.objective_path_,
            residual=network.residual_path_,
            train_scores=scores("X and y", X, y),
            validation_scores=validation_scores,
            n_kept=network.n_hidden_,
            score_name=score_name or str(getattr(metric, "__name__", "score")),
            estimator_name=type(network).__name__,
        ).plot(ax)

    def plot(self, ax: Axes | tuple[Axes, Axes] | None = None) -> StagewiseDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, or a pair of them if there are scores, optional
            Where to draw; a new figure by default.

        Returns
        -------
        StagewiseDisplay
            The display itself.
        """
        panels = 1 if self.train_scores is None and self.validation_scores is None else 2
        plt = pyplot(self)
        if ax is None:
            size = (5.2 * panels, 3.8)
            _, axes = plt.subplots(1, panels, figsize=size, layout="constrained", squeeze=False)
        else:
            axes = np.atleast_1d(np.asarray(ax, dtype=object))
        axes = axes.ravel()
        if len(axes) != panels:
            raise ValueError(f"ax must be {panels} Axes for this display; got {len(axes)}")
        self.ax_, self.score_ax_ = axes[0], axes[1] if panels == 2 else None
        self.figure_ = self.ax_.figure
        self.lines_: dict[str, Any] = {}
        self.best_ = None
        self._draw_objective(self.ax_)
        if self.score_ax_ is not None:
            self._draw_scores(self.score_ax_)
        return self

    def _draw_objective(self, ax: Any) -> None:
        for name, label, values, color in (
            ("objective", "objective ‖AΩ − T‖² + λ‖Ω‖²", self.objective, OBJECTIVE_COLOR),
            ("residual", "residual energy ‖AΩ − T‖²", self.residual, RESIDUAL_COLOR),
        ):
            (self.lines_[name],) = ax.plot(self.units, values, label=label, color=color)
        if self.residual[-1] * 10 < self.objective[0] and self.residual[-1] > 0:
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
        self._finish(ax, "objective")

    def _draw_scores(self, ax: Any) -> None:
        for name, values, color in (
            ("train", self.train_scores, OBJECTIVE_COLOR),
            ("validation", self.validation_scores, VALIDATION_COLOR),
        ):
            if values is not None:
                units = self.units[: len(values)]
                (self.lines_[name],) = ax.plot(units, values, label=name, color=color)
        if self.validation_scores is not None:
            best = int(np.argmax(self.validation_scores))
            units, score = self.units[best], self.validation_scores[best]
            label = f"best: {score:.4g} at {units} unit{'' if units == 1 else 's'}"
            (self.best_,) = ax.plot(
                units, score, "o", color=VALIDATION_COLOR, markeredgecolor="white", label=label
            )
        self._finish(ax, self.score_name)

    def _finish(self, ax: Any, quantity: str) -> None:
        title = f"{self.estimator_name}: {quantity}" if self.estimator_name else quantity
        ax.set(xlabel="hidden units", title=title)
        ax.grid(alpha=0.3)
        if self.n_kept is not None and self.n_kept < self.units[-1]:
            ax.axvline(self.n_kept, color="grey", linestyle="--", label=f"kept: {self.n_kept}")
        ax.legend()
