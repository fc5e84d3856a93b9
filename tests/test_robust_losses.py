"""Losses that outliers and wrong labels cannot dominate, against SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_expit, log_softmax
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import make_classification, make_friedman1
from sklearn.metrics import d2_absolute_error_score
from sklearn.model_selection import GridSearchCV, KFold

import stagenets
from problems import CLASSIFIERS, REGRESSORS, name_of, small
from stagenets.fitting._stopping import _validation_rows, folds_of

CLIP, MOST, BEND = 1.345, 2.985**2, 0.7
# E min(z², CLIP²) of a standard normal z.
NORMAL = norm.expect(lambda z: np.minimum(z**2, CLIP**2))


def with_outliers(samples=150, share=0.1, seed=0):
    """Friedman's function with noise, and targets of which some are far off."""
    rng = np.random.default_rng(seed)
    X, y = make_friedman1(samples, 6, noise=0.5, random_state=seed)
    wild = rng.random(samples) < share
    return X, np.where(wild, y + rng.choice([-1, 3], samples) * rng.uniform(50, 200, samples), y)


def wrong_labels(samples=200, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X, y = make_classification(samples, 8, n_informative=6, n_classes=3, random_state=seed)
    return X, np.where(rng.random(samples) < share, rng.integers(0, 3, samples), y)


def design(model, X, weights=None):
    """The columns that the readout weighs, with inputs standardised as in the fit."""
    columns = [np.ones((len(X), 1)), model.transform(X)]
    if isinstance(model, stagenets.RVFLRegressor | stagenets.RVFLClassifier):
        mean = np.average(X, axis=0, weights=weights)
        scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
        columns.append((X - mean) / scale)
    return np.hstack(columns)


def scaled(y):
    """Targets as a fit sees them: about their median, in units of its normal deviation."""
    middle = np.sort(y)[len(y) // 2]
    return (y - middle) / (1.4826 * np.sort(np.abs(y - middle))[len(y) // 2])


def huber(z):
    size = np.abs(z)
    return np.where(size > CLIP, 2 * CLIP * size - CLIP**2, z**2), 2 * np.clip(z, -CLIP, CLIP)


def bounded(z):
    factor = np.exp(-(z**2) / MOST)
    return MOST * (1 - factor), 2 * z * factor


def regression_objective(rho, A, t, readout, scale, alpha):
    """The objective of one output, and its derivatives by readout and scale."""
    z = (t - A @ readout) / scale
    losses, slopes = rho(z)
    penalty = alpha * readout @ readout / scale
    value = scale * (len(t) * NORMAL + losses.sum()) + penalty
    by_scale = len(t) * NORMAL + losses.sum() - z @ slopes - penalty / scale
    return value, -A.T @ slopes + 2 * alpha * readout / scale, by_scale


def least_huber(A, t, alpha):
    """Readout and scale of the least Huber objective, by SciPy."""

    def objective(x):
        value, by_readout, by_scale = regression_objective(
            huber, A, t, x[:-1], np.exp(x[-1]), alpha
        )
        return value, np.append(by_readout, by_scale * np.exp(x[-1]))

    found = minimize(
        objective, np.zeros(A.shape[1] + 1), jac=True, options={"gtol": 1e-9, "maxiter": 5000}
    )
    return found.x[:-1], np.exp(found.x[-1]), found.fun


@pytest.mark.parametrize("selection", ["residual", "joint", "random"])
@pytest.mark.parametrize("cls", REGRESSORS, ids=name_of)
def test_huber_readout_and_scale_are_the_best(cls, selection):
    X, y = with_outliers()
    model = small(cls, loss="huber", alpha=0.3, selection=selection).fit(X, y)
    A, t = design(model, X), scaled(y)
    readout, _, least = least_huber(A, t, 0.3)
    assert model.objective_path_[-1] == pytest.approx(least, rel=1e-6)
    expected = np.median(y) + (A @ readout) * np.median(np.abs(y - np.median(y))) * 1.4826
    np.testing.assert_allclose(model.predict(X), expected, atol=0.05 * y.std(), rtol=0)


@pytest.mark.parametrize("cls", REGRESSORS, ids=name_of)
def test_bounded_readout_is_a_minimum_at_the_scale_of_huber(cls):
    X, y = with_outliers()
    model = small(cls, loss="bounded", alpha=0.3).fit(X, y)
    A, t = design(model, X), scaled(y)
    start, scale, _ = least_huber(A, t, 0.3)
    found = minimize(
        lambda w: regression_objective(bounded, A, t, w, scale, 0.3)[:2], start, jac=True,
        method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
    )  # fmt: skip
    # The scale has an error of the root of the tolerance, which is 1e-8 of the objective.
    assert model.objective_path_[-1] == pytest.approx(found.fun, rel=1e-4)


def test_targets_are_fitted_one_by_one():
    X, y = with_outliers()
    other = 1e-3 * X[:, 0] + 7
    both = small(stagenets.ELMRegressor, loss="huber", selection="random")
    both = both.fit(X, np.column_stack([y, other])).predict(X)
    for column, target in zip(both.T, (y, other), strict=True):
        alone = small(stagenets.ELMRegressor, loss="huber", selection="random").fit(X, target)
        np.testing.assert_allclose(column, alone.predict(X), atol=2e-4 * target.std())


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name_of)
def test_bounded_classifier_is_at_a_minimum(cls, several):
    X, y = wrong_labels()
    labels = np.eye(3, dtype=int)[y] if several else y
    model = small(cls, loss="bounded", alpha=1.0).fit(X, labels)
    A, right = design(model, X), np.eye(3)[y]

    def objective(flat):
        readout = flat.reshape(-1, 3)
        if several:
            losses = -log_expit((2 * right - 1) * (A @ readout))
        else:
            losses = -(log_softmax(A @ readout, axis=1) * right).sum(axis=1, keepdims=True)
        return ((1 - np.exp(-BEND * losses)) / BEND).sum() + (readout**2).sum() / 2

    readout = np.linalg.lstsq(A, model.decision_function(X), rcond=None)[0].ravel()
    assert model.objective_path_[-1] == pytest.approx(objective(readout), rel=1e-6)
    better = minimize(objective, readout, options={"maxiter": 30})
    assert better.fun >= model.objective_path_[-1] * (1 - 1e-5)
    np.testing.assert_allclose(model.temperature_, 1)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["huber", "bounded"]),
    st.floats(-3, 2),
    st.floats(0, 0.45),
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


@settings(max_examples=15, deadline=None)
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


@pytest.mark.parametrize("loss", ["huber", "bounded"])
def test_outliers_neither_spoil_the_fit_nor_choose_units(loss):
    X, y = with_outliers(400)
    clean = make_friedman1(400, 6, noise=0.5, random_state=0)[1]
    X_test, y_test = make_friedman1(500, 6, random_state=99)
    model = stagenets.RVFLRegressor(n_hidden=40, alpha=3.0, random_state=0)
    robust = clone(model).set_params(loss=loss).fit(X, y)
    assert robust.score(X_test, y_test) > 0.85
    assert model.fit(X, y).score(X_test, y_test) < 0.5
    assert robust.score(X_test, y_test) > model.fit(X, clean).score(X_test, y_test) - 0.1


@pytest.mark.parametrize("unit", [1, 1e-150, 1e150])
def test_without_large_errors_the_readout_is_that_of_least_squares(unit):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 2))
    y = X[:, 0] + rng.choice([-0.1, 0.1], 400)
    model = small(stagenets.RVFLRegressor, selection="random", alpha=1e-6, n_hidden=2)
    squared = clone(model).fit(X, y).predict(X)
    assert np.abs(y - squared).max() < CLIP * np.sqrt(((y - squared) ** 2).mean() / NORMAL)
    robust = clone(model).set_params(loss="huber").fit(X, unit * y).predict(X) / unit
    np.testing.assert_allclose(robust, squared, atol=1e-5)


