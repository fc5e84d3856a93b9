"""The measures a search computes itself, against scikit-learn's scorers."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import get_scorer

import stagenets
from stagenets.search._measures import _OF_ERRORS, _OF_LABELS, direct_judge
from stagenets.search._scoring import judge_by

rng = np.random.default_rng(0)
SPLITS = [(np.arange(30, 60), np.arange(30)), (np.arange(30), np.arange(30, 60))]


def both_judges(scoring, y, classes):
    """The judge of a search, and the one that calls scikit-learn's scorer."""
    slow = judge_by(get_scorer(scoring), np.zeros((60, 1)), y, SPLITS, classes)

    def refuse(*arguments):
        raise AssertionError("computed by scikit-learn")

    return direct_judge(scoring, y, SPLITS, classes, otherwise=refuse), slow


@pytest.mark.parametrize("scale", [1, 100], ids=["mild", "saturated"])
@pytest.mark.parametrize("ties", [False, True], ids=["", "ties"])
@pytest.mark.parametrize(
    ("scoring", "classes"),
    [
        (scoring, classes)
        for scoring in _OF_LABELS
        for classes in ((2,) if scoring in ("f1", "roc_auc") else (2, 3, 5))
    ],
)
def test_measures_of_labels_are_scikit_learns(scoring, classes, ties, scale):
    y = rng.permutation(np.arange(60) % classes)
    fast, slow = both_judges(scoring, y, np.arange(classes))
    for split in (0, 1):
        scores = rng.normal(size=(30, classes)) + (y[SPLITS[split][1], None] == np.arange(classes))
        scores = np.round(scores) if ties else scores
        found, expected = fast(split, scores, scale), slow(split, scores, scale)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("scoring", [*_OF_ERRORS])
def test_measures_of_numbers_are_scikit_learns(scoring, outputs):
    y = rng.normal(size=60) if outputs == 1 else rng.normal(size=(60, outputs))
    fast, slow = both_judges(scoring, y, None)
    scores = rng.normal(size=(30, outputs))
    assert fast(1, scores, 1.0) == pytest.approx(slow(1, scores, 1.0), rel=1e-12)


def test_a_class_that_a_fold_lacks_is_left_out_of_the_means():
    y = np.repeat([0, 1, 2], 20)  # the first fold has no class 2
    for scoring in ("balanced_accuracy", "f1_macro", "f1_weighted"):
        fast, slow = both_judges(scoring, y, np.arange(3))
        scores = rng.normal(size=(30, 3))
        scores[:, 2] -= 9  # and nobody predicts it
        assert fast(0, scores, 1.0) == pytest.approx(slow(0, scores, 1.0), rel=1e-12)


@pytest.mark.parametrize(
    ("scoring", "y", "classes"),
    [
        ("roc_auc", np.repeat([0, 1, 2], 20), np.arange(3)),
        ("roc_auc_ovr", np.repeat([0, 1, 2], 20), np.arange(3)),
        ("neg_log_loss", np.repeat([0, 1, 2], 20), np.arange(3)),
        ("f1", np.array(["a", "b"] * 30), np.array(["a", "b"])),
        ("f1", np.array([1, 2] * 30), np.array([1, 2])),
        ("recall_macro", np.repeat([0, 1, 2], 20), np.arange(3)),
        (get_scorer("f1_macro"), np.repeat([0, 1, 2], 20), np.arange(3)),
        ("max_error", rng.normal(size=60), None),
    ],
)
def test_what_does_not_apply_is_left_to_scikit_learn(scoring, y, classes):
    judge = direct_judge(scoring, y, SPLITS, classes, otherwise=lambda *arguments: 42.0)
    assert judge(0, np.zeros((30, 3)), 1.0) == 42.0


def test_a_search_finds_what_the_scorer_as_a_function_finds():
    X, y = make_classification(90, 6, n_informative=4, n_classes=3, random_state=0)
    for scoring in ("neg_log_loss", "balanced_accuracy"):
        found, expected = (
            stagenets.RVFLClassifierCV(
                alphas=[0.1, 10], max_hidden=6, cv=3, scoring=scorer, random_state=0
            ).fit(X, y)
            for scorer in (scoring, get_scorer(scoring))
        )
        a, b = (search.cv_results_["mean_test_score"] for search in (found, expected))
        np.testing.assert_allclose(a, b, rtol=1e-12)
        assert found.best_params_ == expected.best_params_
