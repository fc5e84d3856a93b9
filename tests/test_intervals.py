"""Deviations, intervals and sets: against ridge regression written out, refits and frequencies."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import stagenets
from problems import CLASSIFIERS, REGRESSORS, data_for, name_of, small

rng = np.random.default_rng(0)


def design_of(model, X, X_train):
    """What the readout of a network is penalised on, for rows within the training range."""
    links = type(model).__name__.startswith("RVFL")
    scaled = (X - X_train.mean(axis=0)) / X_train.std(axis=0)
    parts = [np.ones((len(X), 1)), scaled] if links else [np.ones((len(X), 1))]
    return np.hstack([*parts, model.transform(X)])


@pytest.mark.parametrize("params", [{}, {"selection": "random"}, {"solver": "dual"}], ids=str)
@pytest.mark.parametrize("cls", REGRESSORS, ids=name_of)
def test_deviations_are_those_of_the_ridge_posterior(cls, params):
    X, y = data_for(cls, 70, n_outputs=2)
    model = small(cls, alpha=0.7, standardize=True, intervals="loo", **params).fit(X, y)
    A, center, scale = design_of(model, X, X), y.mean(axis=0), y.std(axis=0)
    T = (y - center) / scale
    inverse = np.linalg.inv(A.T @ A + 0.7 * np.eye(A.shape[1]))
    # Marginally, targets are N(0, noise (I + A Aᵀ / alpha)); the noise has a closed form.
    covariance = np.eye(len(A)) + A @ A.T / 0.7
    noise = np.array([t @ np.linalg.solve(covariance, t) for t in T.T]) / len(A)
    X_new = X[:9] * 0.99 + 0.01 * X.mean(axis=0)
    B = design_of(model, X_new, X)
    expected = scale * np.sqrt(noise * (1 + np.sum(B @ inverse * B, axis=1))[:, None])
    prediction, std = model.predict(X_new, return_std=True)
    np.testing.assert_array_equal(prediction, model.predict(X_new))
    np.testing.assert_allclose(std, expected, rtol=1e-8)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
def test_intervals_come_from_the_errors_of_refits_without_each_row(coverage):
    X, y = data_for(stagenets.RVFLRegressor, 50, n_outputs=1)
    y = y[:, 0]
    model = small(stagenets.RVFLRegressor, standardize=True, intervals="loo").fit(X, y)
    A, T = design_of(model, X, X), (y - y.mean()) / y.std()
    eye = model.alpha * np.eye(A.shape[1])
    errors = []
    for i in range(len(A)):
        rest = np.delete(np.arange(len(A)), i)
        inverse = np.linalg.inv(A[rest].T @ A[rest] + eye)
        error = T[i] - A[i] @ inverse @ A[rest].T @ T[rest]
        errors.append(abs(error) / np.sqrt(1 + A[i] @ inverse @ A[i]))
    rank = int(np.ceil(coverage * (len(A) + 1)))
    half = y.std() * np.sort(errors)[rank - 1]
    inverse = np.linalg.inv(A.T @ A + eye)
    half = half * np.sqrt(1 + np.sum(A @ inverse * A, axis=1))
    ends = model.predict_interval(X, coverage)
    np.testing.assert_allclose(ends[:, 0], model.predict(X) - half, rtol=1e-8)
    np.testing.assert_allclose(ends[:, 1], model.predict(X) + half, rtol=1e-8)


def test_cross_fitted_errors_are_those_of_networks_built_without_the_rows():
    cls = stagenets.ELMRegressor
    X, y = data_for(cls, 60, n_outputs=1)
    y = y[:, 0]
    model = small(cls, standardize=True, intervals="cv").fit(X, y)
    from stagenets.fitting._stopping import folds_of

    errors = np.empty(len(y))
    for train, test in folds_of(model, len(y), None, None):
        errors[test] = y[test] - clone(model).set_params(intervals=None).fit(
            X[train], y[train]
        ).predict(X[test])
    A = design_of(model, X, X)
    leverage = np.sum(A @ np.linalg.inv(A.T @ A + model.alpha * np.eye(A.shape[1])) * A, axis=1)
    expected = np.sort(np.abs(errors) * np.sqrt(1 - leverage))
    np.testing.assert_allclose(model.network_.uncertainty.errors[:, 0], expected, rtol=1e-6)


def test_groups_are_left_out_together():
    cls = stagenets.ELMRegressor
    X, y = data_for(cls, 40, n_outputs=1)
    X, y, groups = np.repeat(X, 3, axis=0), np.repeat(y[:, 0], 3), np.repeat(np.arange(40), 3)
    y = rng.normal(size=40)[groups]  # nothing to learn but the twins
    widths = [
        np.ptp(
            small(cls, alpha=1e-3, n_hidden=30, intervals="cv")
            .fit(X, y, groups=g)
            .predict_interval(X)
        )
        for g in (None, groups)
    ]
    assert widths[1] > 1.5 * widths[0]


def friedman(n, seed):
    X = np.random.default_rng(seed).uniform(size=(n, 6))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    return X, y + np.random.default_rng(seed + 1).standard_t(4, size=n)


def test_cross_fitted_intervals_cover_new_rows():
    X_new, y_new = friedman(4000, 100)
    for coverage in (0.8, 0.95):
        found = []
        for seed in range(5):
            model = stagenets.RVFLRegressor(n_hidden=80, intervals="cv", random_state=seed)
            low, high = model.fit(*friedman(400, seed)).predict_interval(X_new, coverage).T
            found.append(np.mean((low <= y_new) & (y_new <= high)))
        assert abs(np.mean(found) - coverage) < 0.03


@pytest.mark.parametrize("loss", ["squared", "log"])
@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name_of)
def test_sets_hold_the_right_class_as_often_as_asked(cls, loss):
    X, y = data_for(cls, 2400, seed=3)
    train = np.arange(len(X)) % 3 == 0
    model = small(cls, intervals="cv", loss=loss).fit(X[train], y[train])
    sizes = []
    for coverage in (0.6, 0.8, 0.95):
        sets = model.predict_set(X[~train], coverage)
        assert sets.dtype == bool and sets.any(axis=1).all()
        held = sets[np.arange(len(sets)), np.searchsorted(model.classes_, y[~train])].mean()
        assert held > coverage - 0.04
        if coverage > model.score(X[~train], y[~train]) + 0.1:
            assert held < coverage + 0.07  # else, the likeliest class alone is right more often
        sizes.append(sets.sum())
    assert sizes == sorted(sizes)


def test_too_few_rows_give_infinite_intervals():
    X, y = data_for(stagenets.ELMRegressor, 12, n_outputs=1)
    model = small(stagenets.ELMRegressor, n_hidden=3, intervals="loo").fit(X, y[:, 0])
    assert np.isfinite(model.predict_interval(X, 0.9)).all()
    assert np.isinf(model.predict_interval(X, 0.95)).all()


def test_rows_set_aside_do_not_count():
    X, y = data_for(stagenets.RVFLRegressor, 100, n_outputs=1)
    model = small(stagenets.RVFLRegressor, early_stopping="validation", intervals="loo")
    model.fit(X, y[:, 0])
    assert model.network_.uncertainty.errors.shape == (90, 1)


@pytest.mark.parametrize("cls", [*REGRESSORS, *CLASSIFIERS], ids=name_of)
def test_files_and_pickles_keep_what_intervals_need(cls, tmp_path):
    X, y = data_for(cls, 80)
    model = small(cls, intervals="cv").fit(X, y)
    asked = "predict_set" if cls in CLASSIFIERS else "predict_interval"
    model.save(tmp_path / "model", staged=False)
    for again in (stagenets.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(getattr(again, asked)(X, 0.7), getattr(model, asked)(X, 0.7))
    cut = model.truncated(3)
    with pytest.raises(ValueError, match="not known; fit it with"):
        getattr(cut, asked)(X)


def test_wrong_requests_are_refused():
    X, y = data_for(stagenets.RVFLRegressor, n_outputs=1)
    model = small(stagenets.RVFLRegressor).fit(X, y)
    with pytest.raises(ValueError, match="fit it with intervals='loo' or intervals='cv'"):
        model.predict(X, return_std=True)
    with pytest.raises(ValueError, match="fit it with intervals='loo' or intervals='cv'"):
        model.predict_interval(X)
    with pytest.raises(ValueError, match="intervals must be None, 'loo', 'cv'; got 'yes'"):
        clone(model).set_params(intervals="yes").fit(X, y)
    labels = (y[:, 0] > y.mean()).astype(int)
    with pytest.raises(ValueError, match="intervals must be None, 'cv'; got 'loo'"):
        small(stagenets.RVFLClassifier, intervals="loo").fit(X, labels)
    model = clone(model).set_params(intervals="loo").fit(X, y)
    for coverage in (0, 1, 1.5, "most"):
        with pytest.raises(ValueError, match="coverage must be"):
            model.predict_interval(X, coverage)
    with pytest.raises(ValueError, match="return_std must be True or False"):
        model.predict(X, return_std="yes")
