"""Families of weights that look at the training rows: thresholds, leaves, mixtures with them."""

import pickle

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import kstest
from sklearn.utils.estimator_checks import parametrize_with_checks

import problems
import reference
import stagenets
from stagenets import _core
from stagenets.fitting._fitted_network import core_network, plain_network

each_affine = pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
each_family = pytest.mark.parametrize("family", ["threshold", "leaf", "mixed"])


def test_leaves_are_the_least_of_steps_at_one_training_sample():
    X = np.random.default_rng(0).normal(size=(50, 6))
    weights, biases, ends = stagenets.draw_candidates(1, 0, 1000, 6, X=X, weight_init="leaf")
    units = np.split(weights, ends[:-1], axis=1), np.split(biases, ends[:-1])
    for W, b in zip(*units, strict=True):
        assert 2 <= len(b) <= 4
        assert (np.count_nonzero(W, axis=0) == 1).all()
        seen = np.argmax(W != 0, axis=0)
        assert len(set(seen)) == len(seen)
        middles = -b / W[seen, range(len(b))]
        assert np.isclose(X[:, seen], middles, rtol=1e-12, atol=0).all(axis=1).any()
    np.testing.assert_allclose(np.bincount(np.diff(ends))[2:] / 1000, 1 / 3, atol=0.05)


def test_leaf_of_a_single_input_has_one_term():
    X = np.linspace(-2, 2, 30)[:, None]
    weights, _, ends = stagenets.draw_candidates(0, 0, 9, 1, X=X, weight_init="leaf")
    assert weights.shape == (1, 9)
    np.testing.assert_array_equal(ends, np.arange(1, 10))


def test_threshold_units_are_soft_steps_at_training_values():
    X = np.random.default_rng(0).normal(size=(50, 4)).cumsum(axis=0)
    weights, biases = stagenets.draw_candidates(
        1, 0, 4000, 4, X=X, weight_init="threshold", weight_scale=0.5
    )
    assert (np.count_nonzero(weights, axis=0) == 1).all()
    seen, slopes = np.argmax(weights != 0, axis=0), weights.sum(axis=0)
    for j, middle in enumerate(-biases / slopes):
        assert np.isclose(X[:, seen[j]], middle, rtol=1e-12, atol=0).any()
    assert kstest(np.log10(np.abs(slopes) / 0.5 / 4), "uniform").pvalue > 0.01
    assert abs(np.mean(slopes > 0) - 0.5) < 0.03
    np.testing.assert_allclose(np.bincount(seen) / 4000, 0.25, atol=0.03)


def test_mixture_has_units_of_every_kind():
    X = np.random.default_rng(0).normal(size=(50, 30))
    weights, _, ends = stagenets.draw_candidates(1, 0, 4000, 30, X=X, weight_init="mixed")
    terms = np.diff(ends, prepend=0)
    assert set(np.unique(terms)) == {1, 2, 3, 4}
    assert abs(np.mean(terms > 1) - reference.MIXTURE_ENDS[0]) < 0.03
    seen = np.count_nonzero(weights[:, ends[terms == 1] - 1], axis=0)
    assert set(np.unique(seen)) == {1, 2, 3, 4, 5, 6, 30}
    dense = 1 - reference.MIXTURE_ENDS[-1]
    assert abs(np.sum(seen == 30) / 4000 - dense) < 0.03


@each_affine
@each_family
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_fit_equals_algorithm_1_in_numpy(cls, family, solver):
    X, y = problems.data_for(cls, n=70)
    regression = cls in problems.REGRESSORS
    params = {"n_hidden": 15, "pool_size": 12, "block_size": 2, "weight_init": family}
    expected = reference.fit_affine(
        X, y if regression else reference.one_hot(y), direct=cls._links_inputs, seed=5,
        regression=regression, **params,
    )  # fmt: skip
    assert expected.growth.margin > 1e-10, "a near-tie: the problem itself does not fix the choice"
    model = cls(random_state=5, solver=solver, **{**problems.plain(cls), **params}).fit(X, y)
    assert [tuple(row) for row in model.selected_.tolist()] == expected.growth.selected
    np.testing.assert_allclose(model.objective_path_, expected.growth.objective_path, rtol=1e-9)
    np.testing.assert_allclose(problems.scores_of(model, X), expected.scores(X), atol=1e-8)


@each_affine
@each_family
@pytest.mark.parametrize("standardize", [True, False])
def test_fit_looks_at_rows_with_weight_only(cls, family, standardize):
    X, y = problems.data_for(cls, n=40)
    weighted = np.random.default_rng(0).random(len(X)) < 0.5
    classes = cls in problems.CLASSIFIERS
    targets = _core.Targets.labels(y, 3) if classes else _core.Targets.numbers(y)
    model = problems.small(cls, weight_init=family, standardize=standardize)
    fit = _core.fit(X, targets, model._settings(X.shape), weights=weighted.astype(float))

    rows = X[weighted]
    expected = []
    mean, deviation = (rows.mean(axis=0), rows.std(axis=0)) if standardize else (0.0, 1.0)
    for stage, index in fit.history.selected:
        weights, biases, *ends = reference.draw_pool(
            0, int(stage), 10, 4, family=family, rows=(rows - mean) / deviation
        )
        unit = slice(index, index + 1)
        if ends:
            unit = slice(ends[0][index - 1] if index else 0, ends[0][index])
        expected.append(((rows - mean) / deviation @ weights[:, unit] + biases[unit]).min(axis=1))
    actual = fit.network.activations(rows, 1)
    np.testing.assert_allclose(actual, expit(np.column_stack(expected)), atol=1e-9)


