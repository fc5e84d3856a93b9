"""Losses that outliers and wrong labels cannot dominate, against SciPy and in what they are for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import CLASSIFIERS, REGRESSORS, name_of, small
from scipy.optimize import brentq, minimize
from scipy.special import log_softmax
from sklearn.datasets import make_classification, make_friedman1
from sklearn.model_selection import GridSearchCV, KFold

import stagenets


def with_outliers(samples=200, share=0.1, seed=0):
    """Friedman's function with noise, and targets of which some are far off."""
    rng = np.random.default_rng(seed)
    X, y = make_friedman1(samples, noise=0.5, random_state=seed)
    wild = rng.random(samples) < share
    return X, np.where(wild, y + rng.choice([-1, 1], samples) * rng.uniform(50, 200, samples), y)


def noisy_labels(samples=300, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X, y = make_classification(samples, 8, n_informative=6, n_classes=3, random_state=seed)
    return X, np.where(rng.random(samples) < share, rng.integers(0, 3, samples), y)


def huber(r, scale):
    most = 1.345 * scale
    return np.where(np.abs(r) <= most, r**2, 2 * most * np.abs(r) - most**2)


def bounded(r, scale):
    most = (2.985 * scale) ** 2
    return most * -np.expm1(-(r**2) / most)


LOSSES = {"huber": huber, "bounded": bounded}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("selection", ["joint", "random"])
@pytest.mark.parametrize("cls", REGRESSORS, ids=name_of)
def test_readout_minimises_the_loss(cls, selection, loss):
    X, y = with_outliers()
    model = small(cls, loss=loss, alpha=1.0, selection=selection).fit(X, y)
    targets = (y - y.mean()) / y.std()
    A = np.hstack([np.ones((len(X), 1)), model.transform(X)])
    if cls is stagenets.RVFLRegressor:
        A = np.hstack([A, (X - X.mean(axis=0)) / X.std(axis=0)])
    fitted = (model.predict(X) - y.mean()) / y.std()
    rho = LOSSES[loss]
    # The scale follows from the reported loss; the readout must then be the best one.
    loss_at = model.residual_path_[-1]
    scale = brentq(lambda s: rho(targets - fitted, s).sum() - loss_at, 1e-6, 10, xtol=1e-15)

    def objective(weights):
        r = targets - A @ weights
        slope = (huber(r + 1e-7, scale) - huber(r - 1e-7, scale)) / 2e-7
        if loss == "bounded":
            slope = 2 * r * np.exp(-((r / (2.985 * scale)) ** 2))
        return rho(r, scale).sum() + weights @ weights, -A.T @ slope + 2 * weights

    start = np.linalg.lstsq(A, fitted, rcond=None)[0]
    found = minimize(objective, start, jac=True, options={"gtol": 1e-9, "maxiter": 5000})
    assert model.objective_path_[-1] == pytest.approx(found.fun, rel=1e-5)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(list(LOSSES)),
    st.floats(-3, 2),
    st.floats(0, 0.4),
    st.integers(1, 3),
    st.sampled_from([np.float64, np.float32]),
)
def test_objective_of_regressors_never_rises(seed, loss, exponent, share, block, dtype):
    X, y = with_outliers(50, share, seed)
    model = stagenets.RVFLRegressor(
        loss=loss, alpha=10**exponent, n_hidden=12, pool_size=10, block_size=block,
        random_state=seed, n_jobs=1,
    ).fit(X.astype(dtype), np.column_stack([y, y[::-1]]))  # fmt: skip
    path = model.objective_path_
    assert (np.diff(path) <= (1e-12 if dtype == np.float64 else 1e-5) * path[:-1]).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.floats(-3, 2), st.booleans())
def test_objective_of_classifiers_never_rises(seed, classes, exponent, several):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    y = rng.integers(0, 2, size=(40, classes)) if several else np.arange(40) % classes
    model = stagenets.ELMClassifier(
        loss="bounded", alpha=10**exponent, n_hidden=10, pool_size=10, random_state=seed, n_jobs=1
    ).fit(X, y)
    path = model.objective_path_
    assert (np.diff(path) <= 1e-12 * path[:-1]).all()


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name_of)
def test_loss_of_classifiers_is_the_generalised_cross_entropy(cls):
    X, y = noisy_labels()
    model = small(cls, loss="bounded", alpha=1.0).fit(X, y)
    losses = -log_softmax(model.decision_function(X), axis=1)[np.arange(len(y)), y]
    assert model.residual_path_[-1] == pytest.approx(((1 - np.exp(-0.7 * losses)) / 0.7).sum())


