"""Splits of the samples for a search."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, KFold, StratifiedKFold, check_cv
from sklearn.utils.multiclass import type_of_target

Split = tuple[NDArray[np.int64], NDArray[np.int64]]

_FOLDS = 5


def splitter_for(cv: Any, y: NDArray[Any], *, classification: bool, seed: int) -> Any:
    """The splitter specified by `cv`: a number of folds is shuffled, a splitter used as it is.

    Samples often come in some order, by class or by time of measurement. Folds of consecutive
    samples then differ from the rest and make a search prefer networks that are too small.
    """
    folds = _FOLDS if cv is None else cv
    if isinstance(folds, Integral) and not isinstance(folds, bool):
        stratified = classification and type_of_target(y) in ("binary", "multiclass")
        kind: type[BaseCrossValidator] = StratifiedKFold if stratified else KFold
        return kind(int(folds), shuffle=True, random_state=seed % 2**32)
    return check_cv(cv, y, classifier=classification)


def splits_of_rows(
    cv: Any,
    splitter: Any,
    X: Any,
    y: Any,
    some: NDArray[np.bool_],
    split_params: dict[str, Any],
) -> list[Split]:
    """Splits of some of the rows, numbered among these.

    A splitter sees only these rows. Splits that the caller lists are of all rows, so the others
    are taken out of them.
    """
    if hasattr(cv, "split") or not np.iterable(cv):
        params = {
            name: value[some] if np.shape(value)[:1] == (len(some),) else value
            for name, value in ((name, _indexable(value)) for name, value in split_params.items())
        }
        return as_splits(splitter.split(X[some], y[some], **params), int(some.sum()))
    number = np.cumsum(some) - 1
    listed = as_splits(splitter.split(X, y, **split_params), len(some))
    pairs = [tuple(number[rows[some[rows]]] for rows in split) for split in listed]
    return as_splits(pairs, int(some.sum()))


def _indexable(value: Any) -> Any:
    return value if value is None else np.asarray(value)


def as_splits(splits: Any, n: int) -> list[Split]:
    """Training and test rows of every split, as integers, checked."""
    checked: list[Split] = []
    for train, test in splits:
        pair = _rows(train, n), _rows(test, n)
        if min(map(len, pair)) == 0:
            raise ValueError("cv must give training and test samples; got an empty set")
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
