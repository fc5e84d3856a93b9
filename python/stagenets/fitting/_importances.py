"""What a network looks at: how much of its scores' variance each input has to do with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stagenets import _core
from stagenets.fitting._parameters import contiguous
from stagenets.fitting._threads import single_threaded_blas

if TYPE_CHECKING:
    from stagenets.fitting._fitted_network import FloatArray, Matrix
    from stagenets.fitting._input_encoding import InputEncoding

_MOST_ROWS = 1_000  # evenly spaced ones tell as much as all
_MOST_EXCHANGES = 5_000_000  # activations to evaluate, at most, for any but a few rows


def importances_of(
    core: _core.Network,
    X: FloatArray,
    targets: _core.Targets,
    encoding: InputEncoding | None,
    threads: int,
) -> Matrix:
    """Total effects of the columns on the scores, over training rows, as parts of one.

    The inputs that the encoding makes of a column are exchanged together. Outputs that are numbers
    count in units of their variance. All effects are zero if the network looks at nothing.
    """
    seen = sum(np.count_nonzero(layer.weights) for layer in core.layers)
    most = min(_MOST_ROWS, max(100, _MOST_EXCHANGES // max(seen, 1)))
    rows = np.linspace(0, X.shape[0] - 1, min(X.shape[0], most)).astype(np.intp)
    with single_threaded_blas():
        effects = _core.input_effects(
            core,
            contiguous(X[rows]),
            ends=np.arange(1, core.n_inputs + 1) if encoding is None else encoding.ends,
            threads=threads,
        )
    if targets.task == _core.Task.NUMBERS:
        variance = targets.values.var(axis=0)
        effects = effects / np.where(variance > 0, variance, 1.0)
    total = effects.sum(axis=1)
    return np.asarray(total / (total.sum() or 1.0))
