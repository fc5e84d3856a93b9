"""The six estimators that choose their own parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from residuum._bls import BLSClassifier, BLSRegressor
from residuum._documentation import documented
from residuum._elm import ELMClassifier, ELMRegressor
from residuum._network import automatic_units
from residuum._rvfl import RVFLClassifier, RVFLRegressor
from residuum._search_estimators import (
    ClassifierSearch,
    NetworkSearch,
    RegressorSearch,
    sizes_to_try,
)
from residuum._validation import check_count

_ALPHAS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)


class AffineSearch(NetworkSearch):
    """Search among RVFL or ELM networks."""

    _size_name = "n_hidden"
    _lists: ClassVar[dict[str, str]] = {
        "alphas": "alpha",
        "activations": "activation",
        "selections": "selection",
        "pool_sizes": "pool_size",
        "block_sizes": "block_size",
    }

    def __init__(
        self,
        *,
        alphas: Sequence[float] = _ALPHAS,
        n_hidden: Sequence[int] | str = "path",
        max_hidden: int | str = "auto",
        activations: Sequence[str] = ("sigmoid",),
        selections: Sequence[str] = ("residual",),
        pool_sizes: Sequence[int] = (100,),
        block_sizes: Sequence[int] = (1,),
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        max_memory: float | str = "2GB",
        score_fraction: float = 1.0,
        weight_init: Any = "sparse",
        weight_scale: float = 1.0,
        fan_in: int = 6,
        standardize: bool = True,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alphas = alphas
        self.n_hidden = n_hidden
        self.max_hidden = max_hidden
        self.activations = activations
        self.selections = selections
        self.pool_sizes = pool_sizes
        self.block_sizes = block_sizes
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.max_memory = max_memory
        self.score_fraction = score_fraction
        self.weight_init = weight_init
        self.weight_scale = weight_scale
        self.fan_in = fan_in
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _sizes(self, shape: tuple[int, int]) -> list[int]:
        auto = isinstance(self.max_hidden, str) and self.max_hidden == "auto"
        most = automatic_units(shape[0]) if auto else check_count("max_hidden", self.max_hidden)
        return sizes_to_try("n_hidden", self.n_hidden, most)


class BroadSearch(NetworkSearch):
    """Search among broad learning systems."""

    _size_name = "n_enhancement"
    _lists: ClassVar[dict[str, str]] = {
        "alphas": "alpha",
        "n_windows": "n_windows",
        "n_feature_nodes": "n_feature_nodes",
        "activations": "enhancement_activation",
        "selections": "selection",
        "pool_sizes": "pool_size",
        "block_sizes": "block_size",
    }

    def __init__(
        self,
        *,
        alphas: Sequence[float] = _ALPHAS,
        n_windows: Sequence[int] = (10,),
        n_feature_nodes: Sequence[int] = (10,),
        n_enhancement: Sequence[int] | str = "path",
        max_enhancement: int = 100,
        activations: Sequence[str] = ("tanh",),
        selections: Sequence[str] = ("residual",),
        pool_sizes: Sequence[int] = (100,),
        block_sizes: Sequence[int] = (1,),
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        max_memory: float | str = "2GB",
        score_fraction: float = 1.0,
        feature_activation: str = "identity",
        sparse_features: bool = True,
        weight_init: Any = "uniform",
        weight_scale: float = 1.0,
        fan_in: int = 6,
        standardize: bool = True,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alphas = alphas
        self.n_windows = n_windows
        self.n_feature_nodes = n_feature_nodes
        self.n_enhancement = n_enhancement
        self.max_enhancement = max_enhancement
        self.activations = activations
        self.selections = selections
        self.pool_sizes = pool_sizes
        self.block_sizes = block_sizes
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.max_memory = max_memory
        self.score_fraction = score_fraction
        self.feature_activation = feature_activation
        self.sparse_features = sparse_features
        self.weight_init = weight_init
        self.weight_scale = weight_scale
        self.fan_in = fan_in
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _sizes(self, shape: tuple[int, int]) -> list[int]:
        most = check_count("max_enhancement", self.max_enhancement)
        return sizes_to_try("n_enhancement", self.n_enhancement, most)


@documented
class RVFLClassifierCV(ClassifierSearch, AffineSearch):
    """Random vector functional link network classifier tuned by cross-validation.

    One fit to the largest size holds every smaller network, and networks that differ in penalty,
    block size or selection share every pool of candidates: the search finds what a
    `sklearn.model_selection.GridSearchCV` over `RVFLClassifier` finds, in a fraction of the time.

    Parameters
    ----------
    {search_units}
    {search}

    Attributes
    ----------
    {found}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from residuum import RVFLClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RVFLClassifierCV(max_hidden=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.9)
    True
    >>> sorted(search.best_params_)  # doctest: +ELLIPSIS
    [...'alpha', ...]
    """

    _estimator = RVFLClassifier


@documented
class RVFLRegressorCV(RegressorSearch, AffineSearch):
    """Random vector functional link network regressor tuned by cross-validation.

    One fit to the largest size holds every smaller network, and networks that differ in penalty,
    block size or selection share every pool of candidates: the search finds what a
    `sklearn.model_selection.GridSearchCV` over `RVFLRegressor` finds, in a fraction of the time.

    Parameters
    ----------
    {search_units}
    {search}

    Attributes
    ----------
    {found}

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from residuum import RVFLRegressorCV
    >>> X, y = make_friedman1(300, random_state=0)
    >>> search = RVFLRegressorCV(max_hidden=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.6)
    True
    >>> sorted(search.best_params_)  # doctest: +ELLIPSIS
    [...'alpha', ...]
    """

    _estimator = RVFLRegressor


@documented
class ELMClassifierCV(ClassifierSearch, AffineSearch):
    """Extreme learning machine classifier tuned by cross-validation.

    One fit to the largest size holds every smaller network, and networks that differ in penalty,
    block size or selection share every pool of candidates: the search finds what a
    `sklearn.model_selection.GridSearchCV` over `ELMClassifier` finds, in a fraction of the time.

    Parameters
    ----------
    {search_units}
    {search}

    Attributes
    ----------
    {found}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from residuum import ELMClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = ELMClassifierCV(max_hidden=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.9)
    True
    >>> sorted(search.best_params_)  # doctest: +ELLIPSIS
    [...'alpha', ...]
    """

    _estimator = ELMClassifier


@documented
class ELMRegressorCV(RegressorSearch, AffineSearch):
    """Extreme learning machine regressor tuned by cross-validation.

    One fit to the largest size holds every smaller network, and networks that differ in penalty,
    block size or selection share every pool of candidates: the search finds what a
    `sklearn.model_selection.GridSearchCV` over `ELMRegressor` finds, in a fraction of the time.

    Parameters
    ----------
    {search_units}
    {search}

    Attributes
    ----------
    {found}

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from residuum import ELMRegressorCV
    >>> X, y = make_friedman1(300, random_state=0)
    >>> search = ELMRegressorCV(max_hidden=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.6)
    True
    >>> sorted(search.best_params_)  # doctest: +ELLIPSIS
    [...'alpha', ...]
    """

    _estimator = ELMRegressor


@documented
class BLSClassifierCV(ClassifierSearch, BroadSearch):
    """Broad learning system classifier tuned by cross-validation.

    One fit to the largest size holds every smaller network, and networks that differ in penalty,
    block size or selection share every pool of candidates: the search finds what a
    `sklearn.model_selection.GridSearchCV` over `BLSClassifier` finds, in a fraction of the time.

    Parameters
    ----------
    {search_nodes}
    {search}

    Attributes
    ----------
    {found}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from residuum import BLSClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = BLSClassifierCV(n_windows=[2, 4], max_enhancement=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.9)
    True
    >>> sorted(search.best_params_)  # doctest: +ELLIPSIS
    [...'alpha', ...]
    """

    _estimator = BLSClassifier


@documented
class BLSRegressorCV(RegressorSearch, BroadSearch):
    """Broad learning system regressor tuned by cross-validation.

    One fit to the largest size holds every smaller network, and networks that differ in penalty,
    block size or selection share every pool of candidates: the search finds what a
    `sklearn.model_selection.GridSearchCV` over `BLSRegressor` finds, in a fraction of the time.

    Parameters
    ----------
    {search_nodes}
    {search}

    Attributes
    ----------
    {found}

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from residuum import BLSRegressorCV
    >>> X, y = make_friedman1(300, random_state=0)
    >>> search = BLSRegressorCV(n_windows=[2, 4], max_enhancement=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.6)
    True
    >>> sorted(search.best_params_)  # doctest: +ELLIPSIS
    [...'alpha', ...]
    """

    _estimator = BLSRegressor
