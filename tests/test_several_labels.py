"""Samples with several labels: against NumPy, scikit-learn and brute force."""

import warnings

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import expit, log_expit
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, KFold

import reference
import stagenets
from problems import CLASSIFIERS, name_of, small


def data(samples=120, labels=4, seed=0):
    return make_multilabel_classification(
        samples, 6, n_classes=labels, n_labels=2, random_state=seed
    )


def network_in_numpy(model, X, Y):
    """One network on all labels, by the reference."""
    params = model.get_params()
    own = ("alpha", "pool_size", "block_size", "fit_intercept", "weight_scale", "fan_in")
    shared = {name: params[name] for name in own} | {"seed": params["random_state"]}
    shared |= {"selection": params["selection"], "weight_init": params["weight_init"]}
    targets = Y.astype(float)
    if isinstance(model, stagenets.BLSClassifier):
        sizes = ("n_windows", "n_feature_nodes", "n_enhancement")
        return reference.fit_bls(X, targets, **shared, **{name: params[name] for name in sizes})
    direct = isinstance(model, stagenets.RVFLClassifier)
    return reference.fit_affine(X, targets, direct=direct, n_hidden=params["n_hidden"], **shared)


def design(model, X):
    columns = [np.ones((len(X), 1)), model.transform(X)]
    if isinstance(model, stagenets.RVFLClassifier):
        columns.insert(1, (X - X.mean(axis=0)) / X.std(axis=0))
    return np.hstack(columns)


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name_of)
def test_squared_loss_fits_one_network_to_all_labels(cls):
    X, Y = data()
    model = small(cls, standardize=True).fit(X, Y)
    expected = network_in_numpy(model, X, Y)
    np.testing.assert_array_equal(model.selected_, expected.growth.selected)
    np.testing.assert_allclose(model.objective_path_, expected.growth.objective_path, rtol=1e-9)
    scores = model.decision_function(X) + model.thresholds_
    np.testing.assert_allclose(scores, expected.scores(X), atol=1e-8)


@pytest.mark.parametrize("selection", ["joint", "random"])
def test_thresholds_are_the_likeliest_of_exact_leave_one_out_scores(selection):
    X, Y = data(60)
    model = small(stagenets.ELMClassifier, selection=selection).fit(X, Y)
    left_out = reference.leave_one_out_scores(design(model, X), Y.astype(float), model.alpha)
    for label, scores in enumerate(left_out.T):
        count = Y[:, label].sum()
        goal = np.where(Y[:, label], (count + 1) / (count + 2), 1 / (len(Y) - count + 2))

        def loss(point, scores=scores, goal=goal):
            z = point[0] * scores + point[1]
            return -(goal * log_expit(z) + (1 - goal) * log_expit(-z)).sum()

        slope, shift = minimize(loss, [1, 0], bounds=[(1e-3, 1e3), (None, None)], tol=1e-12).x
        assert model.temperature_[label] == pytest.approx(slope, rel=1e-2)
        assert model.thresholds_[label] == pytest.approx(-shift / slope, abs=5e-3)


@pytest.mark.parametrize("selection", ["joint", "random"])
@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name_of)
def test_log_loss_is_that_of_logistic_regression_for_each_label(cls, selection):
    X, Y = data()
    model = small(cls, loss="log", alpha=0.5, selection=selection).fit(X, Y)
    A, least = design(model, X), 0.0
    for y in Y.T:
        found = LogisticRegression(C=2, fit_intercept=False, tol=1e-10, max_iter=20_000).fit(A, y)
        weights = found.coef_.ravel()
        margins = (2 * y - 1) * (A @ weights)
        least += -log_expit(margins).sum() + 0.25 * weights @ weights
    assert model.objective_path_[-1] == pytest.approx(least, rel=1e-6)
    np.testing.assert_array_equal(model.thresholds_, 0)
    np.testing.assert_allclose(model.predict_proba(X), expit(model.decision_function(X)))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(2, 5),
    st.floats(-3, 3),
    st.sampled_from(["log", "squared"]),
    st.sampled_from([np.float64, np.float32]),
)
def test_objective_never_rises(seed, labels, exponent, loss, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3)).astype(dtype)
    Y = rng.integers(0, 2, size=(40, labels))
    Y[:, 0] = seed % 2  # in all samples, or in none
    model = stagenets.RVFLClassifier(
        loss=loss, alpha=10**exponent, n_hidden=10, pool_size=10, random_state=seed, n_jobs=1
    ).fit(X, Y)
    path = model.objective_path_
    assert (np.diff(path) <= (1e-12 if dtype == np.float64 else 1e-5) * path[:-1]).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert (model.predict(X)[:, 0] == seed % 2).all()


