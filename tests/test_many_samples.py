"""What "auto" stands for with up to and with more than 65,536 samples."""

import numpy as np
import pytest
from sklearn.base import clone

import problems
from stagenets import BLSRegressor, RVFLClassifier, RVFLRegressor, _core

LIMIT = 65_536


def many(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2]


def test_the_core_calls_so_many_rows_many():
    assert _core.MANY_ROWS == LIMIT


@pytest.mark.parametrize(
    ("n", "pool", "blocks"), [(LIMIT, 100, [1] * 60), (LIMIT + 1, 400, None)], ids=["few", "many"]
)
def test_pools_and_blocks_are_large_only_for_many_samples(n, pool, blocks):
    X, y = many(n)
    model = RVFLRegressor(n_hidden=60, alpha=1.0, random_state=0).fit(X, y)
    if blocks is None:  # one more for every 25 units that are there
        blocks = [1] * 25 + [2] * 13 + [3] * 3
    assert np.diff(model.units_path_).tolist() == blocks
    assert model.selected_[:, 1].max() < pool
    same = clone(model).set_params(pool_size=pool).fit(X, y)
    np.testing.assert_array_equal(same.selected_, model.selected_)
    other = clone(model).set_params(pool_size=pool // 2).fit(X, y)
    assert not np.array_equal(other.selected_, model.selected_)


def test_large_pools_hold_candidates_that_are_chosen():
    X, y = many(LIMIT + 1)
    model = RVFLRegressor(n_hidden=30, alpha=1.0, random_state=0).fit(X, y)
    assert model.selected_[:, 1].max() >= 100


@pytest.mark.parametrize("selection", ["joint", "residual"])
def test_blocks_grow_within_a_window_and_only_if_units_are_chosen_jointly(selection):
    X, y = many(LIMIT + 1)
    sizes = {"n_windows": 4, "n_feature_nodes": 10, "n_enhancement": 30}
    model = BLSRegressor(**sizes, pool_size=60, alpha=1.0, selection=selection, random_state=0).fit(
        X, y
    )
    kept = [1] * 25 + [2, 2, 1] + [2] * 5 + [1] * 25 + [2, 2, 1]  # 4 windows of 10, then the rest
    assert np.diff(model.units_path_).tolist() == (kept if selection == "joint" else [1] * 70)
    assert (np.diff(model.objective_path_) <= 0).all()


def test_pools_are_at_least_as_large_as_a_block():
    X, y = problems.data_for(RVFLClassifier, n=300)
    model = RVFLClassifier(n_hidden=150, block_size=150, alpha=1.0, random_state=0).fit(X, y)
    same = clone(model).set_params(pool_size=150).fit(X, y)
    np.testing.assert_array_equal(model.readout_, same.readout_)


@pytest.mark.parametrize("name", ["pool_size", "block_size"])
@pytest.mark.parametrize("value", ["all", 0, 1.5])
def test_other_sizes_are_refused(name, value):
    X, y = problems.data_for(RVFLClassifier, n=40)
    with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1 or 'auto'"):
        RVFLClassifier(**{name: value}).fit(X, y)
