"""Inputs outside their training range count as its nearest end, wherever predictions are made."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, KFold

import problems
import stagenets
from stagenets import _core
from stagenets.fitting._stopping import _validation_rows

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def wild_rows(X, seed=1):
    """Rows like those of X, in which about one value of five is far from all of them."""
    rng = np.random.default_rng(seed)
    rows = rng.permuted(X, axis=0)
    wild = rng.random(rows.shape) < 0.2
    rows[wild] = rng.choice([-1e6, -50.0, 50.0, 1e6], size=int(wild.sum()))
    return rows.astype(X.dtype)


def within(rows, X):
    return np.clip(rows, X.min(axis=0), X.max(axis=0))


@each_estimator
@each_dtype
@pytest.mark.parametrize("order", ["C", "F"])
def test_predictions_are_those_of_clamped_rows(cls, dtype, order):
    X, y = problems.data_for(cls)
    X = X.astype(dtype)
    model = problems.small(cls).fit(X, y)
    free = problems.small(cls, extrapolate=True).fit(X, y)
    rows = np.asarray(wild_rows(X), order=order)
    np.testing.assert_array_equal(model.network_.bounds, [X.min(axis=0), X.max(axis=0)])
    assert free.network_.bounds is None
    for method in ("predict", "transform"):
        np.testing.assert_array_equal(
            getattr(model, method)(rows), getattr(free, method)(within(rows, X))
        )
    stages = zip(model.staged_predict(rows), free.staged_predict(within(rows, X)), strict=True)
    for stage, expected in stages:
        np.testing.assert_array_equal(stage, expected)
    assert not np.allclose(problems.scores_of(model, rows), problems.scores_of(free, rows))


@each_estimator
@each_dtype
@pytest.mark.parametrize("selection", ["residual", "random"])
def test_fits_do_not_depend_on_it(cls, dtype, selection):
    X, y = problems.data_for(cls)
    X = X.astype(dtype)
    params = {"selection": selection}
    model = problems.small(cls, **params).fit(X, y)
    free = problems.small(cls, extrapolate=True, **params).fit(X, y)
    np.testing.assert_array_equal(model.readout_, free.readout_)
    np.testing.assert_array_equal(model.objective_path_, free.objective_path_)
    np.testing.assert_array_equal(model.predict(X), free.predict(X))


def test_doubles_and_floats_are_held_to_the_same_bounds():
    X, y = problems.data_for(stagenets.RVFLRegressor)
    model = problems.small(stagenets.RVFLRegressor).fit(X, y)
    rows = wild_rows(X)
    single = model.predict(rows.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, model.predict(rows), rtol=1e-4, atol=1e-4)


def test_one_wild_row_does_not_give_a_wild_prediction():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = X @ rng.normal(size=5) + np.sin(2 * X[:, 0])
    test = rng.normal(size=(200, 5))
    target = test @ np.ones(5)
    test[0] *= 1e6
    for cls in problems.REGRESSORS:
        model = problems.small(cls).fit(X, y)
        assert np.abs(model.predict(test)).max() < 3 * np.abs(y).max()
    free = problems.small(stagenets.RVFLRegressor, extrapolate=True).fit(X, y)
    assert r2_score(target, free.predict(test)) < -1e3


def test_a_line_is_followed_only_when_asked():
    X = np.linspace(0, 1, 50)[:, None]
    y = 3 * X[:, 0] + 1
    line = stagenets.RVFLRegressor(n_hidden=1, alpha=1e-9, random_state=0)
    assert line.fit(X, y).predict([[5.0]]) == pytest.approx(4.0, abs=1e-3)
    assert line.set_params(extrapolate=True).fit(X, y).predict([[5.0]]) > 10


@pytest.mark.parametrize("bad", ["no", 1, None])
def test_the_flag_must_be_a_flag(bad):
    X, y = problems.data_for(stagenets.ELMRegressor)
    with pytest.raises(ValueError, match="extrapolate must be True or False"):
        problems.small(stagenets.ELMRegressor, extrapolate=bad).fit(X, y)


def test_rows_without_weight_do_not_count():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=(30, 1))
    roots = np.ones(30)
    roots[::3] = 0
    X[::3] *= 1e3
    architecture = _core.AffineArchitecture(n_hidden=3, activation="tanh", direct_links=True)
    settings = _core.NetworkSettings(
        architecture=architecture,
        weight_init="normal",
        weight_scale=1.0,
        fan_in=3,
        seed=0,
        intercept=True,
        scaling="deviation",
        extrapolate=False,
        loss="squared",
        alpha=1.0,
        solver="auto",
        tol=0.0,
        pool_size=5,
        block_size=1,
        selection="residual",
        score_fraction=1.0,
    )
    for rows in (X, np.asfortranarray(X)):
        fit = _core.fit(rows, _core.Targets.numbers(y), settings, weights=roots**2)
        counted = X[roots > 0]
        np.testing.assert_array_equal(
            fit.network.bounds, [counted.min(axis=0), counted.max(axis=0)]
        )


# Where networks are judged on rows that they were not fitted to.


def heavy_tailed(n=120):
    rng = np.random.default_rng(3)
    X = rng.standard_cauchy((n, 3))
    return X, np.tanh(X[:, 0]) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("extrapolate", [False, True])
@pytest.mark.parametrize("cls", problems.REGRESSORS, ids=problems.name_of)
def test_early_stopping_sees_what_predictions_will_be(cls, extrapolate, order):
    X, y = heavy_tailed()
    X = np.asarray(X, order=order)
    params = {"extrapolate": extrapolate, "n_iter_no_change": 50}
    model = problems.small(cls, early_stopping="validation", validation_fraction=0.3, **params)
    model.fit(X, y)
    aside = _validation_rows(model, len(X), None)
    rest = np.setdiff1d(np.arange(len(X)), aside)
    plain = problems.small(cls, **params).fit(X[rest], y[rest])
    expected = [r2_score(y[aside], stage) for stage in plain.staged_predict(X[aside])]
    np.testing.assert_allclose(model.validation_path_, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("selection", ["residual", "random"])
@pytest.mark.parametrize("extrapolate", [False, True])
def test_searches_judge_what_predictions_will_be(selection, extrapolate):
    X, y = heavy_tailed()
    folds = KFold(3, shuffle=True, random_state=0)
    search = stagenets.RVFLRegressorCV(
        alphas=[1.0],
        n_hidden=[2, 8],
        selections=[selection],
        pool_sizes=[10],
        cv=folds,
        extrapolate=extrapolate,
        random_state=0,
    ).fit(X, y)
    model = stagenets.RVFLRegressor(
        alpha=1.0, selection=selection, pool_size=10, extrapolate=extrapolate, random_state=0
    )
    plain = GridSearchCV(model, {"n_hidden": [2, 8]}, cv=folds).fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-8
    )
    assert (search.best_estimator_.network_.bounds is None) == extrapolate


# Copies of a model.


@each_estimator
def test_files_and_pickles_keep_the_bounds(cls, tmp_path):
    X, y = problems.data_for(cls)
    rows = wild_rows(X)
    for extrapolate in (False, True):
        model = problems.small(cls, extrapolate=extrapolate).fit(X, y)
        model.save(tmp_path / "model")
        for other in (stagenets.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            assert other.extrapolate == extrapolate
            np.testing.assert_array_equal(other.predict(rows), model.predict(rows))


def test_files_without_bounds_extrapolate():
    golden = Path(__file__).parent / "data"
    assert stagenets.load(golden / "version_2_bounded.safetensors").network_.bounds is not None
    model = stagenets.load(golden / "version_2_stopped.safetensors")
    assert model.network_.bounds is None
    far = pd.DataFrame(np.full((1, 3), 1e9), columns=model.feature_names_in_)
    assert np.abs(model.predict(far)) > 1e6


@each_estimator
def test_numpy_source_keeps_the_bounds(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y)
    module = {}
    exec(stagenets.to_numpy_source(model), module)
    rows = wild_rows(X)
    expected = problems.scores_of(model, rows)
    scores = module["decision_function" if cls in problems.CLASSIFIERS else "predict"](rows)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)


@each_estimator
@each_dtype
def test_onnx_keeps_the_bounds(cls, dtype):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X.astype(dtype), y)
    converted = stagenets.to_onnx(model, dtype=dtype).SerializeToString()
    session = onnxruntime.InferenceSession(converted, providers=["CPUExecutionProvider"])
    rows = wild_rows(X.astype(dtype))
    found = session.run(None, {"X": rows})[-1]
    expected = model.predict_proba(rows) if cls in problems.CLASSIFIERS else model.predict(rows)
    tolerance = 1e-9 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_networks_refuse_bounds_that_are_none():
    X, y = problems.data_for(stagenets.ELMRegressor)
    core = problems.small(stagenets.ELMRegressor).fit(X, y).network_.core
    parts = {name: getattr(core, name) for name in ("layers", "direct_links", "readout", "path")}
    for bounds, message in [
        (core.bounds[::-1], "must not be above its upper bound"),
        (core.bounds[:, 1:], "one lower and one upper bound per input"),
        (core.bounds[:1], "bounds must have two rows"),
        (np.full_like(core.bounds, np.nan), "must not be above its upper bound"),
    ]:
        with pytest.raises(ValueError, match=message):
            _core.Network(**parts, bounds=bounds)
