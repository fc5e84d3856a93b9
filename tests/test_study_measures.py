"""The study's measures of probabilities against scikit-learn and against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from stagenets.study._measures import Judged, area, calibration_error, log_loss


class Stated:
    """A classifier that says what it is told to."""

    def __init__(self, probabilities, classes):
        self.probabilities, self.classes_ = probabilities, np.asarray(classes)

    def predict_proba(self, X):
        return self.probabilities


def judged(n, q, seed, sharpness=1.0):
    rng = np.random.default_rng(seed)
    scores = sharpness * rng.normal(size=(n, q))
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y = rng.permutation(np.arange(n) % q)
    return Judged.of(Stated(probabilities, range(q)), None, y)


@given(st.integers(20, 200), st.integers(2, 5), st.integers(0, 1000))
def test_measures_are_those_of_scikit_learn(n, q, seed):
    part = judged(n, q, seed)
    labels, columns = part.labels, part.probabilities
    assert part.accuracy == metrics.accuracy_score(labels, columns.argmax(axis=1))
    assert log_loss(part) == pytest.approx(metrics.log_loss(labels, columns, labels=range(q)))
    one_hot = np.eye(q)[labels]
    expected = metrics.roc_auc_score(one_hot, columns)
    assert area(part) == pytest.approx(expected)


def test_a_class_that_was_never_seen_costs_much_but_not_infinitely():
    part = Judged.of(Stated(np.array([[0.25, 0.75], [1.0, 0.0]]), [0, 2]), None, np.array([1, 0]))
    assert not part.right[0]
    assert part.right[1]
    assert log_loss(part) == pytest.approx(-np.log(1e-12) / 2)


def test_probabilities_that_come_true_are_calibrated_and_others_are_not():
    rng = np.random.default_rng(0)
    sure = rng.uniform(0.5, 1, size=200_000)
    y = (rng.uniform(size=sure.size) < sure).astype(int)
    model = Stated(np.column_stack([1 - sure, sure]), [0, 1])
    assert calibration_error([Judged.of(model, None, y)]) < 0.005
    always = Stated(np.column_stack([np.full(100, 0.1), np.full(100, 0.9)]), [0, 1])
    y = np.repeat([0, 1], 50)
    assert calibration_error([Judged.of(always, None, y)]) == pytest.approx(0.4)


def test_parts_are_judged_together():
    one, two = judged(40, 3, seed=0), judged(60, 3, seed=1)
    both = Judged(
        np.concatenate([one.right, two.right]),
        np.concatenate([one.probabilities, two.probabilities]),
        one.classes,
        np.concatenate([one.labels, two.labels]),
    )
    assert calibration_error([one, two]) == pytest.approx(calibration_error([both]))


def test_models_without_probabilities_have_an_accuracy():
    class Labels:
        classes_ = np.array([0, 1])

        def predict(self, X):
            return np.array([0, 1, 1, 0])

    part = Judged.of(Labels(), None, np.array([0, 1, 0, 0]))
    assert part.probabilities.size == 0
    assert part.accuracy == 0.75