@pytest.mark.parametrize("loss", ["squared", "log"])
def test_what_is_predicted_agrees(loss):
    X, Y = data()
    model = small(stagenets.RVFLClassifier, loss=loss).fit(X, csr_matrix(Y))
    assert model.predict(X).shape == Y.shape
    assert set(np.unique(model.predict(X))) <= {0, 1}
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > 0.5)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    assert model.score(X, Y) == accuracy_score(Y, model.predict(X))
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    *_, last = model.staged_decision_function(X)
    np.testing.assert_array_equal(last, model.decision_function(X))
    np.testing.assert_array_equal(model.classes_, np.arange(4))


@pytest.mark.parametrize("loss", ["squared", "log"])
@pytest.mark.parametrize("stopping", ["loo", "validation", "cv"])
def test_early_stopping(stopping, loss):
    X, Y = data(200, seed=1)
    Y[::3] = np.random.default_rng(0).integers(0, 2, size=Y[::3].shape)
    model = stagenets.ELMClassifier(
        loss=loss, alpha=0.01, n_hidden=50, early_stopping=stopping, random_state=0
    ).fit(X, Y)
    assert 1 <= model.n_hidden_ < 50


@pytest.mark.parametrize("loss", ["squared", "log"])
@pytest.mark.parametrize("selection", ["residual", "random"])
@pytest.mark.parametrize("scoring", [None, "f1_micro", "roc_auc"])
def test_search_finds_what_grid_search_finds(scoring, selection, loss):
    X, Y = data(90)
    folds = KFold(3, shuffle=True, random_state=0)
    grid = {"n_hidden": [3, 7], "alpha": [0.1, 1.0]}
    ours = stagenets.RVFLClassifierCV(
        losses=[loss], alphas=grid["alpha"], n_hidden=grid["n_hidden"], selections=[selection],
        cv=folds, scoring=scoring, random_state=0,
    ).fit(X, Y)  # fmt: skip
    single = stagenets.RVFLClassifier(loss=loss, selection=selection, random_state=0)
    theirs = GridSearchCV(single, grid, cv=folds, scoring=scoring).fit(X, Y)
    scores = {
        (params["alpha"], params["n_hidden"]): score
        for params, score in zip(
            theirs.cv_results_["params"], theirs.cv_results_["mean_test_score"], strict=True
        )
    }
    for params, score in zip(
        ours.cv_results_["params"], ours.cv_results_["mean_test_score"], strict=True
    ):
        assert score == pytest.approx(scores[params["alpha"], params["n_hidden"]], abs=1e-6)
    assert ours.predict(X).shape == ours.predict_proba(X).shape == Y.shape


@pytest.mark.parametrize("loss", ["squared", "log"])
def test_integer_weights_are_repeated_samples(loss):
    X, Y = data(60)
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    model = small(stagenets.RVFLClassifier, loss=loss, alpha=1.0)
    weighted = model.fit(X, Y, sample_weight=weights).predict_proba(X)
    repeated = model.fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    tolerance = 1e-6 if loss == "log" else 1e-7
    np.testing.assert_allclose(weighted, repeated.predict_proba(X), atol=tolerance)


def test_class_weights_are_factors_of_the_samples():
    X, Y = data(80)
    given = [{0: 1, 1: 2}, {1: 3}, {}, {0: 0.5, 1: 0.5}]
    factors = np.prod(
        [np.where(Y[:, i], one.get(1, 1), one.get(0, 1)) for i, one in enumerate(given)], axis=0
    )
    model = small(stagenets.ELMClassifier, loss="log", class_weight=given).fit(X, Y)
    other = small(stagenets.ELMClassifier, loss="log").fit(X, Y, sample_weight=factors)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-6)


def test_balanced_class_weights():
    X, Y = data(80)
    counts = Y.sum(axis=0)
    each = np.where(Y, len(Y) / (2 * counts), len(Y) / (2 * (len(Y) - counts)))
    factors = each.prod(axis=1)
    factors *= len(Y) / factors.sum()
    model = small(stagenets.ELMClassifier, class_weight="balanced").fit(X, Y)
    other = small(stagenets.ELMClassifier).fit(X, Y, sample_weight=factors)
    np.testing.assert_allclose(model.readout_, other.readout_, atol=1e-8)