@each_family
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("p", [1, 3, 40])
def test_units_of_unlike_width_are_evaluated_as_one_formula(family, order, dtype, p):
    X, y = problems.data_for(stagenets.RVFLRegressor, n=300, p=p)
    X = np.asarray(X, dtype=dtype, order=order)
    model = stagenets.RVFLRegressor(
        n_hidden=40, pool_size=30, block_size=4, weight_init=family, random_state=0
    ).fit(X, y)
    terms = X.astype(float) @ model.hidden_weights_ + model.hidden_biases_
    expected = expit(reference.least_terms(terms, model.hidden_ends_))
    atol = 1e-12 if dtype is np.float64 else 2e-4
    np.testing.assert_allclose(model.transform(X), expected, atol=atol)
    # What the fit saw of the units is what the readout was fitted to.
    design = np.hstack([X.astype(float), expected])
    residual = (y - design @ model.readout_.T - model.readout_intercept_) / y.std(axis=0)
    np.testing.assert_allclose(np.sum(residual**2), model.residual_path_[-1], rtol=100 * atol)


@each_family
def test_same_bits_for_any_number_of_threads(family):
    X, y = problems.data_for(stagenets.ELMClassifier, n=3000, p=30)
    one, three = (
        problems.small(stagenets.ELMClassifier, weight_init=family, pool_size=100, n_jobs=jobs)
        .fit(X, y)
        .decision_function(X)
        for jobs in (1, 3)
    )
    np.testing.assert_array_equal(one, three)


@each_family
def test_one_shot_network_is_the_head_of_a_larger_one(family):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    small, large = (
        stagenets.RVFLClassifier(
            n_hidden=n, selection="random", weight_init=family, random_state=3
        ).fit(X, y)
        for n in (7, 15)
    )
    np.testing.assert_array_equal(small.hidden_ends_, large.hidden_ends_[:7])
    columns = small.hidden_ends_[-1]
    np.testing.assert_array_equal(small.hidden_weights_, large.hidden_weights_[:, :columns])


def test_thresholds_fit_a_staircase():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 5))
    y = np.floor(4 * X[:, 0]) + (X[:, 1] > 0.3)
    model = stagenets.RVFLRegressor(n_hidden=60, weight_init="threshold", random_state=0)
    assert model.fit(X, y).score(X, y) > 0.97


def test_constant_inputs_do_no_harm():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    X[:, 2] = 7.0
    model = problems.small(stagenets.RVFLClassifier, weight_init="mixed").fit(X, y)
    moved = X + np.array([0, 0, 1e6, 0])
    np.testing.assert_allclose(model.decision_function(moved), model.decision_function(X))


@pytest.mark.parametrize("cls", problems.BLS, ids=problems.name_of)
@each_family
def test_broad_systems_refuse_them(cls, family):
    X, y = problems.data_for(cls)
    with pytest.raises(ValueError, match=f"weight_init must be one of .* got {family!r}"):
        problems.small(cls, weight_init=family).fit(X, y)


@pytest.mark.parametrize("cls", [stagenets.RVFLClassifier, stagenets.ELMRegressor])
@each_family
def test_files_pickles_and_exports_say_what_the_model_says(cls, family, tmp_path):
    X, y = problems.data_for(cls, p=30)
    model = problems.small(cls, weight_init=family).fit(X, y)
    expected = problems.scores_of(model, X)
    model.save(tmp_path / "model")
    loaded = stagenets.load(tmp_path / "model")
    assert loaded.weight_init == family
    for copy in (loaded, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(problems.scores_of(copy, X), expected)
        np.testing.assert_array_equal(copy.hidden_ends_, model.hidden_ends_)
    module = {}
    exec(stagenets.to_numpy_source(model), module)
    np.testing.assert_allclose(module["predict"](X), model.predict(X), rtol=1e-9)
    onnxruntime = pytest.importorskip("onnxruntime")
    converted = stagenets.to_onnx(model, dtype=np.float64).SerializeToString()
    session = onnxruntime.InferenceSession(converted, providers=["CPUExecutionProvider"])
    results = session.run(None, {"X": X})
    predicted = model.predict_proba(X) if cls in problems.CLASSIFIERS else model.predict(X)
    np.testing.assert_allclose(results[-1], predicted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ends", [[], [0, 2], [2, 1], [2, 2], [1], [3], [-1, 2]])
def test_ends_that_do_not_rise_to_the_number_of_terms_are_refused(ends):
    X, y = problems.data_for(stagenets.ELMRegressor)
    model = problems.small(stagenets.ELMRegressor, n_hidden=2, weight_init="leaf").fit(X, y)
    plain = plain_network(model.network_.core)
    plain["layers"][0]["ends"] = ends
    with pytest.raises(ValueError, match="must"):
        core_network(plain)


@parametrize_with_checks([stagenets.RVFLClassifier(n_hidden=30, weight_init="mixed")])
def test_scikit_learn_check(estimator, check):
    check(estimator)
