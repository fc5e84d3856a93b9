"""What a fit decides by itself, by cross-validation: the penalty, and with it the size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from stagenets import _core
from stagenets.fitting._parameters import is_auto
from stagenets.fitting._stopping import Labels, criterion, folds_of, group_numbers

if TYPE_CHECKING:
    from stagenets.estimators._network import StagewiseNetwork
    from stagenets.fitting._fitted_network import FloatArray

_FOLDS = 5
#: With fewer samples than this, folds say more about luck than about penalties.
LEAST_SAMPLES = 50
#: Folds are judged until they hold so many samples; more of them would tell nothing new.
_ENOUGH_JUDGED = 1000
#: They are fitted to an even sample of the other folds, of no more distinct rows than this.
_ENOUGH_FITTED = 5000
#: Units a stage keeps in the folds: penalties and sizes compare as well, in a third of the time.
_BLOCK = 4
#: Standard errors by which another network must beat the usual one: docs/study/defaults.md.
_CAUTION = 1.0


def choice_of(
    model: StagewiseNetwork,
    X: FloatArray,
    targets: _core.Targets,
    labels: Labels | None,
    groups: Any,
    samples: int,
    seed: int,
) -> _core.CrossValidation | None:
    """What is to be decided for data that stand for so many samples; None if nothing is.

    The seed is that of the fit, so that one that continues another has the same folds.
    """
    thorough = criterion(model) == "cv"
    penalty = is_auto(model.alpha) and samples >= LEAST_SAMPLES
    if not thorough and not penalty:
        return None
    numbers = group_numbers(groups, X.shape[0])
    pool, block = model._pool_and_block(samples)
    if not penalty:
        splits = folds_of(model, X.shape[0], labels, numbers)
        return _core.CrossValidation(splits=splits, sizes=True, block_size=block)
    alphas = model._alphas_for(model.loss)
    if numbers is None:
        splits = folds_by_value(X, targets.values, labels, seed)
        if len(splits) < 2:  # all rows are the same
            return None
    else:
        splits = folds_of(model, X.shape[0], labels, numbers)
    if thorough:
        return _core.CrossValidation(splits=splits, alphas=alphas, sizes=True, block_size=block)
    used = min(_FOLDS, -(-_ENOUGH_JUDGED * _FOLDS // samples))
    return _core.CrossValidation(
        splits=splits[:used],
        alphas=alphas,
        # Each size takes iterations of its own to fit by log-loss, and gains nothing more there.
        sizes=is_auto(getattr(model, model._size_name)) and model._like.get(model.loss) != "log",
        block_size=max(block, min(_BLOCK, pool)),
        caution=_CAUTION,
    )


def folds_by_value(
    X: FloatArray, values: FloatArray, labels: Labels | None, seed: int
) -> list[tuple[Labels, Labels]]:
    """Up to five folds, stratified by label, in which the fold of a row follows from what is in it.

    Equal rows are in the same fold, so that none is on both sides of a split, and a weight of two
    amounts to the row twice; nor does the order of the rows matter. Of many rows, only a part is
    fitted.
    """
    keys = _row_keys(X, values, seed)
    classes = np.zeros(len(keys), dtype=np.int64) if labels is None else labels
    order = np.lexsort((keys, classes))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(keys[order]) != 0) | (np.diff(classes[order]) != 0)
    numbers = np.empty(len(order), dtype=np.int64)  # of distinct rows
    numbers[order] = np.cumsum(new) - 1
    turns, folds = np.divmod(numbers, _FOLDS)
    distinct = int(new.sum())
    fitted = turns % -(-distinct // _ENOUGH_FITTED) == 0
    used = range(min(_FOLDS, distinct))
    return [(np.flatnonzero(fitted & (folds != k)), np.flatnonzero(folds == k)) for k in used]


def _row_keys(X: FloatArray, values: FloatArray, seed: int) -> NDArray[np.uint64]:
    """A number for every row, as if drawn at random, that equal rows have in common."""
    rng = np.random.default_rng(seed)
    keys = np.zeros(X.shape[0], dtype=np.uint64)
    table: Any  # dense or sparse
    for table in (X, values):
        factors = rng.integers(2**63, size=table.shape[1], dtype=np.uint64) * np.uint64(2)
        factors += np.uint64(1)
        if issparse(table):  # zeros that are not stored would add nothing
            parts = _words(table.data), table.indices, table.indptr
            keys += csr_array(parts, shape=table.shape) @ factors
        else:
            # Some rows at a time: no copy of all, and Ctrl-C.
            step = max(1, 2**20 // table.shape[1])
            for first in range(0, len(table), step):
                rows = slice(first, first + step)
                keys[rows] += np.einsum("ij,j->i", _words(table[rows]), factors)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)  # mixes all bits
        keys ^= keys >> np.uint64(31)
    return keys


def _words(values: FloatArray) -> NDArray[np.uint64]:
    """The bits of every value, the same for a zero of either sign."""
    values = np.ascontiguousarray(values) + values.dtype.type(0)
    words = values.view(np.uint64 if values.itemsize == 8 else np.uint32)
    return words.astype(np.uint64, copy=False)
