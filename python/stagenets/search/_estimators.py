"""The six estimators that choose their parameters by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from stagenets.estimators._affine import automatic_units
from stagenets.estimators._bls import BLSClassifier, BLSRegressor
from stagenets.estimators._documentation import documented
from stagenets.estimators._elm import ELMClassifier, ELMRegressor
from stagenets.estimators._rvfl import RVFLClassifier, RVFLRegressor
from stagenets.fitting._parameters import check_count, check_size
from stagenets.search._network_search import (
    ClassifierSearch,
    NetworkSearch,
    RegressorSearch,
    sizes_to_try,
)

# They contain the defaults of the estimators: a search must not lose to those.
_ALPHAS = (0.001, 0.01, 0.1, 1.0, 3.0, 10.0, 100.0, 1000.0)


class AffineSearch(NetworkSearch):
    """Search over RVFL or ELM networks."""

    _lists: ClassVar[dict[str, str]] = {
        "losses": "loss",
        "alphas": "alpha",
        "activations": "activation",
        "selections": "selection",
        "pool_sizes": "pool_size",
        "block_sizes": "block_size",
        "weight_inits": "weight_init",
        "weight_scales": "weight_scale",
    }

    def __init__(
        self,
        *,
        losses: Sequence[str] = ("squared",),
        alphas: Sequence[float] = _ALPHAS,
        n_hidden: Sequence[int] | str = "path",
        max_hidden: int | str = "auto",
        activations: Sequence[str] = ("sigmoid",),
        selections: Sequence[str] = ("joint",),
        pool_sizes: Sequence[int | str] = ("auto",),
        block_sizes: Sequence[int | str] = ("auto",),
        weight_inits: Sequence[Any] = ("mixed",),
        weight_scales: Sequence[float] = (1.0,),
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        prefer_default: bool = True,
        max_memory: float | str = "2GB",
        score_fraction: float | str = "auto",
        fan_in: int = 6,
        categorical_features: Any = "from_dtype",
        max_categories: int = 255,
        standardize: bool | str = "robust",
        extrapolate: bool = False,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.losses = losses
        self.alphas = alphas
        self.n_hidden = n_hidden
        self.max_hidden = max_hidden
        self.activations = activations
        self.selections = selections
        self.pool_sizes = pool_sizes
        self.block_sizes = block_sizes
        self.weight_inits = weight_inits
        self.weight_scales = weight_scales
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.prefer_default = prefer_default
        self.max_memory = max_memory
        self.score_fraction = score_fraction
        self.fan_in = fan_in
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.standardize = standardize
        self.extrapolate = extrapolate
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _sizes(self, shape: tuple[int, int]) -> list[int]:
        most = check_size("max_hidden", self.max_hidden, automatic=automatic_units(shape[0]))
        return sizes_to_try("n_hidden", self.n_hidden, most, self.losses)

    def _default_size(self, shape: tuple[int, int]) -> int:
        return automatic_units(shape[0])


class BroadSearch(NetworkSearch):
    """Search over broad learning systems."""

    _lists: ClassVar[dict[str, str]] = {
        "losses": "loss",
        "alphas": "alpha",
        "n_windows": "n_windows",
        "n_feature_nodes": "n_feature_nodes",
        "activations": "enhancement_activation",
        "selections": "selection",
        "pool_sizes": "pool_size",
        "block_sizes": "block_size",
        "weight_inits": "weight_init",
        "weight_scales": "weight_scale",
    }

    def __init__(
        self,
        *,
        losses: Sequence[str] = ("squared",),
        alphas: Sequence[float] = _ALPHAS,
        n_windows: Sequence[int] = (10,),
        n_feature_nodes: Sequence[int] = (10,),
        n_enhancement: Sequence[int] | str = "path",
        max_enhancement: int = 100,
        activations: Sequence[str] = ("tanh",),
        selections: Sequence[str] = ("joint",),
        pool_sizes: Sequence[int | str] = ("auto",),
        block_sizes: Sequence[int | str] = ("auto",),
        weight_inits: Sequence[Any] = ("sparse",),
        weight_scales: Sequence[float] = (1.0,),
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        prefer_default: bool = True,
        max_memory: float | str = "2GB",
        score_fraction: float | str = "auto",
        feature_activation: str = "sigmoid",
        sparse_features: bool = False,
        fan_in: int = 6,
        categorical_features: Any = "from_dtype",
        max_categories: int = 255,
        standardize: bool | str = "robust",
        extrapolate: bool = False,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.losses = losses
        self.alphas = alphas
        self.n_windows = n_windows
        self.n_feature_nodes = n_feature_nodes
        self.n_enhancement = n_enhancement
        self.max_enhancement = max_enhancement
        self.activations = activations
        self.selections = selections
        self.pool_sizes = pool_sizes
        self.block_sizes = block_sizes
        self.weight_inits = weight_inits
        self.weight_scales = weight_scales
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.prefer_default = prefer_default
        self.max_memory = max_memory
        self.score_fraction = score_fraction
        self.feature_activation = feature_activation
        self.sparse_features = sparse_features
        self.fan_in = fan_in
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.standardize = standardize
        self.extrapolate = extrapolate
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _sizes(self, shape: tuple[int, int]) -> list[int]:
        most = check_count("max_enhancement", self.max_enhancement)
        return sizes_to_try("n_enhancement", self.n_enhancement, most, self.losses)

    def _default_size(self, shape: tuple[int, int]) -> int:
        return int(self._estimator().get_params()["n_enhancement"])


@documented
class RVFLClassifierCV(ClassifierSearch, AffineSearch):
    """Random vector functional link network classifier tuned by cross-validation.

    {one_pass}

    Parameters
    ----------
    {search_units}
    {search}
    {class_weight}

    Attributes
    ----------
    {found}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from stagenets import RVFLClassifierCV
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

    {one_pass}

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
    >>> from stagenets import RVFLRegressorCV
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

    {one_pass}

    Parameters
    ----------
    {search_units}
    {search}
    {class_weight}

    Attributes
    ----------
    {found}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from stagenets import ELMClassifierCV
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

    {one_pass}

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
    >>> from stagenets import ELMRegressorCV
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

    {one_pass}

    Parameters
    ----------
    {search_nodes}
    {search}
    {class_weight}

    Attributes
    ----------
    {found}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from stagenets import BLSClassifierCV
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

    {one_pass}

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
    >>> from stagenets import BLSRegressorCV
    >>> X, y = make_friedman1(300, random_state=0)
    >>> search = BLSRegressorCV(n_windows=[2, 4], max_enhancement=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.6)
    True
    >>> sorted(search.best_params_)  # doctest: +ELLIPSIS
    [...'alpha', ...]
    """

    _estimator = BLSRegressor
