"""Candidate draws: the numbers that NumPy's Philox gives, and the fits that use them."""

import numpy as np
import pytest

import problems
import reference
import residuum

SEEDS = [0, 1, 42, 2**32 - 1]
SIZES = [(1, 1), (7, 3), (40, 11), (5, 300)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("stage", [0, 1, 1000, 2**31])
@pytest.mark.parametrize(("pool_size", "p"), SIZES)
def test_uniform_draws_have_the_bits_of_numpy_philox(seed, stage, pool_size, p):
    weights, biases = residuum.draw_candidates(
        seed, stage, pool_size, p, weight_init="uniform", weight_scale=1.7
    )
    expected_weights, expected_biases = reference.draw_pool(
        seed, stage, pool_size, p, family="uniform", scale=1.7
    )
    np.testing.assert_array_equal(weights, expected_weights)
    np.testing.assert_array_equal(biases, expected_biases)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", ["normal", "sparse"])
@pytest.mark.parametrize(("pool_size", "p"), SIZES)
@pytest.mark.parametrize("fan_in", [1, 3, 6, 50])
def test_normal_and_sparse_draws_equal_inverted_philox(seed, family, pool_size, p, fan_in):
    options = {"weight_init": family, "weight_scale": 0.6, "fan_in": fan_in}
    weights, biases = residuum.draw_candidates(seed, 3, pool_size, p, **options)
    expected_weights, expected_biases = reference.draw_pool(
        seed, 3, pool_size, p, family=family, scale=0.6, fan_in=fan_in
    )
    np.testing.assert_allclose(weights, expected_weights, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(biases, expected_biases, rtol=1e-15)


@pytest.mark.parametrize("family", ["uniform", "normal", "sparse"])
def test_shapes_types_and_defaults(family):
    weights, biases = residuum.draw_candidates(9, 2, 5, 4, weight_init=family)
    assert weights.shape == (4, 5)
    assert biases.shape == (5,)
    assert weights.dtype == biases.dtype == np.float64
    expected, _ = reference.draw_pool(9, 2, 5, 4, family=family, scale=1.0, fan_in=6)
    np.testing.assert_allclose(weights, expected, rtol=1e-13)


@pytest.mark.parametrize("family", ["uniform", "normal", "sparse"])
def test_smaller_pool_is_the_head_of_a_larger_one(family):
    small = residuum.draw_candidates(3, 8, 10, 6, weight_init=family)
    large = residuum.draw_candidates(3, 8, 20, 6, weight_init=family)
    np.testing.assert_array_equal(large[0][:, :10], small[0])
    np.testing.assert_array_equal(large[1][:10], small[1])


def test_seeds_stages_and_candidates_give_unlike_draws():
    pools = [residuum.draw_candidates(s, t, 30, 8)[0] for s in (0, 1, 2) for t in (0, 1, 2)]
    numbers = np.concatenate([pool[pool != 0] for pool in pools])  # sparse ones are mostly zeros
    assert np.unique(numbers).size == numbers.size


@pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
@pytest.mark.parametrize("family", ["uniform", "normal", "sparse"])
@pytest.mark.parametrize("selection", ["residual", "random"])
def test_fit_keeps_units_exactly_as_drawn(cls, family, selection):
    X, y = problems.data_for(cls)
    options = {"weight_init": family, "weight_scale": 1.3, "fan_in": 2}
    model = problems.small(
        cls, selection=selection, standardize=False, random_state=11, block_size=2, **options
    ).fit(X, y)
    pool_size = 12 if selection == "random" else 10
    for unit, (stage, index) in enumerate(model.selected_):
        weights, biases = residuum.draw_candidates(11, int(stage), pool_size, 4, **options)
        np.testing.assert_array_equal(model.hidden_weights_[:, unit], weights[:, index])
        assert model.hidden_biases_[unit] == biases[index]


@pytest.mark.parametrize(
    ("arguments", "options", "name"),
    [
        ((0, -1, 5, 3), {}, "stage"),
        ((0, 0, 0, 3), {}, "pool_size"),
        ((0, 0, 5, 0), {}, "n_features"),
        ((0, 0, 5, 3), {"weight_init": "cauchy"}, "weight_init"),
        ((0, 0, 5, 3), {"weight_scale": float("nan")}, "weight_scale"),
        ((0, 0, 5, 3), {"weight_init": "sparse", "fan_in": 0}, "fan_in"),
    ],
)
def test_bad_argument_is_named(arguments, options, name):
    with pytest.raises(ValueError, match=name):
        residuum.draw_candidates(*arguments, **options)
