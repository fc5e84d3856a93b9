"""The C++ core; see cpp/bindings."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Floats = TypeVar("_Floats", NDArray[np.float64], NDArray[np.float32], NDArray[np.floating[Any]])
_Matrix = NDArray[np.float64]
_StageCallback = Callable[[int, int, float, float, float], bool]

class NetworkSettings:
    size: int
    intercept: bool
    standardize: bool
    threads: int
    def __init__(self) -> None: ...
    def set_architecture(self, name: str, /) -> None: ...
    def set_activation(self, name: str, /) -> None: ...
    def set_draws(self, weight_init: Any, scale: float, fan_in: int, seed: int, /) -> None: ...
    def set_units(self, units: int, pool: int, block: int, one_shot: bool, /) -> None: ...
    def set_broad_units(
        self,
        windows: int,
        window_nodes: int,
        enhancement: int,
        feature_activation: str,
        enhancement_activation: str,
        sparse_features: bool,
        pool: int,
        block: int,
        one_shot: bool,
        /,
    ) -> None: ...
    def set_selection(self, selection: str, score_fraction: float, /) -> None: ...
    def set_evidence(
        self,
        classification: bool,
        leave_one_out: bool,
        loo_scores: bool,
        stop_by: str,
        patience: int,
        validation_rows: list[int],
        /,
    ) -> None: ...
    def set_ridge(self, alpha: float, solver: str, tol: float, /) -> None: ...

class Network:
    def __init__(
        self,
        *,
        hidden_weights: _Matrix,
        hidden_biases: _Matrix,
        activation: str,
        direct_links: bool,
        features: tuple[_Matrix, _Matrix, _Matrix, _Matrix, str] | None,
    ) -> None: ...
    def evaluate(self, x: _Floats, readout: _Matrix, threads: int) -> _Floats: ...
    def transform(self, x: _Floats, threads: int) -> _Floats: ...

def fit_network(
    x: NDArray[np.floating[Any]],
    targets: _Matrix,
    labels: NDArray[np.int64] | None,
    root_weights: _Matrix | None,
    settings: NetworkSettings,
    callback: _StageCallback | None,
) -> dict[str, Any]: ...
def fit_given_units(
    candidates: Callable[[int, int], Any],
    targets: _Matrix,
    inputs: _Matrix,
    *,
    n_hidden: int,
    alpha: float,
    pool_size: int,
    block_size: int,
    selection: str,
    score_fraction: float,
    intercept: bool,
    solver: str,
    tol: float,
    threads: int,
) -> dict[str, Any]: ...
def search_networks(
    x: NDArray[np.floating[Any]],
    targets: _Matrix,
    *,
    families: list[list[NetworkSettings]],
    sizes: list[int],
    splits: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
    classification: bool,
    keep_scores: bool,
    temperatures: bool,
    max_memory: float,
    threads: int,
    progress: Callable[[int, int], None] | None,
) -> dict[str, Any]: ...
def draw_candidates(
    seed: int,
    stage: int,
    pool_size: int,
    n_features: int,
    *,
    weight_init: Any,
    weight_scale: float,
    fan_in: int,
) -> tuple[_Matrix, _Matrix]: ...
def activate(values: _Floats, name: str) -> _Floats: ...
def blas_signature_fits(signature: str, integers: int) -> bool: ...
def default_threads() -> int: ...
def kernel_name() -> str: ...
