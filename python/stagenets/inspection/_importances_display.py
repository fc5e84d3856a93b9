"""What a network looks at, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stagenets.fitting._parameters import check_count
from stagenets.inspection._common import OBJECTIVE_COLOR, axes_or_new, network_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ImportancesDisplay:
    """The inputs that a network's scores depend on most.

    Create one with `from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    importances : ndarray of shape (n_features,)
        Importance of every input.
    names : sequence of str
        Names of the inputs.
    estimator_name : str, optional
        Name shown in the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the plot.
    figure_ : matplotlib Figure
        The figure.
    bars_ : matplotlib BarContainer
        One bar per input shown, the most important on top.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from stagenets import ImportancesDisplay, RVFLClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RVFLClassifier(n_hidden=30, random_state=0).fit(X, y)
    >>> display = ImportancesDisplay.from_estimator(model, most=3)
    >>> len(display.bars_)
    3
    """

    def __init__(
        self,
        *,
        importances: NDArray[np.float64],
        names: Sequence[str],
        estimator_name: str | None = None,
    ) -> None:
        self.importances = importances
        self.names = names
        self.estimator_name = estimator_name

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, most: int = 20, ax: Axes | None = None
    ) -> ImportancesDisplay:
        """Draw the `feature_importances_` of a fitted network.

        Parameters
        ----------
        estimator : estimator
            A fitted network, or a Pipeline or search that ends in one; the inputs are those of the
            network.
        most : int, default=20
            The largest number of inputs to show, those of greatest importance.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ImportancesDisplay
        """
        network, _ = network_of(estimator)
        names = getattr(network, "feature_names_in_", None)
        if names is None:
            names = [f"x{number}" for number in range(network.n_features_in_)]
        return cls(
            importances=network.feature_importances_,
            names=list(map(str, names)),
            estimator_name=type(network).__name__,
        ).plot(most=most, ax=ax)

    def plot(self, *, most: int = 20, ax: Axes | None = None) -> ImportancesDisplay:
        """Draw the importances.

        Parameters
        ----------
        most : int, default=20
            The largest number of inputs to show.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ImportancesDisplay
            The display itself.
        """
        shown = np.argsort(self.importances, kind="stable")[::-1][: check_count("most", most)][::-1]
        axes = self.ax_ = axes_or_new(self, ax, (6.4, 1.2 + 0.28 * len(shown)))
        self.figure_ = axes.figure
        places = range(len(shown))
        self.bars_ = axes.barh(places, self.importances[shown], color=OBJECTIVE_COLOR)
        names = [self.names[number] for number in shown]
        axes.set_yticks(places, labels=names, parse_math=False)  # names may hold $
        title = "what it looks at"
        if len(shown) < len(self.names):
            title += f" ({len(shown)} of {len(self.names)} inputs)"
        title = f"{self.estimator_name}: {title}" if self.estimator_name else title
        axes.set(xlabel="importance: share of the total effects", title=title)
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
        return self