@pytest.mark.parametrize("loss", ["huber", "bounded"])
@pytest.mark.parametrize("cls", [stagenets.RVFLRegressor, stagenets.BLSRegressor], ids=name_of)
def test_integer_weights_are_repeated_samples(cls, loss):
    X, y = with_outliers(80)
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    model = small(cls, loss=loss, alpha=1.0)
    weighted = model.fit(X, y, sample_weight=weights).predict(X)
    repeated = model.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).predict(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-6 * y.std())


def test_integer_weights_are_repeated_samples_of_classes():
    X, y = wrong_labels(80)
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    model = small(stagenets.RVFLClassifier, loss="bounded", alpha=1.0)
    weighted = model.fit(X, y, sample_weight=weights).predict_proba(X)
    repeated = model.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).predict_proba(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-6)


@pytest.mark.parametrize(
    ("search", "loss"),
    [
        (stagenets.RVFLRegressorCV, "huber"),
        (stagenets.ELMRegressorCV, "bounded"),
        (stagenets.RVFLClassifierCV, "bounded"),
    ],
)
def test_search_finds_what_grid_search_finds(search, loss):
    labels = search is stagenets.RVFLClassifierCV
    X, y = wrong_labels(100) if labels else with_outliers(100)
    folds = KFold(2, shuffle=True, random_state=0)
    grid = {"n_hidden": [4, 9], "alpha": [0.1, 1.0]}
    scoring = "accuracy" if labels else "neg_mean_absolute_error"
    ours = search(
        losses=["squared", loss], alphas=grid["alpha"], n_hidden=grid["n_hidden"],
        selections=["joint"], cv=folds, scoring=scoring, random_state=0,
    ).fit(X, y)  # fmt: skip
    model = search._estimator(loss=loss, random_state=0)
    theirs = GridSearchCV(model, grid, cv=folds, scoring=scoring).fit(X, y)
    results = theirs.cv_results_
    expected = {
        (params["alpha"], params["n_hidden"]): score
        for params, score in zip(results["params"], results["mean_test_score"], strict=True)
    }
    for params, score in zip(
        ours.cv_results_["params"], ours.cv_results_["mean_test_score"], strict=True
    ):
        if params["loss"] == loss:
            wanted = expected[params["alpha"], params["n_hidden"]]
            assert score == pytest.approx(wanted, rel=1e-4, abs=0.011 if labels else 0)


