"""A user's own distribution of weights: a callable, or an object with a `draw` method."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import problems
import reference
import stagenets

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)


def laplace(rng, pool_size, n_features):
    return rng.laplace(size=(n_features, pool_size)), rng.uniform(-1, 1, pool_size)


class Laplace:
    """The same draws behind a method, with a parameter."""

    def __init__(self, width=1.0):
        self.width = width

    def draw(self, rng, pool_size, n_features):
        weights, biases = laplace(rng, pool_size, n_features)
        return self.width * weights, biases


@each_estimator
@pytest.mark.parametrize("selection", ["residual", "random"])
def test_callable_and_object_give_the_same_model(cls, selection):
    X, y = problems.data_for(cls)
    by_callable, by_object = (
        problems.small(cls, weight_init=family, selection=selection).fit(X, y)
        for family in (laplace, Laplace())
    )
    np.testing.assert_array_equal(
        problems.scores_of(by_callable, X), problems.scores_of(by_object, X)
    )


@pytest.mark.parametrize("family", [laplace, Laplace()], ids=["callable", "object"])
@pytest.mark.parametrize("stage", [0, 7])
def test_draw_candidates_calls_the_family_with_the_stages_generator(family, stage):
    weights, biases = stagenets.draw_candidates(12, stage, 5, 3, weight_init=family)
    rng = reference.generator(12, stage, 0, reference.CUSTOM_STREAM)
    expected_weights, expected_biases = laplace(rng, 5, 3)
    np.testing.assert_array_equal(weights, expected_weights)
    np.testing.assert_array_equal(biases, expected_biases)


@pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
def test_kept_units_are_the_ones_the_family_drew(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls, weight_init=laplace, standardize=False, block_size=2).fit(X, y)
    for unit, (stage, index) in enumerate(model.selected_):
        rng = reference.generator(0, int(stage), 0, reference.CUSTOM_STREAM)
        weights, biases = laplace(rng, 10, 4)
        np.testing.assert_array_equal(model.hidden_weights_[:, unit], weights[:, index])
        assert model.hidden_biases_[unit] == biases[index]


@pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
@pytest.mark.parametrize("selection", ["residual", "random"])
@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("built_in", ["sparse", "uniform", "normal"])
def test_family_that_replays_a_built_in_one_gives_the_same_model(cls, selection, solver, built_in):
    X, y = problems.data_for(cls)
    stages = iter(range(1000))

    def replay(_rng, pool_size, n_features):
        return stagenets.draw_candidates(
            0, next(stages), pool_size, n_features, weight_init=built_in
        )

    params = {"selection": selection, "solver": solver, "block_size": 2}
    custom = problems.small(cls, weight_init=replay, **params).fit(X, y)
    expected = problems.small(cls, weight_init=built_in, **params).fit(X, y)
    np.testing.assert_array_equal(custom.selected_, expected.selected_)
    np.testing.assert_allclose(
        problems.scores_of(custom, X), problems.scores_of(expected, X), atol=1e-10
    )


@each_estimator
def test_family_is_asked_for_the_pool_of_each_stage(cls):
    X, y = problems.data_for(cls)
    asked = []

    def record(rng, pool_size, n_features):
        asked.append((rng.bit_generator.state["state"]["counter"].tolist(), pool_size, n_features))
        return laplace(rng, pool_size, n_features)

    model = problems.small(cls, weight_init=record).fit(X, y)
    inputs = [4] * 8 + [8] * 6 if cls in problems.BLS else [4] * 12
    expected = [([0, 0, t, 2], 10, n_features) for t, n_features in enumerate(inputs)]
    assert asked == expected
    assert model.n_iter_ == len(asked)


@each_estimator
def test_prediction_does_not_draw_again(cls):
    X, y = problems.data_for(cls)
    calls = []

    def record(rng, pool_size, n_features):
        calls.append(pool_size)
        return laplace(rng, pool_size, n_features)

    model = problems.small(cls, weight_init=record).fit(X, y)
    drawn = len(calls)
    model.predict(X)
    model.transform(X)
    list(model.staged_predict(X))
    assert len(calls) == drawn


@each_estimator
@pytest.mark.parametrize("family", [laplace, Laplace(2.0)], ids=["callable", "object"])
def test_estimator_with_a_family_can_be_cloned_and_pickled(cls, family):
    X, y = problems.data_for(cls)
    model = problems.small(cls, weight_init=family).fit(X, y)
    expected = problems.scores_of(model, X)
    np.testing.assert_array_equal(problems.scores_of(clone(model).fit(X, y), X), expected)
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(problems.scores_of(restored, X), expected)


BAD_DRAWS = {
    "weights-transposed": lambda m, p: (np.zeros((m, p)), np.zeros(m)),
    "too-few-biases": lambda m, p: (np.zeros((p, m)), np.zeros(m - 1)),
    "flat-weights": lambda m, p: (np.zeros(p * m), np.zeros(m)),
    "nan-weights": lambda m, p: (np.full((p, m), np.nan), np.zeros(m)),
    "inf-biases": lambda m, p: (np.zeros((p, m)), np.full(m, np.inf)),
    "no-biases": lambda m, p: np.zeros((p, m)),
    "nothing": lambda m, p: None,
    "complex": lambda m, p: (np.zeros((p, m)) + 1j, np.zeros(m)),
}


@each_estimator
@pytest.mark.parametrize("kind", BAD_DRAWS)
def test_bad_draws_are_refused_by_name(cls, kind):
    X, y = problems.data_for(cls)
    with pytest.raises((ValueError, TypeError), match="weight_init"):
        problems.small(cls, weight_init=lambda _rng, m, p: BAD_DRAWS[kind](m, p)).fit(X, y)


class FamilyError(Exception):
    pass


@each_estimator
@pytest.mark.parametrize("stage_of_error", [0, 5])
def test_exception_of_the_family_reaches_the_caller(cls, stage_of_error):
    X, y = problems.data_for(cls)
    stages = iter(range(1000))

    def fail(rng, pool_size, n_features):
        if next(stages) == stage_of_error:
            raise FamilyError("no more weights")
        return laplace(rng, pool_size, n_features)

    model = problems.small(cls, weight_init=fail)
    with pytest.raises(FamilyError, match="no more weights"):
        model.fit(X, y)
    assert not hasattr(model, "readout_")
