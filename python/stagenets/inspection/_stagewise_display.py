"""How a network grew: objective, residual and scores over the number of units."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, d2_absolute_error_score, r2_score

from stagenets.estimators._network import StagewiseNetwork
from stagenets.inspection._common import (
    CV_COLOR,
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

    Create one with `from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    units : ndarray of shape (n_iter + 1,)
        Number of units before the first stage and after each one.
    objective, residual : ndarray of shape (n_iter + 1,)
        Ridge objective and squared residual at the same points.
    train_scores, validation_scores : ndarray, optional
        Scores of the model at the same points, as far as they are known.
    cv_units, cv_scores : ndarray, optional
        Sizes tried by cross-validation, in units, and the mean score of each.
    n_kept : int, optional
        Number of units kept, if early stopping went back to fewer.
    score_name : str, default="score"
        Name of the scores.
    estimator_name : str, optional
        Name shown in the titles.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the objective and the residual energy.
    score_ax_ : matplotlib Axes or None
        Axes with the scores, if there are any.
    figure_ : matplotlib Figure
        The figure.
    lines_ : dict of str to matplotlib Line2D
        Curves by name: "objective", "residual", "train", "validation", "cross-validated".
    best_ : matplotlib Line2D or None
        Marker of the best validation score or, without any, the best cross-validated one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from stagenets import RVFLClassifier, StagewiseDisplay
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
        cv_units: NDArray[np.int64] | None = None,
        cv_scores: NDArray[np.float64] | None = None,
        n_kept: int | None = None,
        score_name: str = "score",
        estimator_name: str | None = None,
    ) -> None:
        self.units = units
        self.objective = objective
        self.residual = residual
        self.train_scores = train_scores
        self.validation_scores = validation_scores
        self.cv_units = cv_units
        self.cv_scores = cv_scores
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

        After ``early_stopping="cv"``, the mean score of every size tried is drawn as well, unless
        another `metric` is given.

        Parameters
        ----------
        estimator : estimator
            A fitted network, or a Pipeline or search that ends in one.
        X, y : array-like, optional
            Data for the "train" curve.
        X_val, y_val : array-like, optional
            Data for the "validation" curve. Without them, the curve shows the samples set aside by
            ``early_stopping="validation"``, if the model was fitted that way.
        metric : callable, optional
            ``metric(y_true, y_pred) -> float``, where higher is better. The default is accuracy, or
            for regressors R², by absolute errors if their loss is not "squared".
        score_name : str, optional
            Name of the scores; by default the name of the metric.
        ax : matplotlib Axes, or a pair of them if there are scores, optional
            Where to draw; a new figure by default.

        Returns
        -------
        StagewiseDisplay
        """
        network, prepare = network_of(estimator)
        cv_sizes, cv_scores = _cross_validated(network)
        nothing_else = X is None and X_val is None and not hasattr(network, "validation_path_")
        if metric is not None or (network.loss == "log" and not nothing_else):
            cv_scores = None  # they measure something else
        if metric is None:
            metric, name = _usual_score(network)
            by_log_loss = network.loss == "log" and cv_scores is not None
            score_name = score_name or ("minus log-loss" if by_log_loss else name)

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
            cv_units=None if cv_scores is None else cv_sizes,
            cv_scores=cv_scores,
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
        curves = (self.train_scores, self.validation_scores, self.cv_scores)
        panels = 1 if all(curve is None for curve in curves) else 2
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
            ("objective", "objective: loss and penalty", self.objective, OBJECTIVE_COLOR),
            ("residual", "loss alone", self.residual, RESIDUAL_COLOR),
        ):
            (self.lines_[name],) = ax.plot(self.units, values, label=label, color=color)
        if self.residual[-1] * 10 < self.objective[0] and self.residual[-1] > 0:
            ax.set_yscale("log")
        else:
            ax.set_ylim(0, 1.05 * self.objective.max())
        self._finish(ax, "objective", self.units[-1])

    def _draw_scores(self, ax: Any) -> None:
        for name, units, values, color in (
            ("train", self.units, self.train_scores, OBJECTIVE_COLOR),
            ("cross-validated", self.cv_units, self.cv_scores, CV_COLOR),
            ("validation", self.units, self.validation_scores, VALIDATION_COLOR),
        ):
            if values is not None and units is not None:
                units = units[: len(values)]
                (self.lines_[name],) = ax.plot(units, values, label=name, color=color)
        judged = self.lines_.get("validation", self.lines_.get("cross-validated"))
        if judged is not None:
            all_units, scores = judged.get_data()
            best = int(np.argmax(scores))
            at, score = all_units[best], scores[best]
            label = f"best: {score:.4g} at {at} unit{'' if at == 1 else 's'}"
            (self.best_,) = ax.plot(
                at, score, "o", color=judged.get_color(), markeredgecolor="white", label=label
            )
        tried = self.units if self.cv_units is None else self.cv_units
        self._finish(ax, self.score_name, max(self.units[-1], tried[-1]))

    def _finish(self, ax: Any, quantity: str, most: int) -> None:
        title = f"{self.estimator_name}: {quantity}" if self.estimator_name else quantity
        ax.set(xlabel="hidden units", title=title)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.grid(alpha=0.3)
        if self.n_kept is not None and self.n_kept < most:
            ax.axvline(self.n_kept, color="grey", linestyle="--", label=f"kept: {self.n_kept}")
        # A fixed place: looking for the best one can take so long that matplotlib warns.
        ax.legend(loc="upper right" if quantity == "objective" else "lower right")


def _usual_score(network: StagewiseNetwork) -> tuple[Callable[..., Any], str]:
    """What fits measure on samples set aside, and its name."""
    if is_classifier(network):
        return accuracy_score, "accuracy"
    if network.loss == "squared":
        return r2_score, "R²"
    return d2_absolute_error_score, "D² (absolute errors)"


def _cross_validated(network: StagewiseNetwork) -> tuple[Any, Any]:
    """Units of the networks that a cross-validation compared, and their scores; None if none."""
    sizes = getattr(network, "cv_sizes_", None)
    if sizes is None or len(sizes) < 2:
        return None, None
    before = network.n_hidden_ - len(network.hidden_ends_)
    return before + sizes, network.cv_path_
