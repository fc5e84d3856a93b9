"""The base of the estimators that search: a grid goes in, the best network comes out."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn import get_config
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
    is_classifier,
)
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from stagenets import _core
from stagenets.estimators._network import StagewiseNetwork
from stagenets.fitting._fitted_network import FloatArray
from stagenets.fitting._labels import CodedLabels, dense_labels
from stagenets.fitting._parameters import check_count, check_flag, refusal, seed_of
from stagenets.fitting._progress import search_progress
from stagenets.fitting._rows import Rows, checked_rows
from stagenets.fitting._unchanged import unchanged_on_failure
from stagenets.fitting._weights import Weights, checked_weights, counted
from stagenets.inspection._html import SummaryHTML
from stagenets.search._choice import cautious_choice
from stagenets.search._path_search import PathSearch
from stagenets.search._scoring import checked_scorer
from stagenets.search._splits import splits_of_rows, splitter_for
from stagenets.search._trials import Trials

_BYTES_PER_SIZE = 500  # of a candidate of this size: its parameters and its place in the results
_BYTES = {"KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


class NetworkSearch(
    SummaryHTML,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """Searches the grid of an estimator by cross-validation; classifiers and regressors add y."""

    _estimator: ClassVar[type[StagewiseNetwork]]
    # Parameters that list values to try, and the name of each in the estimator.
    _lists: ClassVar[dict[str, str]]
    # Defaults of the class in place of those that its architecture's __init__ shows.
    _defaults: ClassVar[dict[str, Any]] = {}

    # Parameters, with their defaults, that the architecture's __init__ does not have.
    _more_parameters: ClassVar[dict[str, Any]] = {}

    # Groups are for the splitter, which is asked whether it wants them.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": UNUSED}

    cv: Any
    scoring: Any
    refit: bool
    prefer_default: bool
    max_memory: float | str
    categorical_features: Any
    random_state: Any
    verbose: int

    @abstractmethod
    def _sizes(self, shape: tuple[int, int]) -> list[int]:
        """Sizes to try, for data of this shape."""

    @abstractmethod
    def _default_size(self, shape: tuple[int, int]) -> int:
        """Size of the default network for data of this shape."""

    def _default_network(self, shape: tuple[int, int]) -> dict[str, Any]:
        """What the estimator would be without a search, in the parameters that are searched."""
        own = self._estimator().get_params()
        own["alpha"] = self._estimator._alphas_for(own["loss"])[1]
        settings = {target: own[target] for target in self._lists.values()}
        return {**settings, self._estimator._size_name: self._default_size(shape)}

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
                raise refusal(name, values, "a non-empty list of values")
            grid[target] = [
                value.item() if isinstance(value, np.generic) else value for value in listed
            ]
        return {**grid, self._estimator._size_name: self._sizes(shape)}

    def _search(
        self,
        rows: Rows,
        y: NDArray[Any],
        weights: Weights | None,
        metadata: dict[str, Any],
    ) -> StagewiseNetwork:
        """Set the attributes of the search; returns the best network, not fitted."""
        for name in ("best_estimator_", "n_hidden_", "alpha_"):  # from an earlier fit
            self.__dict__.pop(name, None)
        check_flag("refit", self.refit)
        check_flag("prefer_default", self.prefer_default)
        seed = seed_of(self.random_state)
        model = self._model(seed)
        self.scorer_ = scorer = checked_scorer(self.scoring, model)
        split_params, weighs = self._routed(weights, metadata)
        classification = is_classifier(self)
        splitter = splitter_for(self.cv, y, classification=classification, seed=seed)
        some = np.ones(len(rows), dtype=bool) if weights is None else weights > 0
        splits = splits_of_rows(self.cv, splitter, rows.values, y, some, split_params)
        if not some.all():
            rows, y, weights = rows[some], y[some], weights[some]  # type: ignore[index]
        classes = self._classes(y)
        with search_progress(type(self).__name__, self.verbose) as progress:
            shape = counted(weights, len(rows)), rows.shape[1]
            grid = self._grid(shape)
            memory = _bytes("max_memory", self.max_memory)
            search = PathSearch(model, grid, splits, memory, progress)
            quality = Trials(search, classes, self.scoring, scorer, weighs).run(rows, y, weights)
        self.n_splits_ = len(splits)
        self.cv_results_ = _results(search.candidates, quality)
        best = int(np.argmin(self.cv_results_["rank_test_score"]))
        if self.prefer_default:
            default = self._default_network(shape)
            size = self._estimator._size_name
            best = cautious_choice(search.candidates, quality, best, default, size)
        self.best_index_ = best
        self.best_params_ = search.candidates[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        model.set_params(**self.best_params_)
        return model

    @abstractmethod
    def _classes(self, y: NDArray[Any]) -> NDArray[Any] | None:
        """The classes, if y has some."""

    def _routed(
        self, weights: Weights | None, metadata: dict[str, Any]
    ) -> tuple[dict[str, Any], bool]:
        """Arguments of the splitter besides X and y, and whether the scorer is to get weights.

        Without metadata routing these are the groups, and it is.
        """
        if get_config()["enable_metadata_routing"]:
            given = {**metadata, "sample_weight": weights}
            given = {name: value for name, value in given.items() if value is not None}
            routed = process_routing(self, "fit", **given)
            weighs = "sample_weight" in routed.scorer.score if self._scorer_requests else True
            return dict(routed.splitter.split), weighs
        groups = metadata.pop("groups", None)
        if metadata:
            raise TypeError(
                f"{type(self).__name__}.fit() got unexpected arguments {sorted(metadata)}; to pass "
                "them on, call sklearn.set_config(enable_metadata_routing=True) first"
            )
        return {"groups": groups}, True

    @property
    def _scorer_requests(self) -> bool:
        return hasattr(self.scoring, "get_metadata_routing")

    def get_metadata_routing(self) -> MetadataRouter:
        """Routing of metadata passed to `fit`: splitter and scorer get what they request.

        A scorer given by its name, or none, counts samples by their weights.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        splitter = self.cv if hasattr(self.cv, "get_metadata_routing") else None
        splits = MethodMapping().add(caller="fit", callee="split")
        router.add(splitter=splitter, method_mapping=splits)
        if self._scorer_requests:
            scores = MethodMapping().add(caller="fit", callee="score")
            router.add(scorer=self.scoring, method_mapping=scores)
        return router

    def _refit(self, model: StagewiseNetwork, X: Any, y: Any, weights: Weights | None) -> None:
        if self.refit:
            self.best_estimator_ = model.fit(X, y, sample_weight=weights)
            self.n_hidden_ = model.n_hidden_
            self.alpha_ = model.alpha

    def _best(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"{type(self).__name__} was fitted with refit=False and has no network to predict "
                "with; use refit=True to fit best_params_ on all samples"
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
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score of the best network according to `scoring`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        float
        """
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.scorer_(self._best(), X, y, **weighted))

    def save(self, path: Any) -> None:
        """Write the best network to a file that `stagenets.load` reads.

        Parameters
        ----------
        path : str or path-like
        """
        self._best().save(path)


class ClassifierSearch(ClassifierMixin, NetworkSearch):
    """Search over classifiers."""

    _defaults: ClassVar[dict[str, Any]] = {"losses": ("log",)}
    _more_parameters: ClassVar[dict[str, Any]] = {"class_weight": None}

    class_weight: Mapping[Any, float] | str | None

    if TYPE_CHECKING:  # `documented` adds the parameter to those of the architecture

        def __init__(
            self, *, class_weight: Mapping[Any, float] | str | None = None, **parameters: Any
        ) -> None: ...

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **params: Any
    ) -> ClassifierSearch:
        """Try the grid by cross-validation and fit the best network on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training inputs, NaN where they are missing; sparse ones must be complete and are not
            filled in, here and in predictions. Computations are in float32 for float32 inputs,
            otherwise in float64.
        y : array-like of shape (n_samples,), or array-like or sparse matrix of shape \
(n_samples, n_labels)
            Classes; or, for samples with several labels, zeros and ones that say which they have.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, in fits and in scores. A sample of weight 3 counts as three
            equal samples, and one of weight 0 is left out. A scorer that does not take weights, or
            that does not request them with metadata routing on, counts all samples the same.
        groups : array-like of shape (n_samples,), optional
            Groups of samples, for splitters such as GroupKFold.
        **params : dict
            Metadata for splitter and scorer, with scikit-learn's metadata routing switched on.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            rows, y = checked_rows(self, X, y, multi_output=True)
            y = dense_labels(y)
            weights = checked_weights(sample_weight, len(rows))
            model = self._search(rows, y, weights, {**params, "groups": groups})
            self._refit(model, X, y, weights)
        return self

    def _classes(self, y: NDArray[Any]) -> NDArray[Any]:
        self.classes_ = CodedLabels.of(y).classes
        return self.classes_

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the best network; for two classes, those of the second minus the first.

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class RegressorSearch(RegressorMixin, NetworkSearch):
    """Search over regressors."""

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **params: Any
    ) -> RegressorSearch:
        """Try the grid by cross-validation and fit the best network on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training inputs, NaN where they are missing; sparse ones must be complete and are not
            filled in, here and in predictions. Computations are in float32 for float32 inputs,
            otherwise in float64.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, in fits and in scores. A sample of weight 3 counts as three
            equal samples, and one of weight 0 is left out. A scorer that does not take weights, or
            that does not request them with metadata routing on, counts all samples the same.
        groups : array-like of shape (n_samples,), optional
            Groups of samples, for splitters such as GroupKFold.
        **params : dict
            Metadata for splitter and scorer, with scikit-learn's metadata routing switched on.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            rows, y_array = checked_rows(self, X, y, multi_output=True, y_numeric=True)
            y_array = np.asarray(y_array, dtype=np.float64)
            weights = checked_weights(sample_weight, len(rows))
            model = self._search(rows, y_array, weights, {**params, "groups": groups})
            self._refit(model, X, y, weights)
        return self

    def _classes(self, y: NDArray[Any]) -> None:
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def sizes_to_try(name: str, values: Any, most: int, losses: Any = ()) -> list[int]:
    """A list of sizes; "path" means all up to `most`, fewer where each one takes iterations."""
    if isinstance(values, str):
        if values != "path":
            raise ValueError(f'{name} must be a list of sizes or "path"; got {values!r}')
        if any(loss != "squared" for loss in losses):
            return _growing_sizes(most)
        _core.check_memory("a search", _BYTES_PER_SIZE * float(most))
        return list(range(1, most + 1))
    sizes = list(values) if np.iterable(values) else []
    if not sizes:
        raise ValueError(f'{name} must be a non-empty list of sizes or "path"; got {values!r}')
    return [check_count(name, size, minimum=int(name == "n_hidden")) for size in sizes]


def _growing_sizes(most: int) -> list[int]:
    """Sizes up to `most`, each about 15 % larger than the one before."""
    sizes = [1]
    while sizes[-1] < most:
        sizes.append(min(most, max(sizes[-1] + 1, int(1.15 * sizes[-1]))))
    return sizes


def _bytes(name: str, value: Any) -> float:
    """A number of bytes, or text such as "2GB"."""
    accepted = 'a positive number of bytes or text such as "500MB" or "2GiB"'
    number: Any = value
    if isinstance(value, str):
        for unit, size in _BYTES.items():
            if value.strip().endswith(unit):
                try:
                    number = float(value.strip()[: -len(unit)]) * size
                except ValueError:
                    pass
                break
    if isinstance(number, bool) or not isinstance(number, Real) or not float(number) > 0:
        raise refusal(name, value, accepted)
    return float(number)


def _results(candidates: list[dict[str, Any]], quality: NDArray[np.float64]) -> dict[str, Any]:
    """The table that GridSearchCV makes, without times, as fits are not done one by one."""
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