@pytest.mark.parametrize("loss", ["huber", "bounded"])
def test_stages_stopping_files_and_sources(loss, tmp_path):
    X, y = with_outliers(200)
    model = stagenets.RVFLRegressor(
        loss=loss, n_hidden=30, alpha=1.0, early_stopping="validation", random_state=0
    ).fit(X, y)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(stagenets.load(tmp_path / "model").predict(X), model.predict(X))
    *_, last = model.staged_predict(X)
    np.testing.assert_allclose(last, model.predict(X), rtol=1e-9)
    names: dict[str, object] = {}
    exec(stagenets.to_numpy_source(model), names)
    np.testing.assert_allclose(names["predict"](X), model.predict(X), rtol=1e-9)
    by_loo = clone(model).set_params(early_stopping="loo").fit(X, y)
    assert by_loo.best_iter_ == np.argmin(by_loo.loo_path_)


def test_samples_set_aside_are_judged_by_absolute_errors():
    X, y = with_outliers(100)
    Y = np.column_stack([y, X[:, 0]])
    model = stagenets.ELMRegressor(
        loss="huber", n_hidden=15, alpha=1.0, early_stopping="validation", random_state=0
    ).fit(X, Y)
    aside = _validation_rows(model, len(X), None)
    # The last readout of the path is converged, after it was judged.
    staged = list(model.staged_predict(X))[:-1]
    for score, predicted in zip(model.validation_path_, staged, strict=False):
        assert score == pytest.approx(d2_absolute_error_score(Y[aside], predicted[aside]))


def test_sizes_are_judged_by_absolute_errors():
    X, y = with_outliers(80)
    model = stagenets.ELMRegressor(
        loss="bounded", n_hidden=6, alpha=1.0, early_stopping="cv", random_state=0
    ).fit(X, y)
    for size, found in zip(model.cv_sizes_, model.cv_path_, strict=True):
        scores = []
        for train, test in folds_of(model, len(X), None, None):
            alone = stagenets.ELMRegressor(
                loss="bounded", n_hidden=int(size), alpha=1.0, random_state=0
            ).fit(X[train], y[train])
            scores.append(d2_absolute_error_score(y[test], alone.predict(X[test])))
        assert found == pytest.approx(np.mean(scores), abs=1e-4)


def test_left_out_loss_is_near_that_of_fits_without_the_sample():
    X, y = with_outliers(40)
    model = small(stagenets.ELMRegressor, loss="huber", alpha=1.0, n_hidden=4, block_size=4)
    fitted = clone(model).fit(X, y)
    A, t = design(fitted, X), scaled(y)
    _, scale, _ = least_huber(A, t, 1.0)
    losses = []
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        readout, _, _ = least_huber(A[others], t[others], 1.0)
        losses.append(scale * (NORMAL + huber((t[i] - A[i] @ readout) / scale)[0]))
    assert fitted.loo_path_[-1] == pytest.approx(np.mean(losses), rel=0.05)


def test_automatic_penalty_and_size_work_with_outliers():
    X, y = with_outliers(300)
    X_test, y_test = make_friedman1(300, 6, random_state=99)
    model = stagenets.ELMRegressor(loss="huber", random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.8
    assert model.cv_path_.max() < 1


def test_huber_fits_more_inputs_than_samples_and_graphs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 40))
    y = X[:, 0] + np.where(np.arange(20) == 3, 100, 0)
    wide = small(stagenets.RVFLRegressor, loss="huber", alpha=1.0).fit(X, y)
    A, t = design(wide, X), scaled(y)
    assert wide.objective_path_[-1] == pytest.approx(least_huber(A, t, 1.0)[2], rel=1e-6)
    graph = small(stagenets.RVFLRegressor, loss="huber", alpha=1.0, unlabeled=np.nan, manifold=0.1)
    y[-5:] = np.nan
    path = graph.fit(X, y).objective_path_
    assert (np.diff(path) <= 1e-12 * path[:-1]).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"solver": "dual"}, "solver must be 'auto' or 'primal' with loss='huber'"),
        ({"alpha": 0}, "alpha must be > 0 with loss='huber'"),
        ({"intervals": "loo"}, "intervals must be None with loss='huber'"),
    ],
)
def test_what_is_not_possible_is_said(params, message):
    X, y = with_outliers(30)
    with pytest.raises(ValueError, match=message):
        stagenets.RVFLRegressor(loss="huber", **params).fit(X, y)


def test_losses_of_the_other_kind_are_refused():
    X, y = with_outliers(30)
    with pytest.raises(ValueError, match="loss must be one of 'squared', 'huber', 'bounded'"):
        stagenets.RVFLRegressor(loss="log").fit(X, y)
    with pytest.raises(ValueError, match="loss must be one of 'squared', 'log', 'bounded'"):
        stagenets.RVFLClassifier(loss="huber").fit(X, y > 0)
    with pytest.raises(AttributeError, match="partial_fit"):
        stagenets.RVFLRegressor(loss="huber").partial_fit(X, y)
