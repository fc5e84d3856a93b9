"""Broad learning systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from residuum import _core
from residuum._classifier import NetworkClassifier
from residuum._documentation import documented
from residuum._network import StagewiseNetwork
from residuum._progress import StageInfo
from residuum._regressor import NetworkRegressor
from residuum._validation import ACTIVATIONS, check_choice, check_count, check_flag


class BroadNetwork(StagewiseNetwork):
    """Feature nodes of the inputs, and enhancement nodes of the feature nodes."""

    _architecture = "bls"

    def __init__(
        self,
        *,
        n_windows: int = 10,
        n_feature_nodes: int = 10,
        n_enhancement: int = 100,
        alpha: float = 0.01,
        selection: str = "residual",
        pool_size: int = 100,
        block_size: int = 1,
        score_fraction: float = 1.0,
        feature_activation: str = "identity",
        enhancement_activation: str = "tanh",
        sparse_features: bool = True,
        weight_init: Any = "uniform",
        weight_scale: float = 1.0,
        fan_in: int = 6,
        standardize: bool = True,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 0.0,
        early_stopping: bool | str = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[StageInfo], object] | None = None,
    ) -> None:
        self.n_windows = n_windows
        self.n_feature_nodes = n_feature_nodes
        self.n_enhancement = n_enhancement
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
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _set_units(
        self, settings: _core.NetworkSettings, shape: tuple[int, int], pool: int, block: int
    ) -> int:
        windows = check_count("n_windows", self.n_windows)
        nodes = check_count("n_feature_nodes", self.n_feature_nodes)
        enhancement = check_count("n_enhancement", self.n_enhancement, minimum=0)
        settings.set_broad_units(
            windows,
            nodes,
            enhancement,
            check_choice("feature_activation", self.feature_activation, ACTIVATIONS),
            check_choice("enhancement_activation", self.enhancement_activation, ACTIVATIONS),
            check_flag("sparse_features", self.sparse_features),
            pool,
            block,
            self.selection == "random",
        )
        return windows * nodes + enhancement

    def _planned_stages(self, units: int) -> int:
        window = super()._planned_stages(self.n_feature_nodes)
        enhancement = super()._planned_stages(self.n_enhancement)
        return 1 if self.selection == "random" else self.n_windows * window + enhancement

    def _store_units(self, fit: dict[str, Any]) -> None:
        super()._store_units(fit)
        self.feature_weights_ = fit["feature_weights"]
        self.feature_biases_ = fit["feature_biases"]
        self.feature_scales_ = fit["feature_gain"]
        self.feature_offsets_ = fit["feature_shift"]

    def _network(self) -> _core.Network:
        return _core.Network(
            hidden_weights=self.hidden_weights_,
            hidden_biases=self.hidden_biases_,
            activation=self.enhancement_activation,
            direct_links=True,
            features=(
                self.feature_weights_,
                self.feature_biases_,
                self.feature_scales_,
                self.feature_offsets_,
                self.feature_activation,
            ),
        )


@documented
class BLSClassifier(NetworkClassifier, BroadNetwork):
    """Broad learning system classifier with residual-guided nodes.

    Windows of feature nodes map the inputs, enhancement nodes map the feature nodes, and both feed
    the readout. Feature nodes are chosen window by window, then enhancement nodes on the feature
    nodes kept; each stage draws a pool of candidates, keeps those that lower the ridge objective
    most, and refits the readout in closed form.

    Parameters
    ----------
    {nodes}
    {shared}

    Attributes
    ----------
    {classes}
    coef_ : ndarray of shape (n_classes, n_hidden_)
        Readout: feature nodes, then enhancement nodes.
    intercept_ : ndarray of shape (n_classes,)
        Readout of the constant.
    {maps}
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from residuum import BLSClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BLSClassifier(n_windows=3, n_enhancement=20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True
    """


@documented
class BLSRegressor(NetworkRegressor, BroadNetwork):
    """Broad learning system regressor with residual-guided nodes.

    Windows of feature nodes map the inputs, enhancement nodes map the feature nodes, and both feed
    the readout. Feature nodes are chosen window by window, then enhancement nodes on the feature
    nodes kept; each stage draws a pool of candidates, keeps those that lower the ridge objective
    most, and refits the readout in closed form. Targets are centred inside.

    Parameters
    ----------
    {nodes}
    {shared}

    Attributes
    ----------
    coef_ : ndarray of shape (n_hidden_,) or (n_targets, n_hidden_)
        Readout: feature nodes, then enhancement nodes.
    intercept_ : float or ndarray of shape (n_targets,)
        Readout of the constant, plus the targets' mean.
    {maps}
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from residuum import BLSRegressor
    >>> X, y = make_friedman1(500, random_state=0)
    >>> model = BLSRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7)
    True
    """
