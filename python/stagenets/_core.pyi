"""The C++ core; see cpp/bindings."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Floats = TypeVar("_Floats", NDArray[np.float64], NDArray[np.float32], NDArray[np.floating[Any]])
_Matrix = NDArray[np.float64]
_Rows = NDArray[np.int64]
_Split = tuple[_Rows, _Rows]
_StageCallback = Callable[[int, int, int, float, float, float], bool]

class Task(Enum):
    ONE_LABEL = ...
    SEVERAL_LABELS = ...
    NUMBERS = ...

class Targets:
    @staticmethod
    def labels(labels: _Rows, n_classes: int) -> Targets: ...
    @staticmethod
    def indicators(values: _Matrix) -> Targets: ...
    @staticmethod
    def numbers(values: _Matrix) -> Targets: ...
    @property
    def task(self) -> Task: ...
    @property
    def values(self) -> _Matrix: ...
    @property
    def deviations(self) -> _Matrix: ...
    def score(self, scores: _Matrix) -> float: ...

class Architecture:
    @property
    def size(self) -> int: ...
    @property
    def max_units(self) -> int: ...

class AffineArchitecture(Architecture):
    def __init__(self, *, n_hidden: int, activation: str, direct_links: bool) -> None: ...

class BroadArchitecture(Architecture):
    def __init__(
        self,
        *,
        n_windows: int,
        n_feature_nodes: int,
        n_enhancement: int,
        feature_activation: str,
        enhancement_activation: str,
        sparse_features: bool,
    ) -> None: ...

class Stopping:
    def __init__(
        self,
        *,
        by: str = ...,
        patience: int = ...,
        validation_rows: _Rows = ...,
    ) -> None: ...
    @property
    def validation_rows(self) -> _Rows: ...

class CrossValidation:
    def __init__(
        self,
        *,
        splits: Sequence[_Split],
        alphas: Sequence[float] = ...,
        sizes: bool,
        block_size: int,
        caution: float = ...,
    ) -> None: ...

class ClassWeights:
    def __init__(self, given: list[float]) -> None: ...
    @staticmethod
    def balanced() -> ClassWeights: ...

class NetworkSettings:
    def __init__(
        self,
        *,
        architecture: Architecture,
        weight_init: Any,
        weight_scale: float,
        fan_in: int,
        seed: int,
        intercept: bool,
        scaling: str,
        extrapolate: bool,
        loss: str,
        alpha: float,
        solver: str,
        tol: float,
        pool_size: int,
        block_size: int,
        selection: str,
        score_fraction: float,
        class_weights: ClassWeights = ...,
        stopping: Stopping = ...,
    ) -> None: ...
    @property
    def seed(self) -> int: ...
    @property
    def max_units(self) -> int: ...

class Layer:
    def __init__(
        self,
        *,
        weights: _Matrix,
        biases: _Matrix,
        activation: str,
        scales: _Matrix | None = ...,
        offsets: _Matrix | None = ...,
        ends: _Rows | None = ...,
    ) -> None: ...
    @property
    def weights(self) -> _Matrix: ...
    @property
    def biases(self) -> _Matrix: ...
    @property
    def activation(self) -> str: ...
    @property
    def scales(self) -> _Matrix | None: ...
    @property
    def offsets(self) -> _Matrix | None: ...
    @property
    def ends(self) -> _Rows | None: ...

class ReadoutPath:
    def __init__(
        self, *, start: _Matrix, directions: _Matrix, steps: _Matrix, ends: Sequence[int]
    ) -> None: ...
    @property
    def start(self) -> _Matrix: ...
    @property
    def directions(self) -> _Matrix: ...
    @property
    def steps(self) -> _Matrix: ...
    @property
    def ends(self) -> _Rows: ...

class Network:
    def __init__(
        self,
        *,
        layers: Sequence[Layer],
        direct_links: bool,
        readout: _Matrix,
        path: ReadoutPath,
        bounds: _Matrix | None = ...,
    ) -> None: ...
    @property
    def layers(self) -> list[Layer]: ...
    @property
    def direct_links(self) -> bool: ...
    @property
    def bounds(self) -> _Matrix | None: ...
    @property
    def n_inputs(self) -> int: ...
    @property
    def n_units(self) -> int: ...
    @property
    def readout(self) -> _Matrix: ...
    @property
    def path(self) -> ReadoutPath: ...
    def scores(self, x: _Floats, threads: int) -> _Floats: ...
    def path_scores(self, x: _Floats, threads: int) -> _Floats: ...
    def activations(self, x: _Floats, threads: int) -> _Floats: ...

class FitHistory:
    @property
    def best_stage(self) -> int: ...
    @property
    def units_path(self) -> _Rows: ...
    @property
    def objective_path(self) -> _Matrix: ...
    @property
    def residual_path(self) -> _Matrix: ...
    @property
    def loo_error_path(self) -> _Matrix: ...
    @property
    def loo_accuracy_path(self) -> _Matrix: ...
    @property
    def validation_path(self) -> _Matrix: ...
    @property
    def unit_scores(self) -> _Matrix: ...
    @property
    def selected(self) -> _Rows: ...
    @property
    def pool_quantiles(self) -> _Matrix: ...

class RowGraph:
    def __init__(self, pairs: NDArray[np.int64], weights: _Matrix) -> None: ...
    def __len__(self) -> int: ...

class KnownStages:
    def __len__(self) -> int: ...

class Fit:
    @property
    def network(self) -> Network: ...
    @property
    def known(self) -> KnownStages: ...
    @property
    def history(self) -> FitHistory: ...
    @property
    def temperatures(self) -> _Matrix: ...
    @property
    def thresholds(self) -> _Matrix: ...
    @property
    def alpha(self) -> float: ...
    @property
    def cv_sizes(self) -> _Rows: ...
    @property
    def cv_path(self) -> _Matrix: ...
    @property
    def profile(self) -> dict[str, float]: ...

class CrossValidated:
    @property
    def alpha(self) -> float: ...
    @property
    def size(self) -> int: ...
    @property
    def sizes(self) -> list[int]: ...
    @property
    def means(self) -> list[float]: ...

class Combine(Enum):
    SUM = ...
    LEAST = ...
    GREATEST = ...
    GATHER = ...
    STOP = ...

class PausedFit:
    def __init__(
        self,
        x: NDArray[np.floating[Any]],
        targets: Targets,
        settings: NetworkSettings,
        *,
        weights: _Matrix | None = None,
        process: int,
        steered: bool = False,
        store: str = "memory",
        threads: int = 1,
    ) -> None: ...
    def start(self) -> None: ...
    def answer(self, values: _Matrix) -> None: ...
    @property
    def question(self) -> tuple[Combine, _Matrix] | None: ...
    @property
    def reports(self) -> list[tuple[int, int, int, float, float, float]]: ...
    @property
    def result(self) -> Fit: ...
    @property
    def bytes(self) -> float: ...

class GivenFit:
    @property
    def hidden(self) -> _Matrix: ...
    @property
    def readout(self) -> _Matrix: ...
    @property
    def history(self) -> FitHistory: ...

def fit(
    x: NDArray[np.floating[Any]],
    targets: Targets,
    settings: NetworkSettings,
    *,
    weights: _Matrix | None = None,
    choice: CrossValidation | None = None,
    threads: int = 1,
    callback: _StageCallback | None = None,
    progress: Callable[[int, int], object] | None = None,
    known: KnownStages | None = None,
    remember: bool = False,
    graph: RowGraph | None = None,
) -> Fit: ...
def cross_validate(
    x: NDArray[np.floating[Any]],
    targets: Targets,
    settings: NetworkSettings,
    choice: CrossValidation,
    *,
    weights: _Matrix | None = None,
    threads: int = 1,
) -> CrossValidated: ...
def fit_given_units(
    candidates: Callable[[int, int], Any],
    targets: _Matrix,
    inputs: _Matrix,
    *,
    weights: _Matrix | None = None,
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
) -> GivenFit: ...
def search_networks(
    x: NDArray[np.floating[Any]],
    targets: Targets,
    *,
    families: list[list[NetworkSettings]],
    sizes: list[int],
    splits: Sequence[_Split],
    weights: _Matrix | None = None,
    judge: Callable[[int, _Matrix, _Matrix], float] | None,
    links: bool,
    max_memory: float,
    threads: int,
    progress: Callable[[int, int], None] | None,
) -> _Matrix: ...
def draw_candidates(
    seed: int,
    stage: int,
    pool_size: int,
    n_features: int,
    *,
    x: _Matrix | None = None,
    weights: _Matrix | None = None,
    weight_init: Any,
    weight_scale: float,
    fan_in: int,
) -> tuple[_Matrix, _Matrix] | tuple[_Matrix, _Matrix, _Rows]: ...
def design_map(
    network: Network,
    x: NDArray[np.floating[Any]],
    settings: NetworkSettings,
    *,
    root_weights: _Matrix | None = None,
    threads: int = 1,
) -> _Matrix: ...
def readout_gram(
    network: Network,
    x: NDArray[np.floating[Any]],
    map: _Matrix,
    targets: _Matrix,
    *,
    root_weights: _Matrix | None = None,
    threads: int = 1,
) -> _Matrix: ...
def solve_gram(
    gram: _Matrix, map: _Matrix, alpha: float, *, threads: int = 1
) -> tuple[_Matrix, _Matrix]: ...
def leverages(
    network: Network, x: NDArray[np.floating[Any]], root: _Matrix, *, threads: int = 1
) -> _Matrix: ...
def input_effects(
    network: Network,
    x: NDArray[np.floating[Any]],
    *,
    ends: Sequence[int] | NDArray[np.int64],
    units: _Matrix,
    threads: int = 1,
) -> _Matrix: ...
def activate(values: _Floats, name: str) -> _Floats: ...
def blas_signature_fits(signature: str, integers: int) -> bool: ...

GROWING: int
ENOUGH_ROWS: float
MANY_ROWS: int

def check_memory(what: str, bytes: float) -> None: ...
def kernel_name() -> str: ...
def available_kernels() -> list[str]: ...
def use_blas_buffers(take: int | None, give_back: int | None) -> None: ...
def call_in_helpers(address: int | None, argument: int) -> None: ...
