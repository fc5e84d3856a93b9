"""Hidden units φ(x·w + β) of the inputs, the common part of RVFL and ELM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stagenets import _core
from stagenets.estimators._network import StagewiseNetwork
from stagenets.fitting._parameters import ACTIVATIONS, check_choice, check_size
from stagenets.fitting._progress import StageInfo


def automatic_units(samples: int) -> int:
    """The default number of hidden units for the given number of samples."""
    return max(50, min(300, samples // 5))


class AffineNetwork(StagewiseNetwork):
    """Hidden units of the inputs; subclasses decide whether the inputs feed the readout as well."""

    _size_name = "n_hidden"
    _n_layers = 1

    def __init__(
        self,
        *,
        n_hidden: int | str = "auto",
        loss: str = "squared",
        alpha: float | str = "auto",
        selection: str = "joint",
        pool_size: int | str = "auto",
        block_size: int | str = "auto",
        score_fraction: float | str = "auto",
        activation: str = "sigmoid",
        weight_init: Any = "mixed",
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
        self.n_hidden = n_hidden
        self.loss = loss
        self.alpha = alpha
        self.selection = selection
        self.pool_size = pool_size
        self.block_size = block_size
        self.score_fraction = score_fraction
        self.activation = activation
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
        return _core.AffineArchitecture(
            n_hidden=check_size("n_hidden", self.n_hidden, automatic=automatic_units(shape[0])),
            activation=check_choice("activation", self.activation, ACTIVATIONS),
            direct_links=self._links_inputs,
        )
