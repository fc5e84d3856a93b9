"""Cross-validation of many networks in one pass of the core: the engine of all searches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid

from stagenets import _core
from stagenets.estimators._network import StagewiseNetwork
from stagenets.fitting._fitted_network import FloatArray
from stagenets.fitting._parameters import contiguous, is_one_shot
from stagenets.fitting._threads import effective_threads, single_threaded_blas
from stagenets.fitting._weights import Weights, counted
from stagenets.search._measures import Judge
from stagenets.search._splits import Split

Params = dict[str, Any]

# Networks that differ only in these draw the same candidates and share their pools.
_PER_NETWORK = ("selection", "block_size", "alpha")
# Parameters that do not apply to one-shot networks.
_OF_STAGES = ("pool_size", "block_size")


@dataclass(frozen=True)
class PathSearch:
    """A grid of networks, in which one parameter is their size, and the splits to try them on."""

    model: StagewiseNetwork
    grid: Mapping[str, Sequence[Any]]
    splits: list[Split]
    max_memory: float
    progress: Callable[[int, int], None] | None = None

    @property
    def candidates(self) -> list[Params]:
        """All points of the grid, in scikit-learn's order."""
        return list(ParameterGrid(self.grid))

    def run(
        self,
        X: FloatArray,
        targets: _core.Targets,
        judge: Judge | None = None,
        *,
        weights: Weights | None = None,
        classes: NDArray[Any] | None = None,
        temperatures: bool = False,
    ) -> NDArray[np.float64]:
        """Quality of every candidate on every split, shape (candidates, splits).

        The quality is what `judge` returns or, without one, accuracy or R², weighted.
        """
        size_name = self.model._size_name
        sizes = sorted(set(self.grid[size_name]))
        shape = counted(weights, X.shape[0]), X.shape[1]
        families = self._families(shape, sizes[-1], classes)
        with single_threaded_blas():
            quality = _core.search_networks(
                contiguous(X),
                targets,
                families=[[settings for _, settings in family] for family in families],
                sizes=sizes,
                splits=self.splits,
                weights=weights,
                judge=judge,
                temperatures=temperatures,
                max_memory=self.max_memory,
                threads=effective_threads(self.model.n_jobs),
                progress=self.progress,
            )
        rows = {
            _key(params): row
            for row, params in enumerate(params for family in families for params, _ in family)
        }
        columns = {size: column for column, size in enumerate(sizes)}
        return np.array(
            [
                quality[rows[_key(self._without_size(params))], :, columns[params[size_name]]]
                for params in self.candidates
            ]
        )

    def _families(
        self, shape: tuple[int, int], largest: int, classes: NDArray[Any] | None
    ) -> list[list[tuple[Params, _core.NetworkSettings]]]:
        size_name = self.model._size_name
        grid = {name: list(values) for name, values in self.grid.items() if name != size_name}
        networks = {_key(net): net for net in map(self._without_size, ParameterGrid(grid))}

        def drawn(params: Params) -> str:
            shared = {name: value for name, value in params.items() if name not in _PER_NETWORK}
            return _key(shared) + str(self._is_one_shot(params))

        return [
            [
                (params, self._with(params, largest)._settings(shape, classes=classes))
                for params in family
            ]
            for _, family in groupby(sorted(networks.values(), key=drawn), key=drawn)
        ]

    def _with(self, params: Params, size: int) -> StagewiseNetwork:
        """The model with these parameters and this size."""
        sized = {**params, self.model._size_name: size}
        return type(self.model)(**{**self.model.get_params(deep=False), **sized})

    def _is_one_shot(self, params: Params) -> bool:
        return is_one_shot(params.get("selection", self.model.selection))

    def _without_size(self, params: Params) -> Params:
        """The parameters that a fit of the whole path depends on."""
        ignored = {self.model._size_name}
        if self._is_one_shot(params):
            ignored.update(_OF_STAGES)
        return {name: value for name, value in params.items() if name not in ignored}


def _key(params: Params) -> str:
    return repr(sorted(params.items()))
