"""Splits of the rows into training and test parts."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

Indices = NDArray[np.int64]
Split = tuple[Indices, Indices]


def contiguous_folds(n: int, folds: int) -> list[Split]:
    """Training and test rows; fold i tests rows ⌈(i−1)n/folds⌉ up to, not including, ⌈in/folds⌉."""
    if n < folds:
        raise ValueError(f"{folds} folds need at least {folds} rows; got {n}")
    ends = [-(-i * n // folds) for i in range(folds + 1)]
    rows = np.arange(n, dtype=np.int64)
    return [
        (np.concatenate([rows[:first], rows[last:]]), rows[first:last])
        for first, last in pairwise(ends)
    ]


def stratified_folds(y: NDArray[np.int64], folds: int, seed: int) -> list[Split]:
    """Shuffled folds with each class spread evenly, as far as its size allows.

    A class with fewer members than there are folds is missing from some of them; if all classes are
    that small, folds are merely shuffled.
    """
    kind = StratifiedKFold if np.bincount(y).max() >= folds else KFold
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(kind(folds, shuffle=True, random_state=seed).split(y[:, None], y))
