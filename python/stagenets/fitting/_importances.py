"""What a network looks at: how much of its scores' variance each input has to do with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

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
    count in units of their deviation. All effects are zero if the network looks at nothing.
    """
    rows = X[rows_to_exchange(core, X.shape[0])]
    return importances_from(core, rows, targets.deviations, encoding, threads)


def rows_to_exchange(core: _core.Network, n: int) -> NDArray[np.intp]:
    """The numbers of the training rows, of n, whose inputs are exchanged."""
    seen = sum(np.count_nonzero(layer.weights) for layer in core.layers)
    most = min(_MOST_ROWS, max(100, _MOST_EXCHANGES // max(seen, 1)))
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def importances_from(
    core: _core.Network,
    rows: FloatArray,
    deviations: Matrix,
    encoding: InputEncoding | None,
    threads: int,
) -> Matrix:
    """The importances over these rows, for outputs of these deviations (of scores, ones)."""
    with single_threaded_blas():
        effects = _core.input_effects(
            core,
            contiguous(rows),
            ends=np.arange(1, core.n_inputs + 1) if encoding is None else encoding.ends,
            units=deviations,
            threads=threads,
        )
    total = effects.sum(axis=1)
    return np.asarray(total / (total.sum() or 1.0))
