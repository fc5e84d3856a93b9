"""Regression: shapes, centring, and a fit worth having."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.dummy import DummyRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score

import problems
import reference
import stagenets

each_regressor = pytest.mark.parametrize("cls", problems.REGRESSORS, ids=problems.name_of)


@each_regressor
def test_single_output_has_flat_attributes(cls):
    X, Y = problems.data_for(cls, n_outputs=1)
    model = problems.small(cls).fit(X, Y[:, 0])
    assert model.predict(X).shape == (len(X),)
    assert model.readout_.ndim == 1
    assert np.ndim(model.readout_intercept_) == 0
    assert all(stage.shape == (len(X),) for stage in model.staged_predict(X))


@each_regressor
def test_several_outputs_have_a_row_each(cls):
    X, Y = problems.data_for(cls, n_outputs=3)
    model = problems.small(cls).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert model.readout_.shape[0] == 3
    assert model.readout_intercept_.shape == (3,)
    assert all(stage.shape == Y.shape for stage in model.staged_predict(X))


@each_regressor
@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_single_output_equals_the_reference(cls, solver, fit_intercept):
    X, Y = problems.data_for(cls, n_outputs=1)
    common = {"regression": True, "seed": 0, "pool_size": 10, "fit_intercept": fit_intercept}
    if cls in problems.BLS:
        expected = reference.fit_bls(X, Y, **problems.SMALL_BLS, **common)
    else:
        direct = cls is stagenets.RVFLRegressor
        expected = reference.fit_affine(X, Y, direct=direct, n_hidden=12, **common)
    model = problems.small(cls, solver=solver, fit_intercept=fit_intercept).fit(X, Y[:, 0])
    np.testing.assert_allclose(model.predict(X), expected.scores(X)[:, 0], atol=1e-8)
    np.testing.assert_allclose(model.objective_path_, expected.growth.objective_path, rtol=1e-9)


@each_regressor
def test_shifted_targets_shift_the_predictions(cls):
    X, Y = problems.data_for(cls)
    plain = problems.small(cls).fit(X, Y).predict(X)
    shifted = problems.small(cls).fit(X, Y + 1000.0).predict(X)
    np.testing.assert_allclose(shifted, plain + 1000.0, atol=1e-8)


@each_regressor
def test_scaled_targets_scale_the_predictions(cls):
    X, Y = problems.data_for(cls)
    plain = problems.small(cls).fit(X, Y).predict(X)
    scaled = problems.small(cls).fit(X, 1024.0 * Y).predict(X)
    np.testing.assert_allclose(scaled, 1024.0 * plain, atol=1e-8)


@each_regressor
def test_huge_penalty_predicts_the_mean(cls):
    X, Y = problems.data_for(cls)
    predictions = problems.small(cls, alpha=1e12).fit(X, Y).predict(X)
    np.testing.assert_allclose(predictions, np.tile(Y.mean(axis=0), (len(X), 1)), atol=1e-6)


@each_regressor
def test_constant_targets_are_predicted_exactly(cls):
    X, _ = problems.data_for(cls)
    model = problems.small(cls).fit(X, np.full(len(X), 2.5))
    np.testing.assert_allclose(model.predict(X), 2.5, rtol=1e-12)


@each_regressor
def test_score_is_r2(cls):
    X, Y = problems.data_for(cls)
    model = problems.small(cls).fit(X, Y)
    assert model.score(X, Y) == pytest.approx(r2_score(Y, model.predict(X)))


@each_regressor
def test_guided_units_beat_the_mean_on_diabetes(cls):
    X, y = load_diabetes(return_X_y=True)
    model = cls(alpha=10.0, random_state=0)
    baseline = cross_val_score(DummyRegressor(), X, y, cv=3).mean()
    assert cross_val_score(model, X, y, cv=3).mean() > baseline + 0.3


def test_guided_units_lower_the_objective_more_than_one_shot_units():
    X, y = make_friedman1(500, noise=0.5, random_state=0)
    size = {"n_hidden": 60, "random_state": 0}
    guided = stagenets.RVFLRegressor(**size).fit(X, y)
    one_shot = stagenets.RVFLRegressor(selection="random", **size).fit(X, y)
    assert guided.objective_path_[-1] < one_shot.objective_path_[-1]
