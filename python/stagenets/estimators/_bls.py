"""Broad learning systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from stagenets import _core
from stagenets.estimators._attributes import FeatureAttributes
from stagenets.estimators._classifier import NetworkClassifier
from stagenets.estimators._documentation import documented
from stagenets.estimators._network import StagewiseNetwork
from stagenets.estimators._regressor import NetworkRegressor
from stagenets.fitting._parameters import (
    ACTIVATIONS,
    ROWLESS_FAMILIES,
    check_choice,
    check_count,
    check_flag,
)
from stagenets.fitting._progress import StageInfo


class BroadNetwork(FeatureAttributes, StagewiseNetwork):
    """Feature nodes that read the inputs, and enhancement nodes that read the feature nodes."""

    _size_name = "n_enhancement"
    _links_inputs = False
    _n_layers = 2
    _alphas: ClassVar[dict[str, tuple[float, float, float]]] = {
        "squared": (0.01, 1.0, 100.0),
        "log": (0.3, 3.0, 30.0),
    }
    # Weights may be refined or made orthonormal: a middle at a training value would be lost.
    _weight_families = ROWLESS_FAMILIES

    def __init__(
        self,
        *,
        n_windows: int = 10,
        n_feature_nodes: int = 10,
        n_enhancement: int = 100,
        loss: str = "squared",
        alpha: float | str = "auto",
        selection: str = "joint",
        pool_size: int | str = "auto",
        block_size: int | str = "auto",
        score_fraction: float | str = "auto",
        feature_activation: str = "sigmoid",
        enhancement_activation: str = "tanh",
        sparse_features: bool = False,
        weight_init: Any = "sparse",
        weight_scale: float = 1.0,
        fan_in: int = 6,
        categorical_features: Any = "from_dtype",
        max_categories: int = 255,
        standardize: bool | str = "robust",
        extrapolate: bool = False,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 0.0,
        early_stopping: bool | str = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        intervals: str | None = None,
        unlabeled: Any = None,
        manifold: float = 0.0,
        n_neighbors: int = 7,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[StageInfo], object] | None = None,
    ) -> None:
        self.n_windows = n_windows
        self.n_feature_nodes = n_feature_nodes
        self.n_enhancement = n_enhancement
        self.loss = loss
        self.alpha = alpha
        self.selection = selection
        self.pool_size = pool_size
        self.block_size = block_size
        self.score_fraction = score_fraction
        self.feature_activation = feature_activation
        self.enhancement_activation = enhancement_activation
        self.sparse_features = sparse_features
        self.weight_init = weight_init
        self.weight_scale = weight_scale
        self.fan_in = fan_in
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.standardize = standardize
        self.extrapolate = extrapolate
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.intervals = intervals
        self.unlabeled = unlabeled
        self.manifold = manifold
        self.n_neighbors = n_neighbors
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _architecture(self, shape: tuple[int, int]) -> _core.Architecture:
        return _core.BroadArchitecture(
            n_windows=check_count("n_windows", self.n_windows),
            n_feature_nodes=check_count("n_feature_nodes", self.n_feature_nodes),
            n_enhancement=check_count("n_enhancement", self.n_enhancement, minimum=0),
            feature_activation=check_choice(
                "feature_activation", self.feature_activation, ACTIVATIONS
            ),
            enhancement_activation=check_choice(
                "enhancement_activation", self.enhancement_activation, ACTIVATIONS
            ),
            sparse_features=check_flag("sparse_features", self.sparse_features),
        )

    def _most_stages(self, units: int) -> int:
        if self._is_one_shot:
            return 1
        enhancement = units - self.n_windows * self.n_feature_nodes
        features = self.n_windows * super()._most_stages(self.n_feature_nodes)
        return features + super()._most_stages(enhancement)


@documented
class BLSClassifier(NetworkClassifier, BroadNetwork):
    """Broad learning system classifier with residual-guided nodes.

    Windows of feature nodes map the inputs, enhancement nodes map the feature nodes, and both feed
    the readout. Feature nodes are chosen window by window, followed by enhancement nodes that read
    the feature nodes kept; each stage draws a pool of candidates, keeps those that lower the ridge
    objective most, and refits the readout in closed form.

    Parameters
    ----------
    {nodes}
    {shared}
    {class_weight}

    Attributes
    ----------
    {classes}
    readout_ : ndarray of shape (n_classes, n_hidden_)
        Readout weights of the feature nodes, then of the enhancement nodes.
    readout_intercept_ : ndarray of shape (n_classes,)
        Intercept of the readout.
    {maps}
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from stagenets import BLSClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BLSClassifier(n_windows=3, n_enhancement=20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True
    """


@documented
class BLSRegressor(NetworkRegressor, BroadNetwork):
    """Broad learning system regressor with residual-guided nodes.

    Windows of feature nodes map the inputs, enhancement nodes map the feature nodes, and both feed
    the readout. Feature nodes are chosen window by window, followed by enhancement nodes that read
    the feature nodes kept; each stage draws a pool of candidates, keeps those that lower the ridge
    objective most, and refits the readout in closed form. Targets are scaled internally.

    Parameters
    ----------
    {nodes}
    {shared}

    Attributes
    ----------
    readout_ : ndarray of shape (n_hidden_,) or (n_targets, n_hidden_)
        Readout weights of the feature nodes, then of the enhancement nodes.
    readout_intercept_ : float or ndarray of shape (n_targets,)
        Intercept of the readout, including the mean of the targets.
    {maps}
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from stagenets import BLSRegressor
    >>> X, y = make_friedman1(500, random_state=0)
    >>> model = BLSRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7)
    True
    """
