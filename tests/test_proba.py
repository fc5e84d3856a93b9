"""Class probabilities: softmax of scores, at the temperature that leave-one-out scores ask for."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import problems
import reference
from stagenets import RVFLClassifier


def likeliest_temperature(scores, y):
    """The root of the derivative of the log-likelihood, which is concave in the temperature."""

    def slope(temperature):
        expected = np.sum(softmax(temperature * scores, axis=1) * scores, axis=1)
        return np.sum(scores[np.arange(len(y)), y] - expected)

    return brentq(slope, 1e-6, 1e6, xtol=1e-12, rtol=1e-14)


def oracle(cls, X, y, **params):
    targets = reference.one_hot(y)
    common = {"seed": 0, "pool_size": 10, **params}
    if cls in problems.BLS:
        return reference.fit_bls(X, targets, **problems.SMALL_BLS, **common)
    direct = cls.__name__.startswith("RVFL")
    return reference.fit_affine(X, targets, direct=direct, n_hidden=12, **common)


@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(("n", "seed"), [(14, 11), (60, 3)])  # neither separable nor hopeless
@pytest.mark.parametrize("selection", ["residual", "random"])
def test_temperature_is_the_likeliest_on_leave_one_out_scores(
    cls, solver, n_classes, n, seed, selection
):
    X, y = problems.data_for(cls, n, n_outputs=n_classes, seed=seed)
    expected = oracle(cls, X, y, alpha=0.4, selection=selection).growth
    held_out = reference.leave_one_out_scores(expected.design, expected.targets, 0.4)
    model = problems.small(cls, alpha=0.4, solver=solver, selection=selection).fit(X, y)
    assert model.temperature_ == pytest.approx(likeliest_temperature(held_out, y), rel=1e-6)


@pytest.mark.parametrize("selection", ["residual", "random"])
def test_temperature_of_many_rows_is_from_some_of_them(selection):
    n, most, alpha = 5000, 4096, 0.4
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 4))
    y = np.digitize(X[:, 0] + rng.normal(size=n), [-0.7, 0.7])
    growth = oracle(RVFLClassifier, X, y, alpha=alpha, selection=selection).growth
    A, targets = growth.design, growth.targets
    inverse = np.linalg.inv(A.T @ A + alpha * np.eye(A.shape[1]))
    leverage = np.einsum("ij,jk,ik->i", A, inverse, A)
    residual = targets - A @ (inverse @ (A.T @ targets))
    held_out = targets - residual / (1 - leverage)[:, None]
    rows = np.arange(most) * n // most
    model = problems.small(RVFLClassifier, alpha=alpha, selection=selection).fit(X, y)
    expected = likeliest_temperature(held_out[rows], y[rows])
    assert model.temperature_ == pytest.approx(expected, rel=1e-6)
    assert model.temperature_ != pytest.approx(likeliest_temperature(held_out, y), rel=1e-6)


@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_are_softmax_of_tempered_scores(cls, n_classes):
    X, y = problems.data_for(cls, n_outputs=n_classes)
    model = problems.small(cls).fit(X, y)
    scores = oracle(cls, X, y).scores(X)
    probabilities = model.predict_proba(X)
    expected = softmax(model.temperature_ * scores, axis=1)
    np.testing.assert_allclose(probabilities, expected, atol=1e-7)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_array_equal(np.argmax(probabilities, axis=1), model.predict(X))


@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
@pytest.mark.parametrize("alpha", [1e-10, 1.0, 1e10])
@pytest.mark.parametrize("kind", ["separable", "noise"])
def test_probabilities_stay_valid_at_the_extremes(cls, alpha, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = (X[:, 0] > 0).astype(int) if kind == "separable" else rng.integers(0, 2, 50)
    X[:, 0] += 20 * y if kind == "separable" else 0
    model = problems.small(cls, alpha=alpha).fit(X, y)
    assert 0 < model.temperature_ < np.inf
    for rows in (X, 1e3 * X):
        probabilities = model.predict_proba(rows)
        assert ((probabilities >= 0) & (probabilities <= 1)).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
def test_log_probabilities_are_the_logs_of_the_probabilities(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y)
    expected = log_softmax(model.temperature_ * model.decision_function(X), axis=1)
    np.testing.assert_allclose(model.predict_log_proba(X), expected, atol=1e-9)


def split_digits(seed):
    X, y = load_digits(return_X_y=True)
    return train_test_split(X / 16, y, stratify=y, random_state=seed)


@cache
def logistic_loss(seed):
    X, X_test, y, y_test = split_digits(seed)
    return log_loss(y_test, LogisticRegression(max_iter=2000).fit(X, y).predict_proba(X_test))


@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
@pytest.mark.parametrize("seed", [4, 5, 6])
def test_log_loss_on_held_out_digits_rivals_logistic_regression(cls, seed):
    """Both see pixels on [0, 1]: standardised, the nearly blank border pixels become outliers.

    These settings were chosen on splits 0 to 3, where the defaults miss the bar (0.23 against
    0.11 for an RVFL on split 0); the splits here had no part in the choice.
    """
    X, X_test, y, y_test = split_digits(seed)
    size = {"n_enhancement": 500} if cls in problems.BLS else {}
    model = cls(standardize=False, random_state=seed, **size).fit(X, y)
    assert log_loss(y_test, model.predict_proba(X_test)) <= 1.1 * logistic_loss(seed)
