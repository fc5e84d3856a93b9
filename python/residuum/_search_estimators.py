"""What the estimators that search share: grid in, best network out."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from residuum._classifier import classes_and_labels, one_hot
from residuum._html import SummaryHTML
from residuum._network import FLOAT_TYPES, FloatArray, StagewiseNetwork
from residuum._progress import search_progress
from residuum._rvfl import RVFLClassifier, RVFLRegressor
from residuum._search import HeldOutScores, SearchTask, as_splits
from residuum._validation import check_count, check_flag, seed_of

_UNITS = {"KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


class _Predicted:
    """Makes an estimator stand for a fitted one whose scores of the rows in question are known."""

    _held_out: FloatArray

    def _scores(self, X: Any) -> FloatArray:
        return self._held_out


class _PredictedClassifier(_Predicted, RVFLClassifier):
    pass


class _PredictedRegressor(_Predicted, RVFLRegressor):
    pass


class NetworkSearch(
    SummaryHTML,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """Searches the grid of an estimator by cross-validation; classifiers and regressors add y."""

    _estimator: ClassVar[type[StagewiseNetwork]]
    _size_name: ClassVar[str]
    # Grid parameters that have a name of their own here, and what they are called in the estimator.
    _lists: ClassVar[dict[str, str]]

    cv: Any
    scoring: Any
    refit: bool
    max_memory: float | str
    random_state: Any
    verbose: int

    @abstractmethod
    def _sizes(self, shape: tuple[int, int]) -> list[int]:
        """Sizes to try, for data of this shape."""

    def _model(self, seed: int) -> StagewiseNetwork:
        """The estimator with the parameters that are not searched."""
        names = set(self._estimator._get_param_names()) & set(self._get_param_names())
        own = {name: getattr(self, name) for name in names - set(self._lists)}
        return self._estimator(**{**own, "random_state": seed, "verbose": 0})

    def _grid(self, shape: tuple[int, int]) -> dict[str, list[Any]]:
        grid = {}
        for name, target in self._lists.items():
            values = getattr(self, name)
            listed = [] if isinstance(values, str) or not np.iterable(values) else list(values)
            if not listed:
                raise ValueError(f"{name} must be a non-empty list of values; got {values!r}")
            grid[target] = [
                value.item() if isinstance(value, np.generic) else value for value in listed
            ]
        return {**grid, self._size_name: self._sizes(shape)}

    def _search(
        self,
        X: FloatArray,
        y: NDArray[Any],
        targets: NDArray[np.float64],
        predicted: StagewiseNetwork,
    ) -> StagewiseNetwork:
        """Fill in what was found; returns the best network, not fitted."""
        for name in ("best_estimator_", "n_hidden_", "alpha_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        check_flag("refit", self.refit)
        classification = isinstance(self, ClassifierMixin)
        splitter = check_cv(self.cv, y, classifier=classification)
        splits = as_splits(splitter.split(X, y), len(X))
        model = self._model(seed_of(self.random_state))
        self.scorer_ = self._checked_scorer(model)
        with search_progress(type(self).__name__, self.verbose) as progress:
            task = SearchTask(
                model,
                self._grid(X.shape),
                self._size_name,
                splits,
                _bytes("max_memory", self.max_memory),
                progress,
            )
            own_measure = _is_default(self.scoring, classification)
            quality = task.run(
                X,
                targets,
                classification=classification,
                judge=None if own_measure else _judge_by(self.scorer_, predicted, X, y),
                temperatures=classification
                and not own_measure
                and _needs_probabilities(self.scorer_),
            )
        self.n_splits_ = len(splits)
        self.cv_results_ = _results(task.candidates, quality)
        self.best_index_ = int(np.argmin(self.cv_results_["rank_test_score"]))
        self.best_params_ = task.candidates[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        model.set_params(**self.best_params_)
        return model

    def _checked_scorer(self, model: StagewiseNetwork) -> Callable[..., float]:
        if self.scoring is not None and not isinstance(self.scoring, str):
            if not callable(self.scoring):
                raise ValueError(
                    "scoring must be None, the name of a scorer or a callable "
                    f"(estimator, X, y) -> float; got {self.scoring!r}"
                )
        elif isinstance(self.scoring, str) and self.scoring not in get_scorer_names():
            raise ValueError(
                f"scoring must be one of sklearn.metrics.get_scorer_names(); got {self.scoring!r}"
            )
        scorer: Callable[..., float] = check_scoring(model, scoring=self.scoring)
        return scorer

    def _refit(self, model: StagewiseNetwork, X: Any, y: Any) -> None:
        if self.refit:
            self.best_estimator_ = model.fit(X, y)
            self.n_hidden_ = model.n_hidden_
            self.alpha_ = model.alpha

    def _best(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"{type(self).__name__} was fitted with refit=False and has no network to predict "
                "with; refit=True fits best_params_ on all samples"
            )
        return self.best_estimator_

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the best network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return np.asarray(self._best().predict(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predictions of the best network before its first unit and after each stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        yield from self._best().staged_predict(X)

    def transform(self, X: Any) -> Any:
        """Activations of the best network's hidden units.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_hidden_)
        """
        return self._best().transform(X)

    @property
    def _n_features_out(self) -> int:
        return int(self._best().n_hidden_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def score(self, X: Any, y: Any) -> float:
        """Score of the best network, by `scoring`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)

        Returns
        -------
        float
        """
        return float(self.scorer_(self._best(), X, y))

    def save(self, path: Any) -> None:
        """Write the best network to a file that `residuum.load` reads.

        Parameters
        ----------
        path : str or path-like
        """
        self._best().save(path)


class ClassifierSearch(ClassifierMixin, NetworkSearch):
    """Search among classifiers."""

    def fit(self, X: Any, y: Any) -> ClassifierSearch:
        """Try the grid by cross-validation and fit the best network on all samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs. float32 is computed in float32, everything else in float64.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self
        """
        X_array, y = validate_data(self, X, y, dtype=FLOAT_TYPES)
        predicted = _PredictedClassifier()
        predicted.classes_, labels = classes_and_labels(y)
        model = self._search(X_array, y, one_hot(labels), predicted)
        self.classes_ = predicted.classes_
        self._refit(model, X, y)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the best network; with two classes, those of the second minus the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return np.asarray(self._best().decision_function(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities of the best network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.asarray(self._best().predict_proba(X))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of the class probabilities of the best network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.asarray(self._best().predict_log_proba(X))


class RegressorSearch(RegressorMixin, NetworkSearch):
    """Search among regressors."""

    def fit(self, X: Any, y: Any) -> RegressorSearch:
        """Try the grid by cross-validation and fit the best network on all samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs. float32 is computed in float32, everything else in float64.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.

        Returns
        -------
        self
        """
        X_array, y_array = validate_data(
            self, X, y, dtype=FLOAT_TYPES, multi_output=True, y_numeric=True
        )
        y_array = np.asarray(y_array, dtype=np.float64)
        predicted = _PredictedRegressor()
        predicted.coef_ = np.empty((0,) * y_array.ndim)
        model = self._search(X_array, y_array, y_array.reshape(len(y_array), -1), predicted)
        self._refit(model, X, y)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def sizes_to_try(name: str, values: Any, most: int) -> list[int]:
    """A list of sizes, or with "path" all up to `most`."""
    if isinstance(values, str):
        if values != "path":
            raise ValueError(f'{name} must be a list of sizes or "path"; got {values!r}')
        return list(range(1, most + 1))
    sizes = list(values) if np.iterable(values) else []
    if not sizes:
        raise ValueError(f'{name} must be a non-empty list of sizes or "path"; got {values!r}')
    return [check_count(name, size, minimum=int(name == "n_hidden")) for size in sizes]


def _bytes(name: str, value: Any) -> float:
    """A number of bytes, or text such as "2GB"."""
    accepted = 'a positive number of bytes or text such as "500MB" or "2GiB"'
    number: Any = value
    if isinstance(value, str):
        for unit, size in _UNITS.items():
            if value.strip().endswith(unit):
                try:
                    number = float(value.strip()[: -len(unit)]) * size
                except ValueError:
                    pass
                break
    if isinstance(number, bool) or not isinstance(number, Real) or not float(number) > 0:
        raise ValueError(f"{name} must be {accepted}; got {value!r}")
    return float(number)


def _is_default(scoring: Any, classification: bool) -> bool:
    return scoring is None or scoring == ("accuracy" if classification else "r2")


def _needs_probabilities(scorer: Any) -> bool:
    """Whether a scorer may ask for probabilities: so it is with those that do not say."""
    method = getattr(scorer, "_response_method", "predict_proba")
    first = method if isinstance(method, str) else next(iter(method))
    return bool(first == "predict_proba")


def _judge_by(
    scorer: Callable[..., float], predicted: StagewiseNetwork, X: FloatArray, y: NDArray[Any]
) -> Callable[[HeldOutScores, NDArray[np.int64]], float]:
    def judge(held_out: HeldOutScores, rows: NDArray[np.int64]) -> float:
        predicted._held_out = held_out.scores
        predicted.temperature_ = held_out.temperature
        return float(scorer(predicted, X[rows], y[rows]))

    return judge


def _results(candidates: list[dict[str, Any]], quality: NDArray[np.float64]) -> dict[str, Any]:
    """The table that GridSearchCV makes, but for its times: fits are not done one by one."""
    results: dict[str, Any] = {}
    for name in candidates[0]:
        values = [params[name] for params in candidates]
        words = any(isinstance(value, str) for value in values)
        results[f"param_{name}"] = MaskedArray(values, mask=False, dtype=object if words else None)
    results["params"] = candidates
    for split, column in enumerate(quality.T):
        results[f"split{split}_test_score"] = column
    results["mean_test_score"] = means = quality.mean(axis=1)
    results["std_test_score"] = quality.std(axis=1)
    worst_last = np.nan_to_num(means, nan=np.nanmin(means) - 1 if np.isfinite(means).any() else 0.0)
    results["rank_test_score"] = rankdata(-worst_last, method="min").astype(np.int32)
    return results
