"""What an estimator holds after fit, and how the pieces fit together in raw inputs."""

import numpy as np
import pytest

import problems
import reference


@pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_affine_networks_can_be_rebuilt_from_raw_inputs(cls, standardize, fit_intercept):
    X, y = problems.data_for(cls, n_outputs=4)
    model = problems.small(
        cls, activation="tanh", standardize=standardize, fit_intercept=fit_intercept
    ).fit(X, y)
    direct = 4 if cls.__name__.startswith("RVFL") else 0
    assert model.hidden_weights_.shape == (4, 12)
    assert model.hidden_biases_.shape == (12,)
    assert model.readout_.shape == (4, direct + 12)
    assert model.readout_intercept_.shape == (4,)

    hidden = np.tanh(X @ model.hidden_weights_ + model.hidden_biases_)
    np.testing.assert_allclose(model.transform(X), hidden, atol=1e-12)
    scores = hidden @ model.readout_[:, direct:].T + model.readout_intercept_
    if direct:
        scores += X @ model.readout_[:, :direct].T
    np.testing.assert_allclose(problems.scores_of(model, X), scores, atol=1e-11)


@pytest.mark.parametrize("cls", problems.BLS, ids=problems.name_of)
def test_bls_scores_are_linear_in_its_nodes(cls):
    X, y = problems.data_for(cls, n_outputs=4)
    model = problems.small(cls).fit(X, y)
    assert model.readout_.shape == (4, 2 * 4 + 6)
    scores = model.transform(X) @ model.readout_.T + model.readout_intercept_
    np.testing.assert_allclose(problems.scores_of(model, X), scores, atol=1e-11)


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_paths_and_counts_have_one_entry_per_stage(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls, block_size=5).fit(X, y)
    stages = 2 + 2 if cls in problems.BLS else 3  # 4 = one block a window; 6, 12 = 5 + 1, 5 + 5 + 2
    assert model.n_iter_ == stages
    assert model.objective_path_.shape == model.residual_path_.shape == (stages + 1,)
    assert model.n_hidden_ == model.transform(X).shape[1] == len(model.selected_)
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_selected_lists_stage_and_index_in_order_of_choice(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls, block_size=2).fit(X, y)
    stages, indices = model.selected_.T
    assert np.issubdtype(model.selected_.dtype, np.integer)
    assert (np.diff(stages) >= 0).all()
    assert set(stages) == set(range(model.n_iter_))
    assert (indices >= 0).all()
    assert (indices < 10).all()
    assert len({tuple(row) for row in model.selected_.tolist()}) == model.n_hidden_


@pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
def test_one_shot_network_keeps_its_only_pool_in_order(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls, selection="random", pool_size=1).fit(X, y)
    assert model.n_iter_ == 1
    assert model.selected_.tolist() == [[0, j] for j in range(12)]


@pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
@pytest.mark.parametrize(("n", "units"), [(100, 50), (400, 80), (2000, 300)])
def test_auto_is_a_fifth_of_the_samples_within_bounds(cls, n, units):
    X, y = problems.data_for(cls, n, 4, n_outputs=2)
    model = cls(selection="random", alpha=3.0, random_state=0).fit(X, y)
    assert model.n_hidden_ == units == max(50, min(300, n // 5))


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_feature_names_out_name_each_hidden_unit(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y)
    names = model.get_feature_names_out()
    assert len(names) == len(set(names)) == model.transform(X).shape[1]
    assert all(isinstance(name, str) for name in names)


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_same_seed_same_model_and_other_seed_other_model(cls):
    X, y = problems.data_for(cls)
    first, again, other = (
        problems.scores_of(problems.small(cls, random_state=s).fit(X, y), X) for s in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-6


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_no_seed_gives_a_new_model_each_time(cls):
    X, y = problems.data_for(cls)
    first, second = (
        problems.scores_of(problems.small(cls, random_state=None).fit(X, y), X) for _ in range(2)
    )
    assert np.abs(first - second).max() > 1e-6


@pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
def test_constant_column_is_centred_and_not_blown_up(cls):
    X, y = problems.data_for(cls)
    X[:, 2] = 0.1  # its computed deviation is a rounding error, not 0
    task = "classification" if cls in problems.CLASSIFIERS else "regression"
    model = problems.small(cls).fit(X, y)
    expected = reference.fit_affine(
        X,
        reference.one_hot(y) if task == "classification" else y,
        direct=cls.__name__.startswith("RVFL"),
        regression=task == "regression",
        seed=0,
        n_hidden=12,
        pool_size=10,
    )
    np.testing.assert_allclose(problems.scores_of(model, X), expected.scores(X), atol=1e-8)


@pytest.mark.parametrize("scale", [2.0**532, 2.0**-532], ids=["1e160", "1e-160"])
@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_standardised_fit_does_not_depend_on_units_of_measurement(cls, scale):
    X, y = problems.data_for(cls)
    plain = problems.small(cls).fit(X, y)
    scaled = problems.small(cls).fit(scale * X, y)
    np.testing.assert_allclose(
        problems.scores_of(scaled, scale * X), problems.scores_of(plain, X), atol=1e-8
    )
