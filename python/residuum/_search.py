"""Cross-validation of many networks in one pass of the core."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid

from residuum import _core
from residuum._network import FloatArray, StagewiseNetwork
from residuum._threads import effective_threads, single_threaded_blas
from residuum._validation import contiguous

Params = dict[str, Any]
Split = tuple[NDArray[np.int64], NDArray[np.int64]]

# Networks that differ in nothing but these draw the same candidates and share their pools.
_PER_NETWORK = ("selection", "block_size", "alpha")


@dataclass(frozen=True)
class HeldOutScores:
    """What a network of some size says about a split's test rows."""

    scores: NDArray[np.float64]
    temperature: float | None


@dataclass(frozen=True)
class SearchTask:
    """A grid of networks, one parameter of which is their size, and the splits to try them on."""

    model: StagewiseNetwork
    grid: Mapping[str, Sequence[Any]]
    size_name: str
    splits: list[Split]
    max_memory: float
    progress: Callable[[int, int], None] | None = None

    @property
    def candidates(self) -> list[Params]:
        """All of the grid, in scikit-learn's order."""
        return list(ParameterGrid(self.grid))

    def run(
        self,
        X: FloatArray,
        targets: NDArray[np.float64],
        *,
        classification: bool,
        judge: Callable[[HeldOutScores, NDArray[np.int64]], float] | None = None,
        temperatures: bool = False,
    ) -> NDArray[np.float64]:
        """Quality of every candidate on every split, shape (candidates, splits).

        Accuracy or R², or what `judge` makes of the scores and the split's test rows.
        """
        sizes = sorted(set(self.grid[self.size_name]))
        families = self._families(X.shape, sizes[-1])
        with single_threaded_blas():
            found = _core.search_networks(
                contiguous(X),
                targets,
                families=[[settings for _, settings in family] for family in families],
                sizes=sizes,
                splits=self.splits,
                classification=classification,
                keep_scores=judge is not None,
                temperatures=temperatures,
                max_memory=self.max_memory,
                threads=effective_threads(self.model.n_jobs),
                progress=self.progress,
            )
        quality = found["quality"] if judge is None else self._judged(found, judge)
        rows = {
            _key(params): row
            for row, params in enumerate(params for family in families for params, _ in family)
        }
        columns = {size: column for column, size in enumerate(sizes)}
        return np.array(
            [
                quality[rows[_key(self._without_size(params))], :, columns[params[self.size_name]]]
                for params in self.candidates
            ]
        )

    def _families(
        self, shape: tuple[int, int], largest: int
    ) -> list[list[tuple[Params, _core.NetworkSettings]]]:
        grid = {name: list(values) for name, values in self.grid.items() if name != self.size_name}
        networks = {_key(net): net for net in map(self._without_size, ParameterGrid(grid))}

        def drawn(params: Params) -> str:
            one_shot = params["selection"] == "random"
            return _key({k: v for k, v in params.items() if k not in _PER_NETWORK}) + str(one_shot)

        return [
            [(params, self._settings(params, shape, largest)) for params in family]
            for _, family in groupby(sorted(networks.values(), key=drawn), key=drawn)
        ]

    def _settings(
        self, params: Params, shape: tuple[int, int], largest: int
    ) -> _core.NetworkSettings:
        model = type(self.model)(
            **{**self.model.get_params(deep=False), **params, self.size_name: largest}
        )
        return model._settings(shape)[0]

    def _without_size(self, params: Params) -> Params:
        """What a fit depends on: a one-shot network has neither pools nor blocks."""
        ignored = {self.size_name}
        if params["selection"] == "random":
            ignored |= {"pool_size", "block_size"}
        return {name: value for name, value in params.items() if name not in ignored}

    def _judged(
        self,
        found: dict[str, Any],
        judge: Callable[[HeldOutScores, NDArray[np.int64]], float],
    ) -> NDArray[np.float64]:
        quality: NDArray[np.float64] = np.empty_like(found["quality"])
        temperatures = found.get("temperature")
        for network, split, size in np.ndindex(*quality.shape):
            held_out = HeldOutScores(
                found["scores"][network][split][size],
                None if temperatures is None else float(temperatures[network, split, size]),
            )
            quality[network, split, size] = judge(held_out, self.splits[split][1])
        return quality


def _key(params: Params) -> str:
    return repr(sorted(params.items()))


def as_splits(splits: Any, n: int) -> list[Split]:
    """Train and test rows of every split, as integers, checked."""
    checked: list[Split] = []
    for train, test in splits:
        pair = _rows(train, n), _rows(test, n)
        if min(map(len, pair)) == 0:
            raise ValueError("cv must give training and test samples; got an empty part")
        checked.append(pair)
    if not checked:
        raise ValueError("cv must give at least one split; got none")
    return checked


def _rows(part: Any, n: int) -> NDArray[np.int64]:
    rows = np.asarray(part)
    rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
    if rows.size and (rows.min() < -n or rows.max() >= n):
        raise ValueError(f"cv must give row numbers below n_samples ({n}); got {rows.max()}")
    return np.ascontiguousarray(rows % n)
