"""The usual measures straight from the scores of a split's test rows.

A search judges thousands of networks. scikit-learn's scorers spend a millisecond or more on each to
check what is the same every time; these give the same numbers for a hundredth of that. Where a
measure does not apply to a split, such as ROC AUC where a class is missing, scikit-learn's scorer
is left to say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagenets.search._splits import Split

Scores = NDArray[np.float64]
#: (number of the split, scores of its test rows, temperature of each output) -> quality
Judge = Callable[[int, Scores, Scores], float]


@dataclass(frozen=True)
class _Labels:
    """The true classes of the test rows, as numbers."""

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    positive: bool  # whether the second of two classes is called 1, as F1 expects

    @property
    def classes(self) -> int:
        return len(self.counts)

    @property
    def complete(self) -> bool:
        return bool((self.counts > 0).all())

    @property
    def binary(self) -> bool:
        return self.classes == 2 and self.complete


def _confusion(truth: _Labels, scores: Scores) -> NDArray[np.int64]:
    """Rows of true class i that are predicted to be of class j."""
    pairs = truth.codes * truth.classes + scores.argmax(axis=1)
    return np.bincount(pairs, minlength=truth.classes**2).reshape(truth.classes, truth.classes)


def _probabilities(scores: Scores, temperature: Scores) -> Scores:
    scaled = temperature * scores
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _balanced_accuracy(truth: _Labels, scores: Scores, temperature: Scores) -> float:
    present = truth.counts > 0
    recalls = np.diag(_confusion(truth, scores))[present] / truth.counts[present]
    return float(recalls.mean())


def _f1_scores(truth: _Labels, scores: Scores) -> tuple[Scores, NDArray[np.bool_]]:
    """F1 of each class, and which classes occur or are predicted."""
    confusion = _confusion(truth, scores)
    total = confusion.sum(axis=0) + truth.counts
    return 2 * np.diag(confusion) / np.maximum(total, 1), total > 0


def _f1(truth: _Labels, scores: Scores, temperature: Scores) -> float:
    return float(_f1_scores(truth, scores)[0][1])


def _f1_macro(truth: _Labels, scores: Scores, temperature: Scores) -> float:
    found, known = _f1_scores(truth, scores)
    return float(found[known].mean())


def _f1_weighted(truth: _Labels, scores: Scores, temperature: Scores) -> float:
    return float(_f1_scores(truth, scores)[0] @ truth.counts / truth.counts.sum())


def _log_loss(truth: _Labels, scores: Scores, temperature: Scores) -> float:
    chances = _probabilities(scores, temperature)
    if truth.classes == 2:  # as scikit-learn does, from the second column alone
        chances = np.column_stack([1 - chances[:, 1], chances[:, 1]])
    eps = np.finfo(np.float64).eps
    true = chances[np.arange(len(truth.codes)), truth.codes].clip(eps, 1 - eps)
    return float(np.log(true).mean())


def _area(positive: NDArray[np.bool_], scores: Scores) -> float:
    """Area under the ROC curve: the share of pairs in order, ties counting half."""
    above, below = scores[positive], np.sort(scores[~positive])
    beaten = np.searchsorted(below, above, "left") + np.searchsorted(below, above, "right")
    return float(beaten.sum() / (2 * len(above) * len(below)))


def _roc_auc(truth: _Labels, scores: Scores, temperature: Scores) -> float:
    return _area(truth.codes == 1, scores[:, 1] - scores[:, 0])


def _roc_auc_ovr(truth: _Labels, scores: Scores, temperature: Scores) -> float:
    chances = _probabilities(scores, temperature)
    if truth.classes == 2:
        return _area(truth.codes == 1, chances[:, 1])
    areas = [_area(truth.codes == label, column) for label, column in enumerate(chances.T)]
    return float(np.mean(areas))


@dataclass(frozen=True)
class _Measure:
    of: Callable[[_Labels, Scores, Scores], float]
    applies: Callable[[_Labels], bool] = lambda truth: True


_OF_LABELS = {
    "balanced_accuracy": _Measure(_balanced_accuracy),
    "f1": _Measure(_f1, lambda truth: truth.binary and truth.positive),
    "f1_macro": _Measure(_f1_macro),
    "f1_weighted": _Measure(_f1_weighted),
    "neg_log_loss": _Measure(_log_loss, lambda truth: truth.complete),
    "roc_auc": _Measure(_roc_auc, lambda truth: truth.binary),
    "roc_auc_ovr": _Measure(_roc_auc_ovr, lambda truth: truth.complete),
}
# Of the errors, shape (rows, outputs).
_OF_ERRORS: dict[str, Callable[[Scores], float]] = {
    "neg_mean_squared_error": lambda errors: -float(np.mean(errors**2)),
    "neg_root_mean_squared_error": lambda errors: -float(np.sqrt((errors**2).mean(axis=0)).mean()),
    "neg_mean_absolute_error": lambda errors: -float(np.abs(errors).mean()),
}


def direct_judge(
    scoring: Any,
    y: NDArray[Any],
    splits: list[Split],
    classes: NDArray[Any] | None,
    otherwise: Judge,
) -> Judge:
    """A judge that computes a measure itself if it is one of the above; `otherwise` if not."""
    if not isinstance(scoring, str):
        return otherwise
    if classes is None and scoring in _OF_ERRORS:
        return _judge_of_numbers(_OF_ERRORS[scoring], y.reshape(len(y), -1), splits)
    if classes is not None and y.ndim == 1 and scoring in _OF_LABELS:
        return _judge_of_labels(_OF_LABELS[scoring], y, splits, classes, otherwise)
    return otherwise


def _judge_of_numbers(measure: Callable[[Scores], float], y: Scores, splits: list[Split]) -> Judge:
    def judge(split: int, scores: Scores, temperature: Scores) -> float:
        return measure(scores - y[splits[split][1]])

    return judge


def _judge_of_labels(
    measure: _Measure,
    y: NDArray[Any],
    splits: list[Split],
    classes: NDArray[Any],
    otherwise: Judge,
) -> Judge:
    codes = np.searchsorted(classes, y)
    positive = classes.dtype.kind in "biuf" and bool(classes[-1] == 1)
    truths = [
        _Labels(codes[test], np.bincount(codes[test], minlength=len(classes)), positive)
        for _, test in splits
    ]

    def judge(split: int, scores: Scores, temperature: Scores) -> float:
        truth = truths[split]
        if not measure.applies(truth):
            return otherwise(split, scores, temperature)
        return measure.of(truth, scores, temperature)

    return judge
