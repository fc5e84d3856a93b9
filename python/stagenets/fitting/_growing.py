"""Fits that continue earlier ones: what `warm_start=True` remembers, and when it may be used."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from stagenets import _core
from stagenets.fitting._parameters import check_flag, seed_of

if TYPE_CHECKING:
    from stagenets.estimators._network import StagewiseNetwork

# Parameters that do not affect which units a stage keeps, only how many stages there are and how
# they are run; the size is another.
_FREE = (
    "tol",
    "n_iter_no_change",
    "intervals",
    "warm_start",
    "random_state",
    "n_jobs",
    "verbose",
    # The data to compare are those that columns have become.
    "categorical_features",
    "max_categories",
)


@dataclass(frozen=True)
class Memory:
    """What decides the stages of a fit: parameters, seed and data; and, once found, the stages."""

    params: dict[str, Any]
    seed: int
    data: str
    stages: _core.KnownStages | None = None

    def would_begin_like(self, other: Memory) -> bool:
        """Whether two fits have the same stages, as far as both go."""
        if (self.seed, self.data) != (other.seed, other.data):
            return False
        return self.params.keys() == other.params.keys() and all(
            _are_same(value, other.params[name]) for name, value in self.params.items()
        )


def memory_for(model: StagewiseNetwork, seed: int, *data: Any) -> Memory | None:
    """The memory for a fit to these arrays, still without stages; None if it is to have none."""
    if not _remembers(model):
        return None
    given = model.get_params(deep=False)
    fixed = given.keys() - {*_FREE, "callback", model._size_name}
    return Memory({name: given[name] for name in fixed}, seed, _digest(data))


def known_stages(model: StagewiseNetwork, memory: Memory | None) -> _core.KnownStages | None:
    """The stages of the last fit, if one with this memory begins with the same."""
    last = model._memory
    if memory is None or last is None or not memory.would_begin_like(last):
        return None
    return last.stages


def seed_for(model: StagewiseNetwork) -> int:
    """The seed of the next fit: that of the last one if it is to continue and none is given."""
    last = model._memory
    if last is None or isinstance(model.random_state, Integral) or not _remembers(model):
        return seed_of(model.random_state)
    return last.seed


def _remembers(model: StagewiseNetwork) -> bool:
    """Whether to remember the stages; a one-shot network has none."""
    return check_flag("warm_start", model.warm_start) and not model._is_one_shot


def _digest(arrays: Iterable[Any]) -> str:
    digest = hashlib.blake2b()
    for array in chain.from_iterable(map(_parts, arrays)):
        by_column = array.flags.f_contiguous
        digest.update(f"{array.dtype} {array.shape} {by_column}".encode())
        digest.update(np.ascontiguousarray(array.T if by_column else array).data)
    return digest.hexdigest()


def _parts(array: Any) -> tuple[NDArray[Any], ...]:
    """An array as it is, or what a sparse one consists of."""
    if issparse(array):
        return np.asarray(array.shape), array.indptr, array.indices, array.data
    return (array,)


def _are_same(one: Any, other: Any) -> bool:
    plain = (bool, int, float, str, np.generic)
    return one is other or (
        isinstance(one, plain) and type(one) is type(other) and bool(one == other)
    )
