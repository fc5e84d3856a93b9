"""Readouts that follow a stream of batches, with the scaling of the first one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.sparsefuncs import min_max_axis

from stagenets import _core
from stagenets.fitting._fitted_network import core_network, no_path, plain_network
from stagenets.fitting._parameters import refusal
from stagenets.fitting._rows import Rows
from stagenets.fitting._stream_growth import with_units
from stagenets.fitting._threads import effective_threads, single_threaded_blas

if TYPE_CHECKING:
    from stagenets.estimators._network import StagewiseNetwork
    from stagenets.fitting._fitted_network import FittedNetwork, FloatArray, Matrix


@dataclass(frozen=True, eq=False)
class Stream:
    """The sums over all rows so far that a readout depends on.

    `gram` is the Gram matrix (lower triangle) of [A T], with A the design that the penalty applies
    to, which is `map` times the columns of the network, and T the targets as the first batch scaled
    them: ``target = center + scale · T``. `alpha` is the penalty of the first batch.
    """

    map: Matrix
    gram: Matrix
    center: Matrix
    scale: Matrix
    alpha: float


def begin_stream(
    model: StagewiseNetwork, network: FittedNetwork, X: FloatArray, targets: _core.Targets
) -> Stream:
    """The stream of a network that was fitted to the first batch."""
    core, values = network.core, targets.values
    center, scale = np.zeros(values.shape[1]), np.ones(values.shape[1])
    if targets.task == _core.Task.NUMBERS:
        center, deviation = values.mean(axis=0), values.std(axis=0)
        scale = np.where(deviation > 0, deviation, 1.0)
    settings, threads = model._settings(X.shape), effective_threads(model.n_jobs)
    with single_threaded_blas():
        mapped = _core.design_map(core, X, settings, threads=threads)
        gram = _core.readout_gram(core, X, mapped, (values - center) / scale, threads=threads)
    assert network.history.alpha is not None  # it is unknown in old files only
    return Stream(mapped, gram, center, scale, network.history.alpha)


def with_batch(
    model: StagewiseNetwork,
    network: FittedNetwork,
    stream: Stream,
    X: FloatArray,
    targets: _core.Targets,
    *,
    forgetting: float = 1.0,
    grow: int = 0,
) -> tuple[FittedNetwork, Stream]:
    """The network and its stream after one more batch."""
    threads = effective_threads(model.n_jobs)
    network = _reaching(network, X)
    if grow > 0:
        with single_threaded_blas():
            errors = (targets.values - network.core.scores(X, threads)) / stream.scale
        network, stream = with_units(model, network, stream, X, errors, grow)
    values = (targets.values - stream.center) / stream.scale
    with single_threaded_blas():
        more = _core.readout_gram(network.core, X, stream.map, values, threads=threads)
        gram = forgetting * stream.gram + more
        readout, _ = _core.solve_gram(gram, stream.map, stream.alpha, threads=threads)
    readout = readout * stream.scale
    readout[-1] += stream.center
    plain = plain_network(network.core)
    core = core_network({**plain, "readout": readout, "path": no_path(readout)})
    network = replace(network, core=core, uncertainty=None)  # errors were of the first batch
    return network, replace(stream, gram=gram)


def _reaching(network: FittedNetwork, X: FloatArray) -> FittedNetwork:
    """The network with bounds that hold these rows: like those of a fit, they are not clamped."""
    plain = plain_network(network.core)
    if plain["bounds"] is None:
        return network
    low, high = plain["bounds"]
    least, greatest = min_max_axis(X, axis=0) if issparse(X) else (X.min(axis=0), X.max(axis=0))
    bounds = np.stack([np.minimum(low, least), np.maximum(high, greatest)])
    return replace(network, core=core_network({**plain, "bounds": bounds}))


def passes_over(batches: Any) -> Callable[[], Iterator[Any]]:
    """What makes an iterator over the batches, as often as it is called."""
    if callable(batches):
        return lambda: iter(batches())
    if not isinstance(batches, Iterable) or iter(batches) is batches:
        raise refusal(
            "batches",
            batches,
            "a list or another object that can be iterated over twice, or a function that returns "
            "an iterator",
        )
    return lambda: iter(batches)


class RowSample:
    """A uniform sample of the rows of a stream: those with the smallest of random keys."""

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self.rows = 0
        self.arrays: tuple[Any, ...] = ()
        self._keys = np.empty(0)
        self._rng = np.random.default_rng(seed)

    def add(self, *arrays: Any) -> None:
        """Take in the rows of a batch, in all arrays alike."""
        keys = np.concatenate([self._keys, self._rng.random(len(arrays[0]))])
        if self.rows:
            arrays = tuple(map(_joined, self.arrays, arrays))
        self.rows += len(keys) - len(self._keys)
        if len(keys) > self.size:
            kept = np.sort(np.argpartition(keys, self.size)[: self.size])
            keys, arrays = keys[kept], tuple(array[kept] for array in arrays)
        self._keys, self.arrays = keys, arrays


def _joined(first: Any, more: Any) -> Any:
    return first.followed_by(more) if isinstance(first, Rows) else np.concatenate([first, more])


def can_stream(model: StagewiseNetwork) -> bool:
    """Whether the readout of a model depends on sums over rows alone."""
    if model.loss != "squared":
        raise AttributeError(f"partial_fit needs loss='squared'; got {model.loss!r}")
    return True


def check_stream(model: StagewiseNetwork) -> bool:
    """Whether a batch is the first one: after a fit, or in a loaded model, there are no sums."""
    if getattr(model, "class_weight", None) is not None:
        raise refusal("class_weight", model.class_weight, "None with partial_fit")
    if model.unlabeled is not None:
        raise refusal("unlabeled", model.unlabeled, "None with partial_fit")
    if model.manifold != 0:
        raise refusal("manifold", model.manifold, "0 with partial_fit")
    return model._stream is None
