"""The results of a search: scores over two parameters, with all others at their best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stagenets.inspection._common import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Parameters for the number of units, in order of preference.
_UNITS = ("n_hidden", "n_enhancement", "n_windows", "n_feature_nodes")


class SearchDisplay:
    """Mean score of a search over two parameters, with all others at their best.

    Create one with `from_estimator`; all parameters are stored as attributes.

    Parameters
    ----------
    scores : ndarray of shape (len(y_values), len(x_values))
        Mean scores; NaN for combinations that were not searched.
    x_values, y_values : list
        Values of the two parameters.
    best : tuple of int
        Column and row of the best model.
    x_name, y_name : str
        Names of the parameters.
    score_name : str, default="mean test score"
        Name of the scores.
    fixed : dict, optional
        Best values of the other parameters that were searched.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the plot.
    figure_ : matplotlib Figure
        The figure.
    image_ : matplotlib QuadMesh
        The heat map.
    best_ : matplotlib Line2D
        Marker of the best model.
    colorbar_ : matplotlib Colorbar
        Colour scale of the scores.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from stagenets import RVFLClassifier, SearchDisplay
    >>> grid = {"n_hidden": [5, 10, 20], "alpha": [0.01, 1, 100]}
    >>> search = GridSearchCV(RVFLClassifier(random_state=0), grid)
    >>> search = search.fit(*load_iris(return_X_y=True))
    >>> SearchDisplay.from_estimator(search).scores.shape
    (3, 3)
    """

    def __init__(
        self,
        *,
        scores: NDArray[np.float64],
        x_values: list[Any],
        y_values: list[Any],
        best: tuple[int, int],
        x_name: str,
        y_name: str,
        score_name: str = "mean test score",
        fixed: dict[str, Any] | None = None,
    ) -> None:
        self.scores = scores
        self.x_values = x_values
        self.y_values = y_values
        self.best = best
        self.x_name = x_name
        self.y_name = y_name
        self.score_name = score_name
        self.fixed = fixed

    @classmethod
    def from_estimator(
        cls,
        search: Any,
        *,
        x: str | None = None,
        y: str = "alpha",
        score: str = "mean_test_score",
        score_name: str | None = None,
        ax: Axes | None = None,
    ) -> SearchDisplay:
        """Draw the results of a search.

        Parameters
        ----------
        search : estimator
            A fitted search: a CV estimator, GridSearchCV, or a similar scikit-learn search.
        x, y : str, optional
            Parameters on the two axes, without the prefixes of Pipeline steps. By default the
            number of units (`n_hidden`, or `n_enhancement` for a BLS) and the penalty (`alpha`).
        score : str, default="mean_test_score"
            Column of `cv_results_` to draw.
        score_name : str, optional
            Name of the scores; by default the name of the column.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SearchDisplay
        """
        values = search_values(search, x=x, y=y, score=score)
        if score_name is not None:
            values["score_name"] = score_name
        return cls(**values).plot(ax)

    def plot(self, ax: Axes | None = None, *, cmap: str = "viridis") -> SearchDisplay:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        cmap : str, default="viridis"
            Colour map for the scores.

        Returns
        -------
        SearchDisplay
            The display itself.
        """
        axes = self.ax_ = axes_or_new(self, ax, (6.4, 4.4))
        self.figure_ = axes.figure
        self.image_ = axes.pcolormesh(np.ma.masked_invalid(self.scores), cmap=cmap)
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=axes, label=self.score_name)
        column, row = self.best
        (self.best_,) = axes.plot(
            column + 0.5,
            row + 0.5,
            "*",
            markersize=14,
            color="C3",
            markeredgecolor="white",
            clip_on=False,
        )
        for axis, values in ((axes.xaxis, self.x_values), (axes.yaxis, self.y_values)):
            shown = np.arange(0, len(values), -(-len(values) // 12))
            axis.set_ticks(shown + 0.5, labels=[_label(values[i]) for i in shown])
        axes.set(xlabel=self.x_name, ylabel=self.y_name, title=self._title())
        return self

    def _title(self) -> str:
        column, row = self.best
        params = {self.x_name: self.x_values[column], self.y_name: self.y_values[row]}
        params |= self.fixed or {}
        words = [f"{name}={_label(value)}" for name, value in params.items()]
        lines = [", ".join(words[i : i + 3]) for i in range(0, len(words), 3)]
        return f"best {self.scores[row, column]:.4g}: " + ",\n".join(lines)


def search_values(
    search: Any, *, x: str | None = None, y: str = "alpha", score: str = "mean_test_score"
) -> dict[str, Any]:
    """The parameters of the display of a search; see `SearchDisplay.from_estimator`."""
    check_is_fitted(search)
    if not hasattr(search, "cv_results_") or not hasattr(search, "best_params_"):
        raise TypeError(
            "search must be a fitted search, such as RVFLClassifierCV or GridSearchCV; got "
            f"{type(search).__name__}, which has searched nothing"
        )
    results, best = search.cv_results_, search.best_params_
    if score not in results:
        means = [name for name in results if name.startswith("mean_")]
        raise ValueError(f"score must be a column of cv_results_, such as {means}; got {score!r}")
    x_key, y_key = (
        _searched("x", _UNITS if x is None else (x,), best),
        _searched("y", (y,), best),
    )
    if x_key == y_key:
        raise ValueError(f"x and y must be different parameters; got {x_key!r} twice")
    fixed = {name: value for name, value in best.items() if name not in (x_key, y_key)}
    shown = [
        (params[x_key], params[y_key], value)
        for params, value in zip(results["params"], results[score], strict=True)
        if params.keys() == best.keys()
        and all(params[name] == value for name, value in fixed.items())
    ]
    x_values = _in_order([row[0] for row in shown])
    y_values = _in_order([row[1] for row in shown])
    columns = {value: i for i, value in enumerate(x_values)}
    rows = {value: i for i, value in enumerate(y_values)}
    scores = np.full((len(y_values), len(x_values)), np.nan)
    for x_value, y_value, value in shown:
        scores[rows[y_value], columns[x_value]] = value
    return {
        "scores": scores,
        "x_values": x_values,
        "y_values": y_values,
        "best": (columns[best[x_key]], rows[best[y_key]]),
        "x_name": _short(x_key),
        "y_name": _short(y_key),
        "score_name": score.replace("_", " "),
        "fixed": {_short(name): value for name, value in fixed.items()},
    }


def _short(name: str) -> str:
    """A parameter's name without the prefixes of Pipeline steps."""
    return name.rsplit("__", 1)[-1]


def _label(value: Any) -> str:
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return f"{value:g}" if number else str(value)


def _searched(axis: str, wanted: tuple[str, ...], best: dict[str, Any]) -> str:
    """The first of the wanted parameters that was searched, with its Pipeline prefix."""
    for name in wanted:
        for key in best:
            if name in (key, _short(key)):
                return key
    raise ValueError(
        f"{axis} must be a parameter that was searched, {list(best)}; got {' or '.join(wanted)}"
    )


def _in_order(values: list[Any]) -> list[Any]:
    """Distinct values, in ascending order if they can be compared, else in the given order."""
    distinct = list(dict.fromkeys(values))
    try:
        return sorted(distinct)
    except TypeError:
        return distinct
