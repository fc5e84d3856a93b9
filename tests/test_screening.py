"""Pools of float64 fits are ranked in single precision first; units are those of a pass in double.

`fit_stagewise` gets activations in double and knows no other way, so it is what to compare with.
"""

import numpy as np
import pytest

import reference
import stagenets

POOL, UNITS = 40, 6


class Twins:
    """Weights of many sizes, a third of them copies of others, exact or but for 1e-5 … 1e-12."""

    def __init__(self, scale):
        self.scale = scale

    def draw(self, rng, pool_size, n_features):
        weights = rng.normal(size=(n_features, pool_size)) * 10 ** rng.uniform(-1, 1, pool_size)
        weights[rng.random(weights.shape) < 0.4] = 0
        biases = rng.uniform(-1, 1, pool_size)
        for copy in rng.choice(pool_size, pool_size // 3, replace=False):
            original = rng.integers(pool_size)
            change = rng.choice([0, 1e-5, 1e-7, 1e-9, 1e-12])
            weights[:, copy] = weights[:, original] * (1 + change * rng.normal(size=n_features))
            biases[copy] = biases[original]
        return self.scale * weights, self.scale * biases


def activations(name, X, weights, biases):
    """Summed input by input, so that equal units are equal to the last bit wherever they stand."""
    z = np.zeros((len(X), len(biases)))
    for column, row in zip(X.T, weights, strict=True):
        z += column[:, None] * row
    return reference.ACTIVATIONS[name](z + biases)


def merit(selection, pools, units, y, weight, alpha):
    """What the last of these units is chosen by: its score, or the objective once all are there."""
    roots = np.ones(len(y)) if weight is None else np.sqrt(weight)
    columns = [np.ones(len(y)), *(pools[stage][:, index] for stage, index in units)]
    design, targets = roots[:, None] * np.column_stack(columns), roots[:, None] * y
    if selection == "joint":
        readout = reference.ridge(design, targets, alpha)
        return reference.objective(design, targets, alpha, readout)
    before = sum(stage < units[-1][0] for stage, _ in units)  # units of earlier stages
    start, unit = design[:, : 1 + before], design[:, -1]
    residual = targets - start @ reference.ridge(start, targets, alpha)
    return np.sum((unit @ residual) ** 2) / (unit @ unit + alpha)


@pytest.mark.parametrize("selection", ["residual", "joint"])
def test_units_are_those_of_the_double_pass_on_600_problems_with_near_ties(selection):
    ties = 0
    for problem in range(600):
        rng = np.random.default_rng([problem, len(selection)])
        n, p, outputs = rng.integers(30, 120), rng.integers(1, 6), rng.integers(1, 4)
        X = rng.normal(size=(n, p)) * 10 ** rng.uniform(-2, 2, p)
        weight = None if rng.random() < 0.5 else 10 ** rng.uniform(-3, 3, n)
        y = np.sin(X @ rng.normal(size=(p, outputs))) + 0.1 * rng.normal(size=(n, outputs))
        y = y - np.average(y, axis=0, weights=weight)
        y /= np.sqrt(np.average(y**2, axis=0, weights=weight))
        family = Twins(10 ** rng.uniform(-5, 2))
        activation = rng.choice(list(reference.ACTIVATIONS))
        shared = {
            "n_hidden": UNITS,
            "pool_size": POOL,
            "block_size": int(rng.integers(1, 4)),
            "alpha": 10 ** rng.uniform(-4, 2),
            "selection": selection,
        }
        model = stagenets.ELMRegressor(
            weight_init=family,
            activation=activation,
            standardize=False,
            random_state=problem,
            **shared,
        ).fit(X, y, sample_weight=weight)
        pools = {}

        def candidates(
            stage, _, problem=problem, family=family, name=activation, X=X, p=p, pools=pools
        ):
            drawn = stagenets.draw_candidates(problem, stage, POOL, p, weight_init=family)
            pools[stage] = activations(name, X, *drawn)
            return pools[stage]

        expected = stagenets.fit_stagewise(candidates, y, sample_weight=weight, **shared).selected
        if np.array_equal(model.selected_, expected):
            continue
        # Only units that double precision itself cannot tell apart may stand for each other.
        ties += 1
        shorter = min(len(expected), len(model.selected_))
        different = (model.selected_[:shorter] != expected[:shorter]).any(axis=1)
        first = int(np.argmax(different)) + 1
        ours, theirs = (
            merit(selection, pools, units[:first], y, weight, shared["alpha"])
            for units in (model.selected_, expected)
        )
        assert ours == pytest.approx(theirs, rel=1e-11)
    assert ties < 30


def test_wild_inputs_are_ranked_in_double():
    """Values that single precision cannot hold, in a row without weight and in all rows."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(200, 3)), np.ones(200)
    y = np.tanh(X[:, 0] * X[:, 1])
    params = {"weight_init": "uniform", "n_hidden": 10, "random_state": 0, "standardize": False}
    plain = stagenets.RVFLRegressor(**params).fit(X[:-1], y[:-1])
    X[-1] = 1e200
    weight[-1] = 0
    with_wild_row = stagenets.RVFLRegressor(**params).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(with_wild_row.selected_, plain.selected_)
    X[-1] = 0
    scaled, usual = (
        stagenets.RVFLRegressor(**{**params, "standardize": True}).fit(factor * X, y)
        for factor in (2.0**600, 1)
    )
    np.testing.assert_array_equal(scaled.selected_, usual.selected_)


def test_scores_are_recorded_in_double():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    y = (y - y.mean()) / y.std()
    model = stagenets.ELMRegressor(
        n_hidden=4,
        alpha=1.0,
        weight_init="uniform",
        selection="residual",
        standardize=False,
        random_state=0,
    ).fit(X, y)
    design = np.ones((len(X), 1))
    for unit, (stage, index) in enumerate(model.selected_):
        weights, biases = stagenets.draw_candidates(0, stage, 100, 4, weight_init="uniform")
        pool = activations("sigmoid", X, weights, biases)
        residual = y - design @ reference.ridge(design, y[:, None], 1.0)[:, 0]
        scores = (pool.T @ residual) ** 2 / ((pool**2).sum(axis=0) + 1.0)
        assert index == np.argmax(scores)
        assert model.unit_scores_[unit] == pytest.approx(scores[index], rel=1e-9)
        np.testing.assert_allclose(
            model.pool_quantiles_[stage], np.quantile(scores, [0, 0.25, 0.5, 0.75, 1]), rtol=0.2
        )
        np.testing.assert_allclose(
            model.pool_quantiles_[stage][[0, 4]], [scores.min(), scores.max()], rtol=1e-3
        )
        design = np.column_stack([design, pool[:, index]])


@pytest.mark.parametrize("order", ["C", "F"])
def test_some_of_many_samples_are_ranked_as_in_double(order):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(70_000, 2)), order=order)
    y = np.sin(3 * X[:, :1]) + 0.1 * rng.normal(size=(len(X), 1))
    y = (y - y.mean()) / y.std()
    shared = {
        "n_hidden": 3,
        "pool_size": 30,
        "block_size": 1,
        "alpha": 1.0,
        "selection": "residual",
    }
    model = stagenets.ELMRegressor(
        weight_init="uniform", standardize=False, score_fraction="auto", random_state=0, **shared
    ).fit(X, y)

    def candidates(stage, size):
        drawn = stagenets.draw_candidates(0, stage, size, 2, weight_init="uniform")
        return activations("sigmoid", X, *drawn)

    expected = stagenets.fit_stagewise(candidates, y, score_fraction="auto", **shared)
    np.testing.assert_array_equal(model.selected_, expected.selected)