@pytest.mark.parametrize("loss", LOSSES)
def test_outliers_do_not_spoil_the_fit(loss):
    X, y = with_outliers(600)
    X_test, y_test = make_friedman1(1000, random_state=99)
    squared = stagenets.RVFLRegressor(n_hidden=60, random_state=0).fit(X, y)
    robust = stagenets.RVFLRegressor(n_hidden=60, loss=loss, random_state=0).fit(X, y)
    assert robust.score(X_test, y_test) > 0.8 > squared.score(X_test, y_test) + 0.3


@pytest.mark.parametrize("loss", LOSSES)
def test_without_outliers_the_fit_is_nearly_that_of_squared_errors(loss):
    X, y = with_outliers(600, share=0)
    X_test, y_test = make_friedman1(1000, random_state=99)
    squared = stagenets.RVFLRegressor(n_hidden=60, random_state=0).fit(X, y)
    robust = stagenets.RVFLRegressor(n_hidden=60, loss=loss, random_state=0).fit(X, y)
    assert robust.score(X_test, y_test) > squared.score(X_test, y_test) - 0.01


def test_wrong_labels_do_little_harm():
    X, y = make_classification(1500, 10, n_informative=8, random_state=0, flip_y=0)
    rng = np.random.default_rng(0)
    wrong = np.where(rng.random(750) < 0.4, rng.integers(0, 2, 750), y[:750])
    scores = {
        loss: stagenets.RVFLClassifier(n_hidden=150, alpha=0.1, loss=loss, random_state=0)
        .fit(X[:750], wrong)
        .score(X[750:], y[750:])
        for loss in ("log", "bounded")
    }
    assert scores["bounded"] > scores["log"]


@pytest.mark.parametrize("loss", LOSSES)
def test_integer_weights_are_repeated_samples(loss):
    X, y = with_outliers(80)
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    model = small(stagenets.RVFLRegressor, loss=loss, alpha=1.0)
    weighted = model.fit(X, y, sample_weight=weights).predict(X)
    repeated = model.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).predict(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-4 * y.std())


@pytest.mark.parametrize("loss", LOSSES)
def test_search_finds_what_grid_search_finds(loss):
    X, y = with_outliers(120)
    folds = KFold(3, shuffle=True, random_state=0)
    grid = {"n_hidden": [4, 9], "alpha": [0.1, 1.0]}
    ours = stagenets.RVFLRegressorCV(
        losses=[loss], alphas=grid["alpha"], n_hidden=grid["n_hidden"], cv=folds, random_state=0
    ).fit(X, y)
    theirs = GridSearchCV(stagenets.RVFLRegressor(loss=loss, random_state=0), grid, cv=folds)
    theirs.fit(X, y)
    expected = {
        (params["alpha"], params["n_hidden"]): score
        for params, score in zip(
            theirs.cv_results_["params"], theirs.cv_results_["mean_test_score"], strict=True
        )
    }
    for params, score in zip(
        ours.cv_results_["params"], ours.cv_results_["mean_test_score"], strict=True
    ):
        assert score == pytest.approx(expected[params["alpha"], params["n_hidden"]], abs=1e-3)


def test_files_stages_and_stopping(tmp_path):
    X, y = with_outliers()
    model = stagenets.RVFLRegressor(
        loss="bounded", n_hidden=40, early_stopping="validation", random_state=0
    ).fit(X, y)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(stagenets.load(tmp_path / "model").predict(X), model.predict(X))
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    with pytest.raises(AttributeError, match="losses with a scale cannot be compared"):
        _ = model.loo_path_


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"early_stopping": "loo"}, "early_stopping must be False, 'validation' or 'cv' with"),
        ({"intervals": "cv"}, "intervals must be None with loss='huber'"),
        ({"solver": "dual"}, "solver must be 'auto' or 'primal' with loss='huber'"),
        ({"alpha": 0}, "alpha must be > 0 with loss='huber'"),
    ],
)
def test_what_is_not_possible_is_said(params, message):
    X, y = with_outliers(30)
    with pytest.raises(ValueError, match=message):
        stagenets.RVFLRegressor(loss="huber", **params).fit(X, y)
    with pytest.raises(ValueError, match="loss must be one of 'squared', 'log', 'bounded'"):
        stagenets.RVFLClassifier(loss="huber").fit(X, y > 0)
