"""Accuracy and R², weighted, from sums over the partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from stagenets.dask._blocks import check_same_rows
from stagenets.fitting._fitted_network import Matrix
from stagenets.fitting._weights import weights_of_rows


@dataclass(frozen=True)
class Squares:
    """Of each target: its mean, and weighted sums of squares about this and of the errors."""

    mean: Matrix
    spread: Matrix
    error: Matrix


@dataclass(frozen=True)
class Tally:
    """What the rows of a partition contribute to a score."""

    weight: float  # of the rows
    right: float | None = None  # of a classifier
    squares: Squares | None = None  # of a regressor


def tallied(X: Any, y: Any, sample_weight: Any, model: Any) -> Tally:
    """The contribution of a partition."""
    wanted = np.asarray(y)
    check_same_rows(X, y=wanted, sample_weight=sample_weight)
    weights = np.ones(len(wanted))
    if sample_weight is not None:
        weights = weights_of_rows(np.asarray(sample_weight).reshape(-1), len(wanted))
    total = float(weights.sum())
    if total == 0:
        return Tally(0)
    found = model.predict(X)
    if is_classifier(model):
        same = (found == wanted.reshape(found.shape)).reshape(len(wanted), -1).all(axis=1)
        return Tally(total, right=float(weights[same].sum()))
    targets = wanted.astype(np.float64).reshape(len(wanted), -1)
    mean = weights @ targets / total
    spread = weights @ (targets - mean) ** 2
    error = weights @ (targets - found.reshape(targets.shape)) ** 2
    return Tally(total, squares=Squares(mean, spread, error))


def score_of(parts: Sequence[Tally]) -> float:
    """Accuracy, or R² averaged over the targets as scikit-learn does."""
    parts = [part for part in parts if part.weight]
    total = sum(part.weight for part in parts)
    if total == 0:
        raise ValueError("X must have at least one row with a weight; got none")
    if parts[0].right is not None:
        return sum(part.right or 0 for part in parts) / total
    weights = np.array([[part.weight] for part in parts])
    squares = [part.squares for part in parts if part.squares is not None]
    means = np.array([part.mean for part in squares])
    center = (weights * means).sum(axis=0) / total
    spread = np.sum([part.spread for part in squares], axis=0)
    spread = spread + (weights * (means - center) ** 2).sum(axis=0)
    error = np.sum([part.error for part in squares], axis=0)
    constant = np.where(error > 0, 0.0, 1.0)
    scores = np.where(spread > 0, 1 - error / np.where(spread > 0, spread, 1.0), constant)
    return float(scores.mean())
