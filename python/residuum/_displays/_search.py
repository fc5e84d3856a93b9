"""What a search saw: scores over two parameters, all others at their best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from residuum._displays._common import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Number of units of the networks, in order of preference.
_UNITS = ("n_hidden", "n_enhancement", "n_windows", "n_feature_nodes")


class SearchDisplay:
    """Mean score of a search over two parameters, with all others at their best.

    Make one with `from_estimator`; all parameters are kept as attributes.

    Parameters
    ----------
    scores : ndarray of shape (len(y_values), len(x_values))
        Mean scores; NaN where the search did not look.
    x_values, y_values : list
        Values of the two parameters.
    best : tuple of int
        Column and row of the best model.
    x_name, y_name : str
        Names of the parameters.
    score_name : str, default="mean test score"
        What the scores are called.
    fixed : dict, optional
        The other parameters that were searched, at their best.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure.
    image_ : matplotlib QuadMesh
        The heat map.
    best_ : matplotlib Line2D
        Mark of the best model.
    colorbar_ : matplotlib Colorbar
        Scale of the scores.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from residuum import RVFLClassifier, SearchDisplay
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
        """Draw what a search saw.

        Parameters
        ----------
        search : estimator
            A fitted search: one of the CV estimators, or scikit-learn's GridSearchCV and the like.
        x, y : str, optional
            Parameters of the two axes, without the names of Pipeline steps in front. By default
            units (`n_hidden`, or `n_enhancement` for a BLS) and penalty (`alpha`).
        score : str, default="mean_test_score"
            Column of `cv_results_` to draw.
        score_name : str, optional
            What the scores are called; by default the name of the column.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SearchDisplay
        """
        check_is_fitted(search, ["cv_results_", "best_params_"])
        results, best = search.cv_results_, search.best_params_
        if score not in results:
            means = [name for name in results if name.startswith("mean_")]
            raise ValueError(f"score must be a column of cv_results_, as {means}; got {score!r}")
        x_key, y_key = (
            _searched("x", _UNITS if x is None else (x,), best),
            _searched("y", (y,), best),
        )
        if x_key == y_key:
            raise ValueError(f"x and y must be two parameters; got {x_key!r} twice")
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
        return cls(
            scores=scores,
            x_values=x_values,
            y_values=y_values,
            best=(columns[best[x_key]], rows[best[y_key]]),
            x_name=_short(x_key),
            y_name=_short(y_key),
            score_name=score_name or score.replace("_", " "),
            fixed={_short(name): value for name, value in fixed.items()},
        ).plot(ax)

    def plot(self, ax: Axes | None = None, *, cmap: str = "viridis") -> SearchDisplay:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        cmap : str, default="viridis"
            Colours of the scores.

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


def _short(name: str) -> str:
    """A parameter's name without the Pipeline steps in front."""
    return name.rsplit("__", 1)[-1]


def _label(value: Any) -> str:
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return f"{value:g}" if number else str(value)


def _searched(axis: str, wanted: tuple[str, ...], best: dict[str, Any]) -> str:
    """The first of the wanted parameters that was searched, with its Pipeline steps."""
    for name in wanted:
        for key in best:
            if name in (key, _short(key)):
                return key
    raise ValueError(
        f"{axis} must be a parameter that was searched, {list(best)}; got {' or '.join(wanted)}"
    )


def _in_order(values: list[Any]) -> list[Any]:
    """Distinct values, ascending if they can be compared, else as they came."""
    distinct = list(dict.fromkeys(values))
    try:
        return sorted(distinct)
    except TypeError:
        return distinct
