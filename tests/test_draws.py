"""Candidate draws: the numbers that NumPy's Philox gives, and the fits that use them."""

import numpy as np
import pytest

import problems
import reference
import stagenets

SEEDS = [0, 1, 42, 2**32 - 1]
SIZES = [(1, 1), (7, 3), (40, 11), (5, 300)]
FAMILIES = ["uniform", "normal", "sparse", "threshold", "leaf", "mixed"]


def training_rows(p, n=23):
    """Rows for the families that look at them; the others ignore them."""
    return np.random.default_rng(p).normal(size=(n, p))


def terms_of(ends, unit):
    """The columns of a unit."""
    return slice(ends[unit - 1] if unit else 0, ends[unit])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("stage", [0, 1, 1000, 2**31])
@pytest.mark.parametrize(("pool_size", "p"), SIZES)
def test_uniform_draws_have_the_bits_of_numpy_philox(seed, stage, pool_size, p):
    weights, biases = stagenets.draw_candidates(
        seed, stage, pool_size, p, weight_init="uniform", weight_scale=1.7
    )
    expected_weights, expected_biases = reference.draw_pool(
        seed, stage, pool_size, p, family="uniform", scale=1.7
    )
    np.testing.assert_array_equal(weights, expected_weights)
    np.testing.assert_array_equal(biases, expected_biases)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", ["normal", "sparse", "threshold", "leaf", "mixed"])
@pytest.mark.parametrize(("pool_size", "p"), SIZES)
@pytest.mark.parametrize("fan_in", [1, 3, 6, 50])
def test_other_draws_equal_transformed_philox(seed, family, pool_size, p, fan_in):
    X = training_rows(p)
    options = {"weight_init": family, "weight_scale": 0.6, "fan_in": fan_in}
    drawn = stagenets.draw_candidates(seed, 3, pool_size, p, X=X, **options)
    expected = reference.draw_pool(
        seed, 3, pool_size, p, family=family, scale=0.6, fan_in=fan_in, rows=X
    )
    for part, expected_part in zip(drawn, expected, strict=True):
        np.testing.assert_allclose(part, expected_part, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("family", FAMILIES)
def test_shapes_types_and_defaults(family):
    X = training_rows(4)
    weights, biases, *ends = stagenets.draw_candidates(9, 2, 5, 4, X=X, weight_init=family)
    terms = ends[0][-1] if ends else 5
    assert weights.shape == (4, terms)
    assert biases.shape == (terms,)
    assert weights.dtype == biases.dtype == np.float64
    expected, *_ = reference.draw_pool(9, 2, 5, 4, family=family, scale=1.0, fan_in=6, rows=X)
    np.testing.assert_allclose(weights, expected, rtol=1e-13)


@pytest.mark.parametrize("family", FAMILIES)
def test_smaller_pool_is_the_head_of_a_larger_one(family):
    X = training_rows(6)
    small = stagenets.draw_candidates(3, 8, 10, 6, X=X, weight_init=family)
    large = stagenets.draw_candidates(3, 8, 20, 6, X=X, weight_init=family)
    for part, head in zip(large, small, strict=True):
        np.testing.assert_array_equal(part.T[: len(head.T)].T, head)


def test_seeds_stages_and_candidates_give_unlike_draws():
    pools = [stagenets.draw_candidates(s, t, 30, 8)[0] for s in (0, 1, 2) for t in (0, 1, 2)]
    numbers = np.concatenate([pool[pool != 0] for pool in pools])  # sparse ones are mostly zeros
    assert np.unique(numbers).size == numbers.size


@pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("selection", ["residual", "random"])
def test_fit_keeps_units_exactly_as_drawn(cls, family, selection):
    X, y = problems.data_for(cls)
    options = {"weight_init": family, "weight_scale": 1.3, "fan_in": 2}
    model = problems.small(
        cls, selection=selection, standardize=False, random_state=11, block_size=2, **options
    ).fit(X, y)
    pool_size = 12 if selection == "random" else 10
    for unit, (stage, index) in enumerate(model.selected_):
        weights, biases, *ends = stagenets.draw_candidates(
            11, int(stage), pool_size, 4, X=X, **options
        )
        ends = ends[0] if ends else np.arange(1, pool_size + 1)
        drawn, kept = terms_of(ends, index), terms_of(model.hidden_ends_, unit)
        np.testing.assert_array_equal(model.hidden_weights_[:, kept], weights[:, drawn])
        np.testing.assert_array_equal(model.hidden_biases_[kept], biases[drawn])


@pytest.mark.parametrize(
    ("arguments", "options", "name"),
    [
        ((0, -1, 5, 3), {}, "stage"),
        ((0, 0, 0, 3), {}, "pool_size"),
        ((0, 0, 5, 0), {}, "n_features"),
        ((0, 0, 5, 3), {"weight_init": "cauchy"}, "weight_init"),
        ((0, 0, 5, 3), {"weight_init": "threshold"}, "X must be the training inputs"),
        ((0, 0, 5, 3), {"weight_init": "mixed"}, "X must be the training inputs"),
        ((0, 0, 5, 3), {"weight_init": "mixed", "X": np.ones((4, 2))}, "n_features=3 columns"),
        ((0, 0, 5, 3), {"weight_init": "mixed", "X": np.ones((0, 3))}, "0 sample"),
        ((0, 0, 5, 1), {"weight_init": "threshold", "X": [[np.nan]]}, "NaN"),
        ((0, 0, 5, 3), {"weight_scale": float("nan")}, "weight_scale"),
        ((0, 0, 5, 3), {"weight_init": "sparse", "fan_in": 0}, "fan_in"),
    ],
)
def test_bad_argument_is_named(arguments, options, name):
    with pytest.raises(ValueError, match=name):
        stagenets.draw_candidates(*arguments, **options)
