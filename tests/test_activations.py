"""Activation kernels, read through an ELM whose only weight is 1: transform(z) is φ(z)."""

import numpy as np
import pytest

import reference
import stagenets

extended = np.finfo(np.longdouble).eps < np.finfo(float).eps
needs_extended = pytest.mark.skipif(not extended, reason="long double is no wider than double")


def unit_weight(weight):
    def draw(_rng, pool_size, n_features):
        return np.full((n_features, pool_size), weight), np.zeros(pool_size)

    return draw


def kernel(activation, weight=1.0, dtype=float):
    rows = np.linspace(-1, 1, 8, dtype=dtype)[:, None] / dtype(weight)
    model = stagenets.ELMRegressor(
        n_hidden=1,
        pool_size=1,
        activation=activation,
        standardize=False,
        extrapolate=True,
        weight_init=unit_weight(weight),
        random_state=0,
    ).fit(rows, np.arange(8.0))
    return lambda z: model.transform(np.asarray(z, dtype=dtype)[:, None])[:, 0]


def arguments(limit):
    """Points of every magnitude and sign up to `limit`, dense near 0 and near saturation."""
    rng = np.random.default_rng(0)
    magnitudes = np.concatenate(
        [
            [0.0, 5e-324, 1e-310, np.finfo(float).tiny],
            np.exp(rng.uniform(np.log(1e-300), np.log(limit), 4000)),
            rng.uniform(0, min(limit, 4), 4000),
            rng.uniform(0, min(limit, 800), 4000),
        ]
    )
    return np.concatenate([magnitudes, -magnitudes])


LIMITS = {"sine": 1e15, "selu": 1e300, "relu": 1e300, "identity": 1e300}


def exact(activation, z):
    """φ(z) rounded from extended precision (for radbas: exp of the rounded square)."""
    double, z = z, z.astype(np.longdouble)
    lam, a = np.longdouble(reference.SELU_SCALE), np.longdouble(reference.SELU_ALPHA)
    value = {
        "sigmoid": lambda: 1 / (1 + np.exp(-z)),
        "tanh": lambda: np.tanh(z),
        "relu": lambda: np.maximum(z, 0),
        "sine": lambda: np.sin(z),
        "selu": lambda: lam * np.where(z > 0, z, a * np.expm1(np.minimum(z, 0))),
        "tribas": lambda: np.maximum(0, 1 - np.abs(z)),
        "radbas": lambda: np.exp(-(double * double).astype(np.longdouble)),
        "identity": lambda: z,
    }[activation]()
    return value.astype(float)


@needs_extended
@pytest.mark.parametrize("activation", reference.ACTIVATIONS)
def test_activation_is_within_4_ulp_over_the_whole_range(activation):
    z = arguments(LIMITS.get(activation, 1e4))
    with np.errstate(over="ignore", under="ignore"):
        expected = exact(activation, z)
    # A result that is not a normal number may as well be zero.
    vanishing = 4 * np.finfo(float).tiny
    unit = np.where(np.abs(expected) < vanishing, vanishing, np.spacing(np.abs(expected)))
    error = np.abs(kernel(activation)(z) - expected) / unit
    worst = int(np.argmax(error))
    assert error[worst] <= 4, f"{error[worst]} ulp at z = {z[worst]!r}"


@pytest.mark.parametrize("activation", [a for a in reference.ACTIVATIONS if a != "sine"])
def test_activation_saturates_at_infinity(activation):
    overflowing = kernel(activation, weight=1e200)
    at_infinity = np.array([np.inf, -np.inf])
    expected = reference.ACTIVATIONS[activation](at_infinity)
    np.testing.assert_array_equal(overflowing([1e200, -1e200]), expected)


@pytest.mark.parametrize("activation", reference.ACTIVATIONS)
def test_float32_kernel_agrees_to_single_precision(activation):
    z = np.linspace(-30, 30, 4001, dtype=np.float32)
    values = kernel(activation, dtype=np.float32)(z)
    assert values.dtype == np.float32
    expected = reference.ACTIVATIONS[activation](z.astype(float))
    np.testing.assert_allclose(values, expected, rtol=2e-6, atol=1e-6)
