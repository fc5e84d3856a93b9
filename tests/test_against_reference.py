"""The package against plain NumPy, on one random problem for each way of building a network."""

import itertools
import zlib

import numpy as np
import pytest

import problems
import reference
from stagenets.fitting._parameters import ACTIVATIONS, ROWLESS_FAMILIES

GRID = list(
    itertools.product(
        ["rvfl", "elm", "bls"],
        ["classification", "regression"],
        ["primal", "dual"],
        [1, 2, 4],
        [2, 5, 26],
        ["tall", "wide"],
    )
)
FRESH_ROWS = 20


def problem(network, task, solver, block_size, n_outputs, shape):
    """Data and parameters, with everything the grid leaves open drawn at random from its name."""
    name = f"{network} {task} {solver} {block_size} {n_outputs} {shape}"
    seed = zlib.crc32(name.encode())
    rng = np.random.default_rng(seed)
    n, p = (int(rng.integers(90, 130)), 6) if shape == "tall" else (int(rng.integers(53, 60)), 30)
    X = problems.inputs(rng, n + FRESH_ROWS, p)
    make = problems.labels if task == "classification" else problems.responses
    y = make(rng, X[:n], n_outputs)

    params = {
        "alpha": float(rng.choice([0.05, 0.3, 1.0, 8.0])),
        "pool_size": int(rng.integers(block_size, 22)),
        "block_size": block_size,
        "selection": str(rng.choice(["residual", "residual", "residual", "random"])),
        "weight_scale": float(rng.choice([0.5, 1.0, 2.0])),
        "standardize": bool(rng.random() < 0.75),
        "fit_intercept": bool(rng.random() < 0.75),
    }
    if network == "bls":
        params |= {
            "n_windows": int(rng.integers(2, 4)),
            "n_feature_nodes": 7 if shape == "tall" else 15,
            "n_enhancement": 17 if shape == "tall" else 33,
            "feature_activation": str(rng.choice(["identity", "tanh"])),
            "enhancement_activation": str(rng.choice(["tanh", "sigmoid", "sine"])),
            "sparse_features": bool(rng.random() < 0.7),
            "weight_init": str(rng.choice(["uniform", "normal"])),
        }
    else:
        params |= {
            "n_hidden": 19 if shape == "tall" else 61,
            "activation": str(
                rng.choice(["sigmoid", "tanh", "relu", "sine", "selu", "tribas", "radbas"])
            ),
            "weight_init": str(rng.choice(["uniform", "normal", "sparse"])),
            "fan_in": int(rng.integers(1, 9)),
        }
    return X[:n], y, X[n:], int(seed), params


def oracle(network, task, X, y, seed, params):
    targets = reference.one_hot(y) if task == "classification" else y
    common = {"seed": seed, "regression": task == "regression", **params}
    if network == "bls":
        return reference.fit_bls(X, targets, **common)
    return reference.fit_affine(X, targets, direct=network == "rvfl", **common)


def test_problems_cover_every_activation_and_weight_family():
    drawn = [problem(*choice)[-1] for choice in GRID]
    activations = {
        value for params in drawn for key, value in params.items() if key.endswith("activation")
    }
    assert activations == set(ACTIVATIONS)
    assert {params["weight_init"] for params in drawn} == set(ROWLESS_FAMILIES)
    for name in ("standardize", "fit_intercept"):
        assert {params[name] for params in drawn} == {False, True}


@pytest.mark.parametrize(
    ("network", "task", "solver", "block_size", "n_outputs", "shape"),
    GRID,
    ids=[f"{g[0]}-{g[1]}-{g[2]}-k{g[3]}-q{g[4]}-{g[5]}" for g in GRID],
)
def test_fit_equals_algorithm_1_in_numpy(network, task, solver, block_size, n_outputs, shape):
    X, y, fresh, seed, params = problem(network, task, solver, block_size, n_outputs, shape)
    expected = oracle(network, task, X, y, seed, params)
    n, d = expected.growth.design.shape
    assert (n > d) == (shape == "tall")
    assert expected.growth.margin > 1e-10, "a near-tie: the problem itself does not fix the choice"

    cls = problems.ESTIMATORS[network, task]
    model = cls(solver=solver, random_state=seed, **{**problems.plain(cls), **params}).fit(X, y)

    assert [tuple(row) for row in model.selected_.tolist()] == expected.growth.selected
    np.testing.assert_allclose(model.objective_path_, expected.growth.objective_path, rtol=1e-9)
    np.testing.assert_allclose(model.residual_path_, expected.growth.residual_path, rtol=1e-8)
    for rows in (X, fresh):
        scores = expected.scores(rows)
        atol = 1e-8 * np.abs(scores).max()
        np.testing.assert_allclose(model.transform(rows), expected.transform(rows), atol=1e-9)
        if task == "regression":
            np.testing.assert_allclose(model.predict(rows), scores, rtol=0, atol=atol)
            continue
        decision = scores[:, 1] - scores[:, 0] if n_outputs == 2 else scores
        np.testing.assert_allclose(model.decision_function(rows), decision, rtol=0, atol=atol)
        np.testing.assert_array_equal(model.predict(rows), np.argmax(scores, axis=1))
