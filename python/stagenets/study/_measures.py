"""How good the predictions of a classifier are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Nothing is certain: a probability of zero that turns out wrong would cost infinitely much.
_LEAST_PROBABILITY = 1e-12


def measured(model: Any, X: NDArray[np.float64], y: NDArray[np.int64]) -> tuple[float, ...]:
    """Accuracy and, if the model gives probabilities, log-loss and area under the ROC curve.

    Of more than two classes, the area is the mean over the classes that are both present and absent
    in y, each against the others.
    """
    if not hasattr(model, "predict_proba"):
        return (float(model.score(X, y)),)
    probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)
    classes = np.asarray(model.classes_)
    right = classes[np.argmax(probabilities, axis=1)] == y
    return (
        float(right.mean()),
        _log_loss(probabilities, classes, y),
        _area(probabilities, classes, y),
    )


def _log_loss(probabilities: NDArray[Any], classes: NDArray[Any], y: NDArray[np.int64]) -> float:
    """Of rows whose class the model never saw, the probability is the least one."""
    given = np.where(classes == y[:, None], probabilities, 0.0).sum(axis=1)
    return float(-np.log(np.clip(given, _LEAST_PROBABILITY, 1.0)).mean())


def _area(probabilities: NDArray[Any], classes: NDArray[Any], y: NDArray[np.int64]) -> float:
    from sklearn.metrics import roc_auc_score

    if len(classes) == 2:
        probabilities, classes = probabilities[:, 1:], classes[1:]
    areas = [
        roc_auc_score(y == label, column)
        for label, column in zip(classes, probabilities.T, strict=True)
        if 0 < np.sum(y == label) < len(y)
    ]
    return float(np.mean(areas)) if areas else float("nan")
