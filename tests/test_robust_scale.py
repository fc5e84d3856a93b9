"""Inputs with wild values: what the others say is still heard, and nothing else changes."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

import problems
import stagenets

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)


def quartiles(values, fraction):
    return np.sort(values, axis=0)[int(fraction * len(values))]


def robustly_scaled(X):
    """The map that "robust" stands for, from its definition, on up to 4,096 rows."""
    some = X[:: -(-len(X) // 4096)]
    narrow = (quartiles(some, 0.75) - quartiles(some, 0.25)) / 1.349
    center, scale = X.mean(axis=0), X.std(axis=0)
    far = np.abs(X - center).max(axis=0) > 4 * scale
    wild = far & (narrow > 0) & (scale > 5 * narrow)
    center = np.where(wild, quartiles(some, 0.5), center)
    scale = np.where(wild, narrow, np.where(scale > 0, scale, 1.0))
    return (lambda rows: (rows - center) / scale), wild


def with_wild_values(X, seed=0):
    rng = np.random.default_rng(seed)
    X = X.copy()
    for column, size in ((0, 1e5), (2, 1e7)):
        X[rng.choice(len(X), 2, replace=False), column] = size * rng.normal(size=2)
    return X


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [100, 9000])
@pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
def test_wild_columns_are_scaled_by_median_and_quartiles(cls, n, order):
    X, y = problems.data_for(cls, n)
    X = np.asarray(with_wild_values(X), order=order)
    scaled, wild = robustly_scaled(X)
    assert wild.tolist() == [True, False, True, False]
    model = problems.small(cls, standardize="robust").fit(X, y)
    expected = problems.small(cls, standardize=False).fit(scaled(X), y)
    np.testing.assert_array_equal(model.selected_, expected.selected_)
    np.testing.assert_allclose(
        problems.scores_of(model, X), problems.scores_of(expected, scaled(X)), rtol=1e-6, atol=1e-6
    )


@each_estimator
def test_ordinary_columns_are_scaled_as_ever(cls):
    """Normal, binary, rare, constant and skewed columns: the same bits."""
    X, y = problems.data_for(cls, 300)
    rng = np.random.default_rng(1)
    columns = [
        rng.random(300) < 0.3,
        np.arange(300) == 7,
        np.full(300, 5.0),
        rng.exponential(size=300),
    ]
    X = np.column_stack([X, *columns])
    plain = problems.small(cls, standardize=True).fit(X, y)
    robust = problems.small(cls, standardize="robust").fit(X, y)
    np.testing.assert_array_equal(plain.readout_, robust.readout_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1e2, 1e6, 1e12, 1e30])
def test_wild_training_rows_do_not_spoil_the_others(dtype, size):
    X, y = make_friedman1(400, noise=0.5, random_state=0)
    rng = np.random.default_rng(0)
    X[rng.choice(300, 10), rng.integers(5, size=10)] = size * rng.normal(size=10)
    X = X.astype(dtype)
    score = {
        scaling: stagenets.RVFLRegressor(n_hidden=40, standardize=scaling, random_state=0)
        .fit(X[:300], y[:300])
        .score(X[300:], y[300:])
        for scaling in ("robust", True)
    }
    # Beyond 1e9 times the quartiles' distance a column is lost, but no more than before.
    assert score["robust"] > (0.8 if size < 1e9 else score[True] - 0.05)


KINDS = {
    "heavy-tailed": lambda rng: rng.standard_cauchy((240, 4)),
    "skewed": lambda rng: np.exp(2 * rng.normal(size=(240, 4))),
    "wild": lambda rng: with_wild_values(rng.normal(size=(240, 4))),
    "constant": lambda rng: rng.normal(size=(240, 4)) * [1, 1, 1, 0],
    "binary": lambda rng: (rng.random((240, 4)) < 0.4).astype(float),
    "one-hot": lambda rng: np.eye(4)[rng.integers(4, size=240)],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
def test_no_kind_of_column_is_worse_than_no_inputs(cls, kind):
    """Test rows are as wild as training rows."""
    rng = np.random.default_rng(5)
    X = KINDS[kind](rng)
    signal = np.tanh(X[:, 0]) + 0.5 * np.tanh(X[:, 1]) + 0.1 * rng.normal(size=240)
    floor = 0.0
    if cls in problems.CLASSIFIERS:
        signal = (signal > np.quantile(signal, 0.4)).astype(int)
        floor = np.bincount(signal[160:]).max() / 80
    model = problems.small(cls, alpha=3.0).fit(X[:160], signal[:160])
    assert model.score(X[160:], signal[160:]) >= floor


@pytest.mark.parametrize("bad", ["yes", 1, None, "deviation"])
def test_other_values_are_refused(bad):
    X, y = problems.data_for(stagenets.ELMRegressor)
    with pytest.raises(ValueError, match="standardize must be True, False, 'robust' or 'common'"):
        problems.small(stagenets.ELMRegressor, standardize=bad).fit(X, y)
