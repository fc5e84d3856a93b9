"""Regression data sets: generated ones, and ``NAME.npz`` files that may bring their own folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from stagenets.study._data import available, requested
from stagenets.study._folds import Indices, Split
from stagenets.study._generated import GENERATED, generate


@dataclass(frozen=True)
class RegressionSet:
    """Rows in file order, one or several targets, and the test fold of every row if it is given."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.float64]
    fold: Indices | None = None

    @property
    def n_outputs(self) -> int:
        return 1 if self.y.ndim == 1 else self.y.shape[1]

    def splits(self, folds: int, seed: int) -> list[Split]:
        """Training and test rows: the folds that came with the set, or shuffled ones."""
        if self.fold is None:
            return list(KFold(folds, shuffle=True, random_state=seed).split(self.X))
        numbers = np.unique(self.fold)
        return [
            (np.flatnonzero(self.fold != number), np.flatnonzero(self.fold == number))
            for number in numbers
        ]


def load(folder: Path | None, name: str) -> RegressionSet:
    """Generate a set, or read ``NAME.npz``: X (n × p), y (n or n × q) and optionally fold (n)."""
    if name in GENERATED:
        return RegressionSet(name, *generate(name))
    if folder is None:
        raise ValueError(f"--data must name a folder that holds {name}.npz")
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        if not {"X", "y"} <= set(file):
            raise ValueError(f"{name}.npz must hold X and y; got {', '.join(file) or 'nothing'}")
        X, y = (np.asarray(file[part], dtype=np.float64) for part in ("X", "y"))
        fold = np.asarray(file["fold"], dtype=np.int64) if "fold" in file else None
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if X.ndim != 2 or y.ndim not in (1, 2) or len(X) != len(y) or X.size == 0:
        raise ValueError(
            f"X of {name}.npz must be a table with one row per target in y; "
            f"got shapes {X.shape} and {y.shape}"
        )
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise ValueError(f"X and y of {name}.npz must be finite; got NaN or infinity")
    if fold is not None and (fold.shape != (len(X),) or len(np.unique(fold)) < 2):
        raise ValueError(f"fold of {name}.npz must hold at least two numbers, one for each row")
    return RegressionSet(name, X, y, fold)


def choose(folder: Path | None, wanted: Sequence[str] | None) -> list[str]:
    """The requested data sets, or all that are generated and all in the folder."""
    names = [*(available(folder) if folder is not None else []), *GENERATED]
    return requested(names, wanted, "generated sets or files in --data")
