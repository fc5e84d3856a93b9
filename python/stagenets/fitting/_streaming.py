"""Readouts that follow a stream of batches, with the units and the scaling of the first one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.sparsefuncs import min_max_axis

from stagenets import _core
from stagenets.fitting._fitted_network import core_network, no_path, plain_network
from stagenets.fitting._parameters import refusal
from stagenets.fitting._threads import effective_threads, single_threaded_blas

if TYPE_CHECKING:
    from stagenets.estimators._network import StagewiseNetwork
    from stagenets.fitting._fitted_network import FittedNetwork, FloatArray, Matrix


@dataclass(frozen=True, eq=False)
class Stream:
    """The sums over all rows so far that a readout depends on.

    `gram` is the Gram matrix (lower triangle) of [A T], with A the design that the penalty applies
    to, which is `map` times the columns of the network, and T the targets as the first batch scaled
    them: ``target = center + scale · T``.
    """

    map: Matrix
    gram: Matrix
    center: Matrix
    scale: Matrix


def begin_stream(model: StagewiseNetwork, X: FloatArray, targets: _core.Targets) -> Stream:
    """The stream of a model whose network was fitted to the first batch."""
    core, values = model.network_.core, targets.values
    center, scale = np.zeros(values.shape[1]), np.ones(values.shape[1])
    if targets.task == _core.Task.NUMBERS:
        center, deviation = values.mean(axis=0), values.std(axis=0)
        scale = np.where(deviation > 0, deviation, 1.0)
    settings, threads = model._settings(X.shape), effective_threads(model.n_jobs)
    with single_threaded_blas():
        mapped = _core.design_map(core, X, settings, threads=threads)
        gram = _core.readout_gram(core, X, mapped, (values - center) / scale, threads=threads)
    return Stream(mapped, gram, center, scale)


def with_batch(
    model: StagewiseNetwork, X: FloatArray, targets: _core.Targets, forgetting: float
) -> tuple[FittedNetwork, Stream]:
    """The network and the stream of a model after one more batch."""
    stream, threads = model._stream, effective_threads(model.n_jobs)
    assert stream is not None
    plain = plain_network(model.network_.core)
    if plain["bounds"] is not None:  # rows of the fit are never clamped, nor are those of a stream
        low, high = plain["bounds"]
        least, greatest = min_max_axis(X, axis=0) if issparse(X) else (X.min(axis=0), X.max(axis=0))
        plain["bounds"] = np.stack([np.minimum(low, least), np.maximum(high, greatest)])
    values = (targets.values - stream.center) / stream.scale
    with single_threaded_blas():
        more = _core.readout_gram(core_network(plain), X, stream.map, values, threads=threads)
        gram = forgetting * stream.gram + more
        readout, _ = _core.solve_gram(gram, stream.map, model.alpha_, threads=threads)
    readout = readout * stream.scale
    readout[-1] += stream.center
    core = core_network({**plain, "readout": readout, "path": no_path(readout)})
    network = replace(model.network_, core=core, uncertainty=None)  # errors were of the first batch
    return network, replace(stream, gram=gram)


def can_stream(model: StagewiseNetwork) -> bool:
    """Whether the readout of a model depends on sums over rows alone."""
    if model.loss != "squared":
        raise AttributeError(f"partial_fit needs loss='squared'; got {model.loss!r}")
    return True


def check_stream(model: StagewiseNetwork) -> bool:
    """Whether a batch is the first one: after a fit, or in a loaded model, there are no sums."""
    if getattr(model, "class_weight", None) is not None:
        raise refusal("class_weight", model.class_weight, "None with partial_fit")
    return model._stream is None
