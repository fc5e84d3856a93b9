"""How good the predictions of a classifier are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Labels = NDArray[np.int64]

# Nothing is certain: a probability of zero that turns out wrong would cost infinitely much.
_LEAST_PROBABILITY = 1e-12
_BINS = 15


@dataclass(frozen=True)
class Judged:
    """What a model predicts for rows whose labels are known."""

    right: NDArray[np.bool_]  # whether the label it predicts is a row's own
    probabilities: Numbers  # a column for each class, or none
    classes: NDArray[Any]
    labels: Labels

    @classmethod
    def of(cls, model: Any, X: Numbers, y: Labels) -> Judged:
        """The predictions of a model for these rows."""
        classes = np.asarray(model.classes_)
        if not hasattr(model, "predict_proba"):
            return cls(np.asarray(model.predict(X)) == y, np.empty((len(y), 0)), classes, y)
        probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)
        return cls(classes[np.argmax(probabilities, axis=1)] == y, probabilities, classes, y)

    @property
    def accuracy(self) -> float:
        return float(self.right.mean())


def log_loss(judged: Judged) -> float:
    """Of rows whose class the model never saw, the probability is the least one."""
    own = judged.classes == judged.labels[:, None]
    given = np.where(own, judged.probabilities, 0.0).sum(axis=1)
    return float(-np.log(np.clip(given, _LEAST_PROBABILITY, 1.0)).mean())


def area(judged: Judged) -> float:
    """Area under the ROC curve.

    Of more than two classes, it is the mean over the classes that are both present and absent
    among the labels, each against the others.
    """
    from sklearn.metrics import roc_auc_score

    y, columns, classes = judged.labels, judged.probabilities.T, judged.classes
    if len(classes) == 2:
        columns, classes = columns[1:], classes[1:]
    areas = [
        roc_auc_score(y == label, column)
        for label, column in zip(classes, columns, strict=True)
        if 0 < np.sum(y == label) < len(y)
    ]
    return float(np.mean(areas)) if areas else float("nan")


def calibration_error(parts: Sequence[Judged]) -> float:
    """Expected calibration error of the labels predicted for all parts together.

    Rows are binned by the probability of the label predicted; a bin's error is the difference
    between its mean probability and its accuracy. Few rows per bin differ by chance, so parts are
    not judged one by one.
    """
    sure = np.concatenate([np.max(part.probabilities, axis=1) for part in parts])
    right = np.concatenate([part.right for part in parts])
    bins = np.minimum((sure * _BINS).astype(np.int64), _BINS - 1)
    surplus = np.bincount(bins, weights=sure - right, minlength=_BINS)
    return float(np.abs(surplus).sum() / len(right))
