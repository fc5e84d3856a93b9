"""Numbers at the edge of what floats hold: the right answer or an error, never NaN in silence."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

import problems
import stagenets

OVERFLOW = "overflow"


@pytest.fixture(scope="module")
def friedman():
    X, y = make_friedman1(500, noise=0.5, random_state=0)
    return X.astype(np.float32), y


def score(cls, X, y, **params):
    """R² on rows that were not fitted."""
    usual = cls._alphas["squared"][1]
    model = cls(alpha=usual, random_state=0, **params).fit(X[:300], y[:300])
    return model.score(X[300:], y[300:])


class Faint:
    """Weights for which radbas gives values around 1e-310, or 1e-40, on small inputs."""

    def __init__(self, argument):
        self.argument = argument

    def draw(self, rng, pool_size, n_features):
        weights = 1e-3 * rng.normal(size=(n_features, pool_size))
        return weights, self.argument + 0.01 * rng.random(pool_size)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("argument", [26.7, 9.6])
def test_feature_nodes_that_hardly_vary(argument, dtype):
    X = np.random.default_rng(0).normal(size=(4, 3)).astype(dtype)
    model = stagenets.BLSRegressor(
        n_windows=2,
        n_feature_nodes=2,
        n_enhancement=3,
        feature_activation="radbas",
        weight_init=Faint(argument),
        sparse_features=False,
        selection="random",
        random_state=0,
    ).fit(X, np.arange(4.0))
    for rows in (X, X.astype(np.float32)):
        assert np.isfinite(model.predict(rows)).all()
        assert np.isfinite(model.transform(rows)).all()


@pytest.mark.parametrize("selection", ["residual", "random"])
@pytest.mark.parametrize("solver", ["auto", "dual", "primal"])
@pytest.mark.parametrize("cls", [stagenets.RVFLRegressor, stagenets.RVFLClassifier])
def test_inputs_whose_squares_overflow_are_refused(cls, solver, selection):
    rng = np.random.default_rng(0)
    X, y = 1e160 * rng.normal(size=(30, 40)), np.arange(30) % 3
    params = {"n_hidden": 5, "solver": solver, "selection": selection, "random_state": 0}
    params["loss"] = "squared"
    with pytest.raises(ValueError, match=OVERFLOW):
        cls(standardize=False, **params).fit(X, y)
    assert cls(**params).fit(X, y).score(X, y) > 0.3


@pytest.mark.parametrize("selection", ["residual", "random"])
@pytest.mark.parametrize("solver", ["auto", "dual", "primal"])
def test_targets_whose_squares_overflow_are_refused(solver, selection):
    def candidates(stage, pool_size):
        return np.random.default_rng(stage).normal(size=(30, pool_size))

    y = np.linspace(-1, 1, 30)
    params = {"n_hidden": 5, "solver": solver, "selection": selection}
    for size in (1e154, 1e300):
        with pytest.raises(ValueError, match=OVERFLOW):
            stagenets.fit_stagewise(candidates, size * y, **params)
    small = stagenets.fit_stagewise(candidates, y, **params)
    large = stagenets.fit_stagewise(candidates, 2.0**490 * y, **params)
    np.testing.assert_allclose(large.readout, 2.0**490 * small.readout, rtol=1e-9)


@pytest.mark.parametrize("selection", ["residual", "random"])
@pytest.mark.parametrize("cls", problems.REGRESSORS, ids=problems.name_of)
def test_denormal_float32_inputs(cls, selection, friedman):
    X, y = friedman
    plain = score(cls, X, y, selection=selection)
    assert score(cls, X * np.float32(1e-40), y, selection=selection) > plain - 0.01
    assert score(cls, X * np.float32(1e38), y, selection=selection) > plain - 0.01


@pytest.mark.parametrize("cls", problems.REGRESSORS, ids=problems.name_of)
def test_columns_too_small_to_be_scaled_are_named(cls):
    X, y = problems.data_for(cls)
    X[:, 2] *= 1e-310
    with pytest.raises(ValueError, match=r"column 2 of X .* varies by too little"):
        problems.small(cls).fit(X, y)
    X[:, 2] = 4e-310  # a constant is no trouble
    assert np.isfinite(problems.small(cls).fit(X, y).predict(X)).all()


@pytest.mark.parametrize("selection", ["residual", "random"])
@pytest.mark.parametrize("cls", problems.REGRESSORS, ids=problems.name_of)
def test_float32_inputs_and_targets_far_off_zero(cls, selection, friedman):
    """Unix times, for example."""
    X, y = friedman
    expected = score(cls, X, y, selection=selection)
    assert score(cls, X, y + 1.7e9, selection=selection) == pytest.approx(expected, abs=1e-3)
    model = cls(random_state=0, selection=selection).fit(X, y + 1.7e9)
    assert model.predict(X).dtype == np.float64
    np.testing.assert_allclose(list(model.staged_predict(X))[-1], model.predict(X), rtol=1e-14)
    assert cls(random_state=0, selection=selection).fit(X, y).predict(X).dtype == np.float32


def test_search_with_float32_inputs_and_targets_far_off_zero(friedman):
    X, y = friedman
    search = stagenets.ELMRegressorCV(alphas=[1.0], max_hidden=30, cv=3, random_state=0)
    near = search.fit(X, y).best_score_
    assert search.fit(X, y + 1.7e9).best_score_ == pytest.approx(near, abs=1e-3)


@pytest.mark.parametrize("cls", problems.REGRESSORS, ids=problems.name_of)
def test_float32_inputs_far_off_zero(cls, friedman):
    X, y = friedman
    X = 30 * X + np.float32(1e6)
    double = score(cls, X.astype(np.float64), y)
    assert score(cls, X, y) > double - 2e-3
    # What is predicted for the training rows is what was fitted.
    model = cls(random_state=0).fit(X, y)
    energy = np.sum((y - model.predict(X)) ** 2) / np.var(y)
    assert energy == pytest.approx(model.residual_path_[-1], rel=1e-3)
    assert model.transform(X).dtype == np.float32


def test_predictions_that_would_overflow_are_refused():
    rng = np.random.default_rng(0)
    X, y = 1e9 + rng.normal(size=(40, 3)), rng.normal(size=40)
    model = stagenets.RVFLRegressor(n_hidden=5, alpha=1e-6, random_state=0)
    assert np.isfinite(model.fit(X, y * 1e290).predict(X)).all()
    with pytest.raises(ValueError, match="predictions overflow: the targets are too large"):
        model.fit(X, y * 1e300)
    centred = model.fit(X - 1e9, y * 1e300).predict(X - 1e9)
    np.testing.assert_allclose(centred / 1e300, model.fit(X - 1e9, y).predict(X - 1e9), rtol=1e-6)