@pytest.mark.parametrize("loss", ["squared", "log"])
@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name_of)
def test_files_and_exports_predict_the_same(tmp_path, cls, loss):
    X, Y = data()
    model = small(cls, loss=loss).fit(X, Y)
    model.save(tmp_path / "model")
    loaded = stagenets.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    module = {}
    exec(stagenets.to_numpy_source(model), module)
    np.testing.assert_allclose(module["predict_proba"](X), model.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(module["predict"](X), model.predict(X))
    graph = stagenets.to_onnx(model, dtype=np.float64).SerializeToString()
    labels, chances = onnxruntime.InferenceSession(graph).run(None, {"X": X})
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(chances, model.predict_proba(X), atol=1e-9)


def test_onnx_pipelines():
    import skl2onnx

    X, Y = data()
    model = small(stagenets.RVFLClassifier).fit(X, Y)
    stagenets.register_onnx_converters()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of skl2onnx
        graph = skl2onnx.to_onnx(model, X[:1], options={"zipmap": False})
    labels, chances = onnxruntime.InferenceSession(graph.SerializeToString()).run(None, {"X": X})
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(chances, model.predict_proba(X), atol=1e-6)


def test_batches_give_the_readout_of_one_fit():
    X, Y = data(150)
    model = small(stagenets.RVFLClassifier)
    for first in range(0, 150, 50):
        model.partial_fit(X[first : first + 50], Y[first : first + 50])
    A = design(model, X[:50])  # only to see that it has as many columns
    assert model.readout_.shape == (4, A.shape[1] - 1)
    assert model.predict(X).shape == Y.shape
    with pytest.raises(ValueError, match="one label per sample, or several, as in the first"):
        model.partial_fit(X, Y[:, 0], classes=range(4))


@pytest.mark.parametrize("loss", ["squared", "log"])
def test_dask_gives_the_local_network(loss):
    dask_array = pytest.importorskip("dask.array")
    import stagenets.dask

    X, Y = data(200)
    parts = {"X": dask_array.from_array(X, chunks=(70, 6)), "y": dask_array.from_array(Y, (70, 4))}
    params = {"n_hidden": 10, "loss": loss, "alpha": 3.0, "random_state": 0}
    found = stagenets.dask.RVFLClassifier(**params).fit(**parts)
    local = stagenets.RVFLClassifier(**params).fit(X, Y)
    np.testing.assert_array_equal(found.selected_, local.selected_)
    np.testing.assert_allclose(found.predict_proba(X), local.predict_proba(X), atol=1e-6)
    assert found.score(**parts) == local.score(X, Y)


def test_warm_start_and_truncated():
    X, Y = data()
    model = small(stagenets.ELMClassifier, n_hidden=5, warm_start=True).fit(X, Y)
    grown = model.set_params(n_hidden=9).fit(X, Y)
    fresh = small(stagenets.ELMClassifier, n_hidden=9).fit(X, Y)
    np.testing.assert_array_equal(grown.predict_proba(X), fresh.predict_proba(X))
    stages = list(fresh.staged_predict(X))
    np.testing.assert_array_equal(fresh.truncated(4).predict(X), stages[4])


def test_what_is_not_possible_is_said():
    X, Y = data()
    fit = small(stagenets.ELMClassifier).fit
    with pytest.raises(ValueError, match=r"zeros and ones with a column.*got a matrix of \[0, 2\]"):
        fit(X, 2 * Y)
    with pytest.raises(ValueError, match=r"should be a 1d array"):
        fit(X, Y + np.arange(4))
    with pytest.raises(ValueError, match="intervals must be None with several labels"):
        small(stagenets.ELMClassifier, intervals="cv").fit(X, Y)
    with pytest.raises(ValueError, match=r"a list of 4 dicts \{0: weight, 1: weight\}"):
        small(stagenets.ELMClassifier, class_weight={0: 1}).fit(X, Y)
    one_label = small(stagenets.ELMClassifier).fit(X, Y[:, 0])
    with pytest.raises(AttributeError, match="its samples have one label each"):
        _ = one_label.thresholds_
