"""Measures of predictions: the ones people expect for classes and for numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    log_loss,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    recall_score,
    roc_auc_score,
)

from stagenets.cli._usage import UsageError

Scores = dict[str, float]


@dataclass(frozen=True)
class Answers:
    """What a model says about some rows, and what is true. Numbers have no probabilities."""

    true: NDArray[Any]
    predicted: NDArray[Any]
    probabilities: NDArray[np.float64] | None = None
    classes: NDArray[Any] | None = None
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls, model: Any, X: Any, y: NDArray[Any], weights: NDArray[np.float64] | None = None
    ) -> Answers:
        """The answers of a fitted estimator."""
        if not is_classifier(model):
            return cls(y, model.predict(X), weights=weights)
        probabilities = model.predict_proba(X)
        return cls(y, model.predict(X), probabilities, model.classes_, weights)

    @property
    def present(self) -> NDArray[Any]:
        """The classes that occur."""
        return np.unique(self.true)


def _balanced_accuracy(answers: Answers) -> float:
    found = recall_score(
        answers.true,
        answers.predicted,
        labels=answers.present,
        average="macro",
        zero_division=0.0,
        sample_weight=answers.weights,
    )
    return float(found)


def _f1(answers: Answers) -> float:
    labels = np.union1d(answers.true, answers.predicted)
    return float(
        f1_score(
            answers.true,
            answers.predicted,
            labels=labels,
            average="macro",
            zero_division=0.0,
            sample_weight=answers.weights,
        )
    )


def _log_loss(answers: Answers) -> float:
    """Undefined for classes without a probability."""
    assert answers.classes is not None
    if not np.isin(answers.present, answers.classes).all():
        return math.nan
    found = log_loss(
        answers.true,
        answers.probabilities,
        labels=answers.classes,
        sample_weight=answers.weights,
    )
    return float(found)


def _roc_auc(answers: Answers) -> float:
    """One class against the rest, the mean over classes; undefined if only one occurs."""
    assert answers.classes is not None and answers.probabilities is not None
    if len(answers.present) < 2:
        return math.nan
    areas = [
        roc_auc_score(answers.true == label, column, sample_weight=answers.weights)
        for label, column in zip(answers.classes, answers.probabilities.T, strict=True)
        if label in answers.present
    ]
    # With two classes both areas are the same.
    return float(np.mean(areas)) if areas else math.nan


def _r2(answers: Answers) -> float:
    """Undefined for a single row."""
    if len(answers.true) < 2:
        return math.nan
    return float(r2_score(answers.true, answers.predicted, sample_weight=answers.weights))


def _accuracy(answers: Answers) -> float:
    return float(accuracy_score(answers.true, answers.predicted, sample_weight=answers.weights))


def _rmse(answers: Answers) -> float:
    found = mean_squared_error(answers.true, answers.predicted, sample_weight=answers.weights)
    return math.sqrt(found)


def _mae(answers: Answers) -> float:
    found = mean_absolute_error(answers.true, answers.predicted, sample_weight=answers.weights)
    return float(found)


@dataclass(frozen=True)
class Metric:
    """A measure and the name people know it by."""

    title: str
    of: Callable[[Answers], float]


CLASS_METRICS = {
    "accuracy": Metric("accuracy", _accuracy),
    "balanced_accuracy": Metric("balanced accuracy", _balanced_accuracy),
    "log_loss": Metric("log-loss", _log_loss),
    "roc_auc": Metric("ROC AUC", _roc_auc),
    "f1": Metric("F1, mean over classes", _f1),
}
NUMBER_METRICS = {
    "r2": Metric("R²", _r2),
    "rmse": Metric("RMSE", _rmse),
    "mae": Metric("MAE", _mae),
}


def metrics_for(model: Any, names: Collection[str] = ()) -> dict[str, Metric]:
    """The measures by name; without names, those that suit the model except F1."""
    known = CLASS_METRICS if is_classifier(model) else NUMBER_METRICS
    for name in names:
        if name not in known:
            kind = "classifier" if known is CLASS_METRICS else "regressor"
            raise UsageError(f"--metrics of a {kind} are {', '.join(known)}; got {name!r}")
    return {name: known[name] for name in names or known if names or name != "f1"}


def scores_of(answers: Answers, metrics: dict[str, Metric]) -> Scores:
    """Each measure of these answers."""
    return {name: metric.of(answers) for name, metric in metrics.items()}


def plain_scores(scores: Scores) -> dict[str, float | None]:
    """The same for JSON, which has no NaN."""
    return {name: value if math.isfinite(value) else None for name, value in scores.items()}


def shown(value: float) -> str:
    """A score for people."""
    if not math.isfinite(value):
        return "not defined"
    return f"{value:.4f}" if abs(value) < 1e4 else f"{value:.6g}"
