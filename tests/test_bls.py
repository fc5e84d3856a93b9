"""The broad learning system: its windows, its ranges, its stages."""

import numpy as np
import pytest

import problems
import reference

each_bls = pytest.mark.parametrize("cls", problems.BLS, ids=problems.name_of)


def nodes(model, X):
    values = model.transform(X)
    n_features = model.n_windows * model.n_feature_nodes
    return values[:, :n_features], values[:, n_features:]


@each_bls
@pytest.mark.parametrize("sparse_features", [True, False])
@pytest.mark.parametrize("feature_activation", ["identity", "sigmoid"])
@pytest.mark.parametrize("selection", ["residual", "random"])
def test_feature_nodes_span_minus_one_to_one(cls, sparse_features, feature_activation, selection):
    X, y = problems.data_for(cls)
    model = problems.small(
        cls,
        sparse_features=sparse_features,
        feature_activation=feature_activation,
        selection=selection,
    ).fit(X, y)
    features, _ = nodes(model, X)
    constant = (features == 0).all(axis=0)
    assert not constant.all()
    np.testing.assert_allclose(features[:, ~constant].min(axis=0), -1, atol=1e-12)
    np.testing.assert_allclose(features[:, ~constant].max(axis=0), 1, atol=1e-12)


@each_bls
@pytest.mark.parametrize("selection", ["residual", "random"])
def test_enhancement_inputs_are_shrunk_to_four_fifths(cls, selection):
    X, y = problems.data_for(cls)
    model = problems.small(cls, enhancement_activation="identity", selection=selection).fit(X, y)
    _, enhancement = nodes(model, X)
    largest = np.abs(enhancement).max(axis=0)
    assert largest.max() <= 0.8 * (1 + 1e-12)
    if selection == "random":  # each node by itself
        np.testing.assert_allclose(largest, 0.8, rtol=1e-12)


@each_bls
@pytest.mark.parametrize("n_enhancement", [5, 40], ids=["tall", "wide"])
def test_one_shot_enhancement_weights_are_orthogonal_in_groups(cls, n_enhancement):
    X, y = problems.data_for(cls)
    model = problems.small(
        cls,
        feature_activation="tanh",  # linear nodes of 4 inputs would have only rank 4
        enhancement_activation="identity",
        selection="random",
        n_enhancement=n_enhancement,
    ).fit(X, y)
    features, enhancement = nodes(model, X)
    inputs = np.hstack([features, np.full((len(X), 1), 0.1)])
    V = np.linalg.lstsq(inputs, enhancement, rcond=None)[0]  # 9 inputs, of full column rank
    V /= np.linalg.norm(V, axis=0)
    for first in range(0, n_enhancement, 9):
        group = V[:, first : first + 9]
        np.testing.assert_allclose(group.T @ group, np.eye(group.shape[1]), atol=1e-6)


@each_bls
def test_one_shot_network_begins_every_larger_one(cls):
    X, y = problems.data_for(cls)
    small, large = (
        problems.small(cls, selection="random", n_enhancement=nodes).fit(X, y) for nodes in (4, 25)
    )
    first = small.n_hidden_
    np.testing.assert_allclose(large.transform(X)[:, :first], small.transform(X), atol=1e-12)


@each_bls
@pytest.mark.parametrize(
    ("block_size", "kept"), [(1, [1] * 15), (2, [2, 2, 1] * 2 + [2, 2, 1]), (4, [4, 1] * 3)]
)
def test_stages_fill_window_after_window_then_enhance(cls, block_size, kept):
    X, y = problems.data_for(cls)
    size = {"n_windows": 2, "n_feature_nodes": 5, "n_enhancement": 5}
    model = problems.small(cls, block_size=block_size, **size).fit(X, y)
    assert np.bincount(model.selected_[:, 0]).tolist() == kept
    assert model.n_iter_ == len(kept)


@each_bls
def test_one_shot_network_has_one_stage_per_window_and_one_more(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls, selection="random").fit(X, y)
    expected = [[w, j] for w in range(2) for j in range(4)] + [[2, j] for j in range(6)]
    assert model.selected_.tolist() == expected


@each_bls
def test_one_shot_network_ignores_pool_and_block(cls):
    X, y = problems.data_for(cls)
    plain, other = (
        problems.small(cls, selection="random", pool_size=m, block_size=k).fit(X, y)
        for m, k in ((10, 1), (3, 3))
    )
    np.testing.assert_array_equal(problems.scores_of(plain, X), problems.scores_of(other, X))


@each_bls
def test_default_size_is_ten_windows_of_ten_and_a_hundred(cls):
    X, y = problems.data_for(cls)
    model = cls(random_state=0).fit(X, y)
    assert (model.n_windows, model.n_feature_nodes, model.n_enhancement) == (10, 10, 100)
    assert model.n_hidden_ == 200


@each_bls
@pytest.mark.parametrize("weight_init", ["uniform", "normal", "sparse"])
@pytest.mark.parametrize("sparse_features", [True, False])
@pytest.mark.parametrize("pool_size", [3, 12], ids=["tall-pool", "wide-pool"])
def test_nodes_on_fresh_rows_equal_the_reference(cls, weight_init, sparse_features, pool_size):
    """A pool wider or narrower than its 1 + nf inputs takes either branch of the QR."""
    X, y = problems.data_for(cls, p=6)
    fresh, _ = problems.data_for(cls, 15, p=6, seed=9)
    params = {
        "weight_init": weight_init,
        "sparse_features": sparse_features,
        "pool_size": pool_size,
        "feature_activation": "tanh",
        "fan_in": 4,
    }
    seed = 4  # no near-tie: two sparse units that see the same single input are twins
    model = problems.small(cls, random_state=seed, **params).fit(X, y)
    regression = cls in problems.REGRESSORS
    targets = y if regression else reference.one_hot(y)
    expected = reference.fit_bls(
        X, targets, seed=seed, regression=regression, **problems.SMALL_BLS, **params
    )
    assert expected.growth.margin > 1e-10
    np.testing.assert_allclose(model.transform(fresh), expected.transform(fresh), atol=1e-9)


@each_bls
def test_constant_inputs_give_constant_predictions(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(np.ones_like(X), y)
    scores = problems.scores_of(model, np.ones((3, 4)))
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(scores, scores[[0, 0, 0]])


@each_bls
@pytest.mark.parametrize("selection", ["residual", "random"])
def test_no_penalty_passes_over_spare_feature_nodes_and_still_enhances(cls, selection):
    """Of 8 linear feature nodes on 4 inputs, 4 add nothing; the enhancement nodes still do."""
    X, y = problems.data_for(cls)
    model = problems.small(cls, alpha=0.0, selection=selection).fit(X, y)
    regression = cls in problems.REGRESSORS
    targets = (y - y.mean(axis=0)) / y.std(axis=0) if regression else reference.one_hot(y)
    design = np.hstack([np.ones((len(X), 1)), model.transform(X)])
    assert np.linalg.matrix_rank(design) > 5
    best = np.linalg.lstsq(design, targets, rcond=None)[0]
    assert model.objective_path_[-1] == pytest.approx(np.sum((targets - design @ best) ** 2))
    assert np.isfinite(problems.scores_of(model, X)).all()
