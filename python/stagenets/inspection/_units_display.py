"""The benefit of choosing: the scores of the chosen units against their pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stagenets.inspection._common import OBJECTIVE_COLOR, VALIDATION_COLOR, axes_or_new, network_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class UnitsDisplay:
    """Scores of the chosen units against the pools they were chosen from, stage by stage.

    A candidate's score is how much it lowers the objective while the other readout weights stay
    fixed; the median of the pool is the typical score of a unit drawn at random. Create one with
    `from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    unit_scores : ndarray of shape (n_hidden,)
        Score of every unit when it was chosen.
    unit_stages : ndarray of shape (n_hidden,)
        Stage of every unit, counting from 0.
    pool_quantiles : ndarray of shape (n_iter, 5)
        Minimum, quartiles and maximum of the scores in each stage's pool.
    estimator_name : str, optional
        Name shown in the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the plot.
    figure_ : matplotlib Figure
        The figure.
    chosen_ : matplotlib Line2D
        The chosen units.
    median_ : matplotlib Line2D
        Median of the pools.
    quartiles_, range_ : matplotlib PolyCollection
        Bands of the pools.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from stagenets import RVFLClassifier, UnitsDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RVFLClassifier(n_hidden=30, random_state=0).fit(X, y)
    >>> display = UnitsDisplay.from_estimator(model)
    >>> bool(display.advantage > 1)  # chosen units score this many times the pool's median
    True
    """

    def __init__(
        self,
        *,
        unit_scores: NDArray[np.float64],
        unit_stages: NDArray[np.int64],
        pool_quantiles: NDArray[np.float64],
        estimator_name: str | None = None,
    ) -> None:
        self.unit_scores = unit_scores
        self.unit_stages = unit_stages
        self.pool_quantiles = pool_quantiles
        self.estimator_name = estimator_name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> UnitsDisplay:
        """Draw the scores of a fitted network's units.

        Parameters
        ----------
        estimator : estimator
            A fitted network, or a Pipeline or search that ends in one. Its units must have been
            chosen: one-shot networks have no scores.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        UnitsDisplay
        """
        network, _ = network_of(estimator)
        quantiles = getattr(network, "pool_quantiles_", None)
        if quantiles is None:
            raise ValueError(
                "estimator must have chosen its units from pools, with selection='residual' or "
                f"'joint'; got a one-shot {type(network).__name__}, whose units have no scores"
            )
        return cls(
            unit_scores=network.unit_scores_,
            unit_stages=network.selected_[:, 0],
            pool_quantiles=quantiles,
            estimator_name=type(network).__name__,
        ).plot(ax)

    @property
    def advantage(self) -> float:
        """Score of a chosen unit relative to its pool's median; the median over all units."""
        medians = self.pool_quantiles[self.unit_stages, 2]
        return float(np.median(self.unit_scores / np.maximum(medians, np.finfo(float).tiny)))

    def plot(self, ax: Axes | None = None) -> UnitsDisplay:
        """Draw the scores.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        UnitsDisplay
            The display itself.
        """
        axes = self.ax_ = axes_or_new(self, ax, (6.4, 4.2))
        self.figure_ = axes.figure
        # A step for every stage, as wide as one, so that a single stage shows as well.
        stages = np.arange(len(self.pool_quantiles) + 1) + 0.5
        lowest, lower, median, upper, highest = (
            np.append(quantile, quantile[-1]) for quantile in self.pool_quantiles.T
        )
        band = {"color": OBJECTIVE_COLOR, "linewidth": 0, "step": "post"}
        self.range_ = axes.fill_between(
            stages, lowest, highest, alpha=0.15, label="pool: range", **band
        )
        self.quartiles_ = axes.fill_between(
            stages, lower, upper, alpha=0.35, label="pool: middle half", **band
        )
        (self.median_,) = axes.plot(
            stages,
            median,
            color=OBJECTIVE_COLOR,
            drawstyle="steps-post",
            label="pool: median",
        )
        (self.chosen_,) = axes.plot(
            self.unit_stages + 1,
            self.unit_scores,
            "o",
            color=VALIDATION_COLOR,
            markersize=3,
            label=f"chosen: {self.advantage:.1f} × the median",
        )
        # The worst candidates may score close to zero; they should not dominate the plot.
        axes.set_yscale("log")
        axes.set_ylim(bottom=lower[lower > 0].min(initial=self.unit_scores.max()) / 3)
        title = "chosen units against their pools"
        title = f"{self.estimator_name}: {title}" if self.estimator_name else title
        axes.set(xlabel="stage", ylabel="score: drop in the objective", title=title)
        axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        axes.grid(alpha=0.3)
        axes.legend(loc="upper right")
        return self
