"""Readouts that minimise the penalised log-loss, against scikit-learn and brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, log_softmax, softmax
from sklearn.datasets import (
    load_iris,
    load_wine,
    make_classification,
    make_multilabel_classification,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import stagenets

MODELS = [stagenets.RVFLClassifier, stagenets.ELMClassifier, stagenets.BLSClassifier]
BLS_SIZES = {"n_windows": 2, "n_feature_nodes": 3, "n_enhancement": 12}


def sizes(model, units):
    return BLS_SIZES if model is stagenets.BLSClassifier else {"n_hidden": units}


def data(classes=3, samples=150, seed=0):
    return make_classification(
        samples, 8, n_informative=6, n_classes=classes, random_state=seed, class_sep=0.7
    )


def design(model, X):
    """The columns that the readout weighs, with inputs standardised as in the fit."""
    columns = [np.ones((len(X), 1)), model.transform(X)]
    if isinstance(model, stagenets.RVFLClassifier):
        columns.insert(1, (X - X.mean(axis=0)) / X.std(axis=0))
    return np.hstack(columns)


def objective(A, readout, y, alpha):
    scores = A @ readout
    return -log_softmax(scores, axis=1)[np.arange(len(y)), y].sum() + alpha / 2 * (readout**2).sum()


def optimum(A, y, alpha):
    """The least objective, by scikit-learn."""
    classes = len(np.unique(y))
    # Two classes have one vector of weights there, ours are its halves with opposite signs.
    strength = 1 / alpha if classes > 2 else 2 / alpha
    found = LogisticRegression(C=strength, fit_intercept=False, tol=1e-10, max_iter=20_000).fit(
        A, y
    )
    weights = found.coef_ if classes > 2 else np.vstack([-found.coef_, found.coef_]) / 2
    return objective(A, weights.T, y, alpha)


@pytest.mark.parametrize("selection", ["residual", "joint", "random"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("model", MODELS)
def test_objective_is_that_of_logistic_regression(model, classes, selection):
    X, y = data(classes)
    fitted = model(
        loss="log", alpha=0.5, selection=selection, random_state=0, **sizes(model, 20)
    ).fit(X, y)
    least = optimum(design(fitted, X), y, 0.5)
    assert fitted.objective_path_[-1] == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("alpha", [1e-3, 1e-1, 1e3])
def test_objective_over_a_wide_range_of_penalties(alpha):
    X, y = load_iris(return_X_y=True)
    fitted = stagenets.RVFLClassifier(loss="log", alpha=alpha, n_hidden=15, random_state=0).fit(
        X, y
    )
    least = optimum(design(fitted, X), y, alpha)
    assert fitted.objective_path_[-1] <= least * (1 + 1e-5) + 1e-6
    assert np.isfinite(fitted.readout_).all()


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("alpha", [3.0, 0.01])
def test_readout_is_the_optimum_to_rounding(alpha, classes):
    """At the optimum, penalty times readout is what the errors pull: F = A Aᵀ (Y − P) / alpha."""
    X, y = data(classes)
    fitted = stagenets.RVFLClassifier(loss="log", alpha=alpha, n_hidden=30, random_state=0)
    scores, chances = fitted.fit(X, y).decision_function(X), fitted.predict_proba(X)
    A = design(fitted, X)
    pulled = A @ (A.T @ (np.eye(classes)[y] - chances)) / alpha
    if classes == 2:
        pulled = pulled[:, 1] - pulled[:, 0]
    np.testing.assert_allclose(scores, pulled, rtol=0, atol=1e-8 * np.abs(scores).max())


def test_several_labels_are_fitted_to_rounding():
    X, Y = make_multilabel_classification(150, 8, n_classes=4, random_state=0)
    fitted = stagenets.RVFLClassifier(loss="log", alpha=0.1, n_hidden=20, random_state=0).fit(X, Y)
    scores = fitted.decision_function(X) + fitted.thresholds_
    A = design(fitted, X)
    pulled = A @ (A.T @ (Y - expit(scores))) / 0.1
    np.testing.assert_allclose(scores, pulled, rtol=0, atol=1e-8 * np.abs(scores).max())


def test_objective_path_is_that_of_the_staged_networks():
    X, y = data()
    fitted = stagenets.ELMClassifier(loss="log", alpha=0.3, n_hidden=25, random_state=0).fit(X, y)
    for loss, scores in zip(fitted.residual_path_, fitted.staged_decision_function(X), strict=True):
        own = -log_softmax(scores, axis=1)[np.arange(len(y)), y].sum()
        assert loss == pytest.approx(own, rel=1e-9)


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(2, 5),
    st.integers(20, 60),
    st.floats(-4, 3),
    st.integers(1, 4),
    st.sampled_from([np.float64, np.float32]),
)
def test_objective_never_rises(seed, classes, samples, exponent, block, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(samples, 3)).astype(dtype)
    y = np.r_[np.arange(classes), rng.integers(0, classes, samples - classes)]
    model = stagenets.RVFLClassifier(
        loss="log",
        alpha=10**exponent,
        n_hidden=12,
        pool_size=10,
        block_size=block,
        random_state=seed,
        n_jobs=1,
    ).fit(X, y)
    path = model.objective_path_
    assert (np.diff(path) <= (1e-12 if dtype == np.float64 else 1e-5) * path[:-1]).all()
    assert np.isfinite(model.predict_proba(X)).all()


def test_probabilities_are_the_softmax_of_the_scores():
    X, y = data()
    fitted = stagenets.RVFLClassifier(loss="log", n_hidden=10, random_state=0).fit(X, y)
    assert fitted.temperature_ == 1
    np.testing.assert_allclose(
        fitted.predict_proba(X), softmax(fitted.decision_function(X), axis=1), atol=1e-15
    )


def test_separable_classes_stay_finite_and_hundred_classes_are_learned():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(100), 4)
    X = np.c_[y % 10, y // 10] + 0.05 * rng.normal(size=(400, 2))
    fitted = stagenets.ELMClassifier(loss="log", alpha=1e-3, n_hidden=80, random_state=0).fit(X, y)
    assert fitted.score(X, y) > 0.95
    assert np.isfinite(fitted.readout_).all()


def test_three_rings_are_told_apart():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 200)
    angle, radius = rng.uniform(0, 2 * np.pi, 600), 1 + y + 0.2 * rng.normal(size=600)
    X = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    fitted = stagenets.RVFLClassifier(loss="log", alpha=0.1, random_state=0).fit(X[::2], y[::2])
    assert fitted.score(X[1::2], y[1::2]) > 0.93


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_log_loss_is_at_most_that_of_logistic_regression(load):
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours, theirs = [], []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model = stagenets.RVFLClassifier(loss="log", alpha=1, random_state=0)
        ours.append(log_loss(y[test], model.fit(X[train], y[train]).predict_proba(X[test])))
        linear = LogisticRegression().fit(X[train], y[train])
        theirs.append(log_loss(y[test], linear.predict_proba(X[test])))
    assert np.mean(ours) < np.mean(theirs) + 0.01


@pytest.mark.parametrize("units", [12, 80])
@pytest.mark.parametrize(("classes", "alpha"), [(2, 0.3), (2, 10.0), (3, 0.3), (3, 3.0)])
def test_leave_one_out_estimate_against_brute_force(classes, alpha, units):
    X, y = data(classes, 50)
    model = stagenets.ELMClassifier(
        loss="log", alpha=alpha, n_hidden=units, random_state=0, selection="residual"
    ).fit(X, y)
    A = design(model, X)
    strength = 1 / alpha if classes > 2 else 2 / alpha
    losses = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        found = LogisticRegression(C=strength, fit_intercept=False, tol=1e-8, max_iter=5000)
        found.fit(A[rest], y[rest])
        losses.append(-found.predict_log_proba(A[i : i + 1])[0, y[i]])
    training = model.residual_path_[-1] / len(y)
    # The estimate is a small part of the way from the training loss off.
    assert abs(model.loo_path_[-1] - np.mean(losses)) < 0.12 * (np.mean(losses) - training)


@pytest.mark.parametrize("stopping", ["loo", "validation", "cv"])
def test_early_stopping(stopping):
    X, y = data(3, 300)
    y[::4] = np.random.default_rng(0).integers(0, 3, 75)
    model = stagenets.RVFLClassifier(
        loss="log", alpha=0.01, n_hidden=60, early_stopping=stopping, random_state=0
    ).fit(X, y)
    assert 1 <= model.n_hidden_ < 60
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))


@pytest.mark.parametrize("selection", ["residual", "random"])
def test_search_finds_what_grid_search_finds(selection):
    X, y = data(3, 120)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    grid = {"n_hidden": [3, 7, 12], "alpha": [0.1, 1.0]}
    ours = stagenets.RVFLClassifierCV(
        losses=["log"],
        alphas=grid["alpha"],
        n_hidden=grid["n_hidden"],
        selections=[selection],
        block_sizes=[2],
        cv=folds,
        scoring="neg_log_loss",
        random_state=0,
    ).fit(X, y)
    theirs = GridSearchCV(
        stagenets.RVFLClassifier(
            loss="log", selection=selection, block_size=2, random_state=0, n_jobs=1
        ),
        grid,
        cv=folds,
        scoring="neg_log_loss",
    ).fit(X, y)
    by_params = {
        (params["alpha"], params["n_hidden"]): score
        for params, score in zip(
            theirs.cv_results_["params"], theirs.cv_results_["mean_test_score"], strict=True
        )
    }
    for params, score in zip(
        ours.cv_results_["params"], ours.cv_results_["mean_test_score"], strict=True
    ):
        assert score == pytest.approx(by_params[params["alpha"], params["n_hidden"]], abs=1e-4)


@pytest.mark.parametrize("selection", ["residual", "random"])
def test_search_over_broad_networks_with_and_without_enhancement(selection):
    X, y = data(3, 90)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    own = {"n_windows": 2, "n_feature_nodes": 4, "selection": selection}
    ours = stagenets.BLSClassifierCV(
        losses=["log"],
        alphas=[1.0],
        n_enhancement=[0, 4],
        cv=folds,
        scoring="neg_log_loss",
        random_state=0,
        refit=False,
        **{name + "s" if name == "selection" else name: [value] for name, value in own.items()},
    ).fit(X, y)
    theirs = GridSearchCV(
        stagenets.BLSClassifier(loss="log", alpha=1.0, random_state=0, **own),
        {"n_enhancement": [0, 4]},
        cv=folds,
        scoring="neg_log_loss",
    ).fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-4
    )


@pytest.mark.parametrize("selection", ["residual", "random"])
def test_search_over_custom_weights(selection):
    def draw(rng, pool_size, n_features):
        return rng.normal(size=(n_features, pool_size)), rng.normal(size=pool_size)

    X, y = data(2, 60)
    scores = [
        stagenets.RVFLClassifierCV(
            losses=["log"], alphas=[1.0], n_hidden=[4, 9], selections=[selection], cv=3,
            scoring=scoring, weight_inits=[draw], refit=False, random_state=0,
        ).fit(X, y).best_score_
        for scoring in ("neg_log_loss", "accuracy")
    ]  # fmt: skip
    assert scores[0] > -0.69 and scores[1] > 0.5


def test_single_precision_and_threads():
    X, y = data(3, 400)
    model = stagenets.RVFLClassifier(loss="log", n_hidden=30, random_state=0)
    double = model.fit(X, y).predict_proba(X)
    single = model.fit(X.astype(np.float32), y).predict_proba(X.astype(np.float32))
    assert abs(double - single).max() < 1e-2
    alone = stagenets.RVFLClassifier(loss="log", n_hidden=30, random_state=0, n_jobs=1).fit(X, y)
    four = stagenets.RVFLClassifier(loss="log", n_hidden=30, random_state=0, n_jobs=4).fit(X, y)
    np.testing.assert_array_equal(alone.readout_, four.readout_)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of 'squared', 'log', 'bounded'; got 'hinge'"),
        ({"loss": "log", "alpha": 0}, "alpha must be > 0 with loss='log'; got 0"),
        ({"loss": "log", "solver": "dual"}, "solver must be 'auto' or 'primal' with loss='log'"),
    ],
)
def test_what_is_not_possible_is_said(params, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        stagenets.RVFLClassifier(**params).fit(X, y)


def test_regressors_have_no_log_loss():
    with pytest.raises(
        ValueError, match="loss must be one of 'squared', 'huber', 'bounded'; got 'log'"
    ):
        stagenets.RVFLRegressor(loss="log").fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])


def test_newtons_method_is_not_led_astray_by_single_precision():
    """Only a tiny penalty keeps these scores from infinity: one fit in thirty was ruined."""
    for seed in range(120):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rng.integers(8, 20), 3)).astype(np.float32)
        y = rng.permutation(np.arange(len(X)) % 2)
        model = stagenets.RVFLClassifier(alpha=1e-12, n_hidden=6, pool_size=8, random_state=0)
        model.fit(X, y)
        assert (np.diff(model.objective_path_) <= 0).all()
        margins = ((2 * y - 1) * scores for scores in model.staged_decision_function(X))
        losses = [np.logaddexp(0, -margin).mean() for margin in margins]
        assert losses[-1] < max(1e-3, 1.01 * losses[-2])
