"""Accuracy and R² from sums over the partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from stagenets.fitting._fitted_network import Matrix


@dataclass(frozen=True)
class Squares:
    """Of each target: its mean, and sums of squares about this mean and of the errors."""

    mean: Matrix
    spread: Matrix
    error: Matrix


@dataclass(frozen=True)
class Tally:
    """What the rows of a partition contribute to a score."""

    rows: int
    right: int | None = None  # of a classifier
    squares: Squares | None = None  # of a regressor


def tallied(X: Any, y: Any, model: Any) -> Tally:
    """The contribution of a partition."""
    wanted = np.asarray(y)
    if len(wanted) != len(X):
        raise ValueError(
            f"X and y must have the same partitions; got one with {len(X)} rows of X and "
            f"{len(wanted)} of y"
        )
    if len(wanted) == 0:
        return Tally(0)
    found = model.predict(X)
    if is_classifier(model):
        same = (found == wanted.reshape(found.shape)).reshape(len(wanted), -1).all(axis=1)
        return Tally(len(wanted), right=int(np.count_nonzero(same)))
    targets = wanted.astype(np.float64).reshape(len(wanted), -1)
    mean = targets.mean(axis=0)
    spread = ((targets - mean) ** 2).sum(axis=0)
    error = ((targets - found.reshape(targets.shape)) ** 2).sum(axis=0)
    return Tally(len(targets), squares=Squares(mean, spread, error))


def score_of(parts: Sequence[Tally]) -> float:
    """Accuracy, or R² averaged over the targets as scikit-learn does."""
    parts = [part for part in parts if part.rows]
    rows = sum(part.rows for part in parts)
    if rows == 0:
        raise ValueError("X must have at least one row; got empty partitions only")
    if parts[0].right is not None:
        return sum(part.right or 0 for part in parts) / rows
    counts = np.array([[part.rows] for part in parts])
    squares = [part.squares for part in parts if part.squares is not None]
    means = np.array([part.mean for part in squares])
    center = (counts * means).sum(axis=0) / rows
    spread = np.sum([part.spread for part in squares], axis=0)
    spread = spread + (counts * (means - center) ** 2).sum(axis=0)
    error = np.sum([part.error for part in squares], axis=0)
    constant = np.where(error > 0, 0.0, 1.0)
    scores = np.where(spread > 0, 1 - error / np.where(spread > 0, spread, 1.0), constant)
    return float(scores.mean())
