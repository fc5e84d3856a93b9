"""Regression targets are standardised: their units do not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

import problems
import stagenets

each_regressor = pytest.mark.parametrize("cls", problems.REGRESSORS, ids=problems.name_of)


@settings(deadline=None, max_examples=25)
@given(
    cls=st.sampled_from(problems.REGRESSORS),
    selection=st.sampled_from(["residual", "joint", "random"]),
    units=st.lists(st.floats(-6, 6), min_size=3, max_size=3),
    shift=st.floats(-5, 5),
    seed=st.integers(0, 50),
)
def test_predictions_follow_the_unit_of_every_target(cls, selection, units, shift, seed):
    X, Y = problems.data_for(cls, seed=seed)
    scale = [1, 1, -1] * 10.0 ** np.array(units)
    params = {"selection": selection, "random_state": seed}
    plain = problems.small(cls, **params).fit(X, Y)
    other = problems.small(cls, **params).fit(X, scale * (Y + shift))
    np.testing.assert_array_equal(other.selected_, plain.selected_)
    np.testing.assert_allclose(
        other.predict(X) / scale, plain.predict(X) + shift, rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(other.objective_path_, plain.objective_path_, rtol=1e-9)
    for stage, expected in zip(other.staged_predict(X), plain.staged_predict(X), strict=True):
        np.testing.assert_allclose(stage / scale, expected + shift, rtol=1e-9, atol=1e-9)


@each_regressor
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_targets_whose_squares_would_overflow_or_vanish(cls, scale):
    X, Y = problems.data_for(cls)
    plain = problems.small(cls).fit(X, Y).predict(X)
    np.testing.assert_allclose(
        problems.small(cls).fit(X, scale * Y).predict(X) / scale, plain, rtol=1e-9, atol=1e-9
    )


@each_regressor
@pytest.mark.parametrize("selection", ["residual", "random"])
def test_constants_are_predicted_exactly_beside_other_targets(cls, selection):
    X, Y = problems.data_for(cls)
    Y[:, 1] = 0.1
    model = problems.small(cls, selection=selection).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X)[:, 1], 0.1)
    alone = problems.small(cls, selection=selection).fit(X, Y[:, [0, 2]])
    np.testing.assert_allclose(model.predict(X)[:, [0, 2]], alone.predict(X), rtol=1e-9)


def test_links_alone_are_ridge_regression_on_standardised_data():
    """With units that are all but constant, what is left is scikit-learn's Ridge."""
    X, Y = problems.data_for(stagenets.RVFLRegressor, n=80)
    Y *= [1.0, 1e4, 1e-4]
    model = problems.small(stagenets.RVFLRegressor, n_hidden=1, weight_scale=1e-9, alpha=7.0)
    inputs = (X - X.mean(axis=0)) / X.std(axis=0)
    targets = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    ridge = Ridge(alpha=7.0).fit(inputs, targets)
    expected = ridge.predict(inputs) * Y.std(axis=0) + Y.mean(axis=0)
    found = model.fit(X, Y).predict(X)
    np.testing.assert_allclose(found / Y.std(axis=0), expected / Y.std(axis=0), atol=1e-6)


@each_regressor
def test_leave_one_out_error_is_in_units_of_the_variance(cls):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), 1e5 * rng.normal(size=200)
    path = problems.small(cls, alpha=1e6).fit(X, y).loo_path_
    assert path[0] == pytest.approx(1.0, abs=0.02)  # the mean of the others explains nothing


@pytest.mark.parametrize("units", [[1e6, 1e-6, 1.0], [1e154, 1e-159, 1e200]])
def test_searches_find_the_same_in_any_unit(units):
    X, Y = problems.data_for(stagenets.RVFLRegressor, n=90)
    folds = KFold(3, shuffle=True, random_state=0)
    search = stagenets.RVFLRegressorCV(alphas=[0.1, 10.0], max_hidden=8, cv=folds, random_state=0)
    plain = search.fit(X, Y).cv_results_["mean_test_score"]
    other = search.fit(X, Y * units).cv_results_["mean_test_score"]
    np.testing.assert_allclose(other, plain, rtol=1e-8)


@each_regressor
@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e154, 1e159, 1e300])
def test_importances_are_the_same_in_any_unit(cls, unit):
    X, Y = problems.data_for(cls, n=60)
    found = problems.small(cls).fit(X, Y * [unit, 1.0, 1.0]).feature_importances_
    expected = problems.small(cls).fit(X, Y).feature_importances_
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
