"""Fits on partitions: the same networks as on all rows, whatever the partitions."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score

import problems
import stagenets

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
import stagenets.dask  # noqa: E402
from dask_parts import SKEWED, in_parts  # noqa: E402
from stagenets.dask import _driver, _partition  # noqa: E402

ON_DASK = {
    getattr(stagenets, name): getattr(stagenets.dask, name) for name in stagenets.dask.__all__
}
EVEN = (125, 125, 125, 125)

# Sparse codes repeat the few inputs, and so do linear nodes of one input: which of them is kept
# is a matter of rounding.
DISTINCT_FEATURES = {"sparse_features": False, "feature_activation": "sigmoid"}

each_class = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)


def pair(cls, **params):
    """A small local estimator, and the one for Dask with the same parameters."""
    return problems.small(cls, **params), ON_DASK[cls](**problems.small(cls, **params).get_params())


def assert_same_network(model, local, X, *, tolerance=1e-10):
    np.testing.assert_array_equal(model.selected_, local.selected_)
    np.testing.assert_allclose(
        problems.scores_of(model.to_local(), X),
        problems.scores_of(local, X),
        rtol=0,
        atol=tolerance,
    )
    np.testing.assert_allclose(
        model.feature_importances_, local.feature_importances_, rtol=1e-4, atol=tolerance
    )
    np.testing.assert_allclose(
        model.objective_path_, local.objective_path_, rtol=max(1e-9, 0.1 * tolerance)
    )


@each_class
@pytest.mark.parametrize("rows", [SKEWED, EVEN, (500,)], ids=["skewed", "even", "one"])
def test_same_network_for_any_partitions(cls, rows):
    X, y = problems.data_for(cls, n=500)
    features = DISTINCT_FEATURES if cls in problems.BLS else {}
    local, model = pair(cls, loss="squared", weight_init="sparse", **features)
    model.fit(*in_parts(X, y, rows))
    assert_same_network(model, local.fit(X, y), X)


@pytest.mark.parametrize(
    "params",
    [
        {"selection": "joint", "weight_init": "mixed"},
        {"selection": "random"},
        {"weight_init": "threshold", "fit_intercept": False},
        {"standardize": False, "extrapolate": True, "activation": "relu"},
        {"early_stopping": "loo", "n_iter_no_change": 3},
        {"early_stopping": "validation", "n_iter_no_change": 3, "n_hidden": 30},
        {"block_size": 5, "tol": 1e-3},
        {"alpha": 1e-9},
    ],
    ids=str,
)
@pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
def test_same_network_for_any_parameters(cls, params):
    X, y = problems.data_for(cls, n=500)
    local, model = pair(cls, **{"loss": "squared", "weight_init": "sparse", **params})
    assert_same_network(model.fit(*in_parts(X, y)), local.fit(X, y), X, tolerance=1e-9)
    if cls in problems.CLASSIFIERS:
        assert model.temperature_ == pytest.approx(local.temperature_, rel=1e-8)
    for path in ("loo_path", "validation_path"):
        if (expected := getattr(local.network_.history, path)) is not None:
            np.testing.assert_allclose(
                getattr(model.network_.history, path), expected, rtol=1e-7, atol=1e-12
            )


@pytest.mark.parametrize("selection", ["residual", "joint", "random"])
def test_same_network_by_log_loss(selection):
    X, y = problems.data_for(stagenets.RVFLClassifier, n=500)
    local, model = pair(
        stagenets.RVFLClassifier, loss="log", selection=selection, weight_init="mixed"
    )
    assert_same_network(model.fit(*in_parts(X, y)), local.fit(X, y), X)


@pytest.mark.parametrize("store", ["memory", "recompute"])
@pytest.mark.parametrize("alpha", [3.0, 0.01])
def test_readout_by_many_iterations_is_the_same(alpha, store):
    """Separable classes and a small penalty take hundreds of iterations by gradients alone."""
    X, y = load_breast_cancer(return_X_y=True)
    local = stagenets.RVFLClassifier(n_hidden=40, block_size=4, alpha=alpha, random_state=0)
    model = stagenets.dask.RVFLClassifier(**local.get_params(), store=store)
    model.fit(*in_parts(X, y, (0, 100, 2, 467)))
    np.testing.assert_array_equal(model.selected_, local.fit(X, y).selected_)
    np.testing.assert_allclose(model.predict_proba(X), local.predict_proba(X), rtol=0, atol=1e-10)
    found, expected = model.decision_function(X), local.decision_function(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@each_class
@pytest.mark.parametrize("store", ["memory", "recompute"])
def test_same_network_with_weights(cls, store):
    X, y = problems.data_for(cls, n=500)
    weights = np.random.default_rng(5).choice([0, 0.5, 1, 3], size=500)
    weights[:4] = 0  # all of the first two partitions
    params = {"loss": "squared", "weight_init": "sparse"}
    if cls in problems.BLS:
        params |= DISTINCT_FEATURES
    if cls in problems.CLASSIFIERS:
        params["class_weight"] = "balanced" if cls is stagenets.ELMClassifier else {1: 2.0}
    local, model = pair(cls, **params)
    model.set_params(store=store)
    parts = da.from_array(weights, chunks=(SKEWED,))
    model.fit(*in_parts(X, y), sample_weight=parts)
    assert_same_network(model, local.fit(X, y, weights), X)
    assert model.score(*in_parts(X, y), parts) == pytest.approx(
        local.score(X, y, weights), rel=1e-12
    )


@pytest.mark.parametrize("loss", ["squared", "log"])
def test_rows_are_set_aside_wherever_they_are(loss):
    X, y = problems.data_for(stagenets.ELMClassifier, n=500)
    weights = np.random.default_rng(5).choice([0, 1, 3], size=500)
    params = {"early_stopping": "validation", "validation_fraction": 0.02, "loss": loss}
    local, model = pair(stagenets.ELMClassifier, **params)
    model.fit(*in_parts(X, y), sample_weight=da.from_array(weights, chunks=(SKEWED,)))
    local.fit(X, y, weights)
    np.testing.assert_array_equal(model.selected_, local.selected_)
    np.testing.assert_allclose(model.validation_path_, local.validation_path_, rtol=1e-12)


def test_several_labels_with_weights_and_rows_set_aside():
    X, y = make_multilabel_classification(500, 6, n_classes=3, random_state=0)
    weights = np.random.default_rng(5).choice([0, 0.5, 3], size=500)
    params = {"early_stopping": "validation", "class_weight": "balanced"}
    local, model = pair(stagenets.RVFLClassifier, **params)
    parts = (*in_parts(X, y), da.from_array(weights, chunks=(SKEWED,)))
    assert_same_network(model.fit(*parts), local.fit(X, y, weights), X)
    np.testing.assert_allclose(model.validation_path_, local.validation_path_, rtol=1e-12)
    assert model.score(*parts) == pytest.approx(local.score(X, y, weights), rel=1e-12)


@pytest.mark.parametrize(
    "params",
    [
        {"loss": "log", "selection": "joint", "weight_init": "mixed"},
        {"loss": "log", "selection": "random"},
        {"loss": "squared", "alpha": 1e-9, "block_size": 3},
        {"loss": "squared", "early_stopping": "loo", "fit_intercept": False},
    ],
    ids=str,
)
def test_what_is_not_kept_is_made_again(params):
    """Without the columns of its factor, a fit gives the same network."""
    X, y = problems.data_for(stagenets.RVFLClassifier, n=500)
    _, model = pair(stagenets.RVFLClassifier, **params)
    kept = clone(model).fit(*in_parts(X, y, EVEN))
    model.set_params(store="recompute").fit(*in_parts(X, y, EVEN))
    assert_same_network(model, kept.to_local(), X, tolerance=1e-8)


def test_weights_of_ones_change_nothing():
    X, y = problems.data_for(stagenets.RVFLRegressor, n=100)
    _, model = pair(stagenets.RVFLRegressor)
    parts = in_parts(X, y, (40, 60))
    plain = clone(model).fit(*parts)
    model.fit(*parts, sample_weight=da.ones(100, chunks=((40, 60),)))
    np.testing.assert_array_equal(model.readout_, plain.readout_)


def test_threshold_units_of_many_rows():
    """Of more rows than are ranked, the same ones are, wherever they are."""
    X, y = problems.data_for(stagenets.ELMRegressor, n=70_000)
    local, model = pair(stagenets.ELMRegressor, weight_init="threshold", n_hidden=2, pool_size=5)
    model.fit(*in_parts(X, y, (10, 69_000, 990)))
    assert_same_network(model, local.fit(X, y), X)


@pytest.mark.parametrize("cls", [stagenets.ELMClassifier, stagenets.RVFLRegressor])
def test_penalty_and_size_are_chosen_as_in_a_local_fit(cls):
    X, y = problems.data_for(cls, n=120)
    y = np.where(np.random.default_rng(0).random(120) < 0.4, y[::-1].T, y.T).T  # much noise
    weights = np.random.default_rng(5).choice([0, 1, 2], size=120)
    local = cls(random_state=0).fit(X, y, weights)
    model = ON_DASK[cls](random_state=0)
    parts = da.from_array(weights, chunks=((20, 0, 100),))
    model.fit(*in_parts(X, y, (20, 0, 100)), sample_weight=parts)
    assert (model.alpha, model.alpha_) == ("auto", local.alpha_)
    np.testing.assert_array_equal(model.cv_sizes_, local.cv_sizes_)
    np.testing.assert_allclose(model.cv_path_, local.cv_path_, rtol=1e-12)
    assert_same_network(model, local, X, tolerance=1e-9)


def test_usual_penalty_if_rows_are_too_many_for_one_worker(monkeypatch):
    X, y = problems.data_for(stagenets.RVFLClassifier, n=60)
    monkeypatch.setattr(_driver, "_IN_ONE_PLACE", X.nbytes - 1)
    model = stagenets.dask.RVFLClassifier(n_hidden=3, random_state=0)
    model.fit(*in_parts(X, y, (20, 40)))
    assert model.alpha_ == 3.0
    with pytest.raises(AttributeError, match="no cross-validation chose"):
        model.cv_path_  # noqa: B018


def test_candidates_are_scored_on_the_same_rows():
    X, y = problems.data_for(stagenets.ELMRegressor, n=5000)
    local, model = pair(stagenets.ELMRegressor, score_fraction=0.5, weight_init="sparse")
    model.fit(*in_parts(X, y, (10, 4000, 990)))
    local.fit(X, y)
    assert_same_network(model, local, X)
    np.testing.assert_allclose(model.unit_scores_, local.unit_scores_, rtol=1e-9)


def test_wild_values_are_resisted_wherever_they_are():
    X, y = problems.data_for(stagenets.RVFLRegressor, n=5000)
    X[[4, 17], 1] = 1e6, -3e5
    local, model = pair(stagenets.RVFLRegressor, standardize="robust", weight_init="sparse")
    assert_same_network(model.fit(*in_parts(X, y, (10, 4000, 990))), local.fit(X, y), X)


def test_single_precision_if_all_partitions_have_it():
    X, y = problems.data_for(stagenets.ELMRegressor, n=500)
    blocks = [da.from_array(X[:200].astype(np.float32)), da.from_array(X[200:].astype(np.float32))]
    local, model = pair(stagenets.ELMRegressor, weight_init="sparse")
    model.fit(da.concatenate(blocks), da.from_array(y, chunks=((200, 300), 3)))
    assert_same_network(model, local.fit(X.astype(np.float32), y), X, tolerance=1e-3)
    assert model.predict(da.concatenate(blocks)).dtype == np.float32


def test_lengths_of_chunks_need_not_be_known():
    X, y = problems.data_for(stagenets.RVFLClassifier, n=500)
    parts, labels = in_parts(X, y, EVEN)
    some = parts[:, 0] > -0.5
    local, model = pair(stagenets.RVFLClassifier, loss="squared", weight_init="sparse")
    model.fit(parts[some], labels[some])
    kept = X[:, 0] > -0.5
    local.fit(X[kept], y[kept])
    assert_same_network(model, local, X)
    np.testing.assert_array_equal(model.predict(parts[some]).compute(), local.predict(X[kept]))
    assert model.score(parts[some], labels[some]) == local.score(X[kept], y[kept])


@pytest.mark.filterwarnings("ignore::DeprecationWarning:dask", "ignore:The copy keyword")
def test_columns_of_a_parquet_file_keep_its_partitions(tmp_path):
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    X, y = problems.data_for(stagenets.RVFLRegressor, n=120)
    X = pd.DataFrame(X, columns=list("abcd"))
    table = X.assign(y=y[:, 0])
    dd.from_pandas(table, npartitions=6).to_parquet(tmp_path / "table")
    read = dd.read_parquet(tmp_path / "table")
    inputs, targets = read.drop(columns="y"), read["y"]
    assert targets.optimize().npartitions < 6  # few columns: Dask would join partitions
    local, model = pair(stagenets.RVFLRegressor)
    assert_same_network(model.fit(inputs, targets), local.fit(X, table["y"]), X)


def test_data_frames_with_names_and_strings():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = problems.data_for(stagenets.ELMClassifier, n=500)
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(500) * 2)
    names = pd.Series(np.array(["low", "middle", "high"], dtype=object)[y], index=frame.index)
    X_parts, y_parts = dd.from_pandas(frame, npartitions=3), dd.from_pandas(names, npartitions=2)
    local, model = pair(stagenets.ELMClassifier, loss="squared", weight_init="sparse")
    model.fit(X_parts, y_parts)
    local.fit(frame, names)
    assert_same_network(model, local, frame)
    assert list(model.feature_names_in_) == list("abcd")
    labels = model.predict(X_parts).compute()
    assert labels.index.equals(frame.index)
    np.testing.assert_array_equal(labels, local.predict(frame))
    chances = model.predict_proba(X_parts).compute()
    assert list(chances.columns) == ["high", "low", "middle"]
    np.testing.assert_allclose(chances, local.predict_proba(frame), atol=1e-10)
    assert model.score(X_parts, y_parts.repartition(divisions=X_parts.divisions)) == local.score(
        frame, names
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X_parts.rename(columns={"a": "e"})).compute()


@each_class
def test_predictions_are_lazy_and_those_of_the_local_model(cls):
    X, y = problems.data_for(cls, n=500)
    _, model = pair(cls)
    parts, targets = in_parts(X, y)
    local = model.fit(parts, targets).to_local()
    assert type(local) is cls
    methods = ["predict", "transform"]
    if cls in problems.CLASSIFIERS:
        methods += ["predict_proba", "predict_log_proba", "decision_function"]
    for method in methods:
        # Blocks of columns are put together, and an empty block has an empty result.
        found = getattr(model, method)(parts.rechunk({1: 2}))
        assert isinstance(found, da.Array)
        np.testing.assert_allclose(found.compute(), getattr(local, method)(X), rtol=0, atol=1e-12)
        assert found.shape == found.compute().shape
        np.testing.assert_array_equal(getattr(model, method)(X), getattr(local, method)(X))
    assert model.score(parts, targets) == pytest.approx(local.score(X, y), rel=1e-12)
    assert model.score(X, y) == local.score(X, y)


def test_local_methods_refuse_collections():
    X, y = problems.data_for(stagenets.RVFLRegressor, n=60)
    _, model = pair(stagenets.RVFLRegressor)
    parts = in_parts(X, y, (20, 40))
    model.fit(*parts)
    assert len(list(model.staged_predict(X))) == model.n_iter_ + 1
    with pytest.raises(TypeError, match="X must be in memory here; got Array"):
        next(model.staged_predict(parts[0]))
    assert not hasattr(model, "partial_fit")


def test_r2_of_a_constant_target_is_scikit_learns():
    X, y = problems.data_for(stagenets.RVFLRegressor, n=60)
    _, model = pair(stagenets.RVFLRegressor)
    parts, targets = in_parts(X, y, (20, 40))
    model.fit(parts, targets)
    constant = np.column_stack([np.full(60, 2.0), y[:, 1:]])
    found = model.score(parts, da.from_array(constant, chunks=((20, 40), 3)))
    assert found == pytest.approx(r2_score(constant, model.predict(X)), rel=1e-12)


def test_fitted_model_is_saved_cloned_and_pickled(tmp_path):
    X, y = problems.data_for(stagenets.RVFLRegressor, n=500)
    _, model = pair(stagenets.RVFLRegressor)
    model.fit(*in_parts(X, y))
    model.save(tmp_path / "model")
    loaded = stagenets.load(tmp_path / "model")
    assert type(loaded) is stagenets.RVFLRegressor
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    again = clone(model)
    assert again.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        again.to_local()


def test_a_state_stays_what_it_is():
    """The same answers give the same numbers: twice, after a pickle, and on a fit made again."""
    X, y = problems.data_for(stagenets.RVFLClassifier, n=90)
    model = problems.small(stagenets.RVFLClassifier, random_state=3)
    rows = [_partition.load(X[some], y[some], None, True) for some in (slice(40), slice(40, 90))]
    plan = _partition.Plan(model, X.shape, X.dtype, np.unique(y), False, False, False, "memory")
    places = [_partition.Place(i, np.empty(0, np.int64)) for i in range(2)]
    states = [_partition.start(*some, plan) for some in zip(rows, places, strict=True)]
    for _ in range(12):
        asked = [state.question for state in states]
        combine = {"SUM": np.sum, "LEAST": np.min, "GREATEST": np.max}
        values = [question.values for question in asked]
        how = asked[0].how
        answer = np.concatenate(values) if how == "GATHER" else combine[how](values, axis=0)
        sent = [pickle.loads(pickle.dumps(state)) for state in states]
        after = [state.answered(answer) for state in states]
        for state, once in zip((*states, *sent), (*after, *after), strict=True):
            again = state.answered(answer)
            np.testing.assert_array_equal(again.question.values, once.question.values)
            assert again.question.how == once.question.how
        states = after


def test_callback_stops_the_fit_and_verbose_shows_it(capsys):
    X, y = problems.data_for(stagenets.RVFLRegressor, n=500)
    seen = []

    def stop(info):
        seen.append(info)
        return info.n_units >= 4

    _, model = pair(stagenets.RVFLRegressor, callback=stop, verbose=2, n_hidden=9)
    model.fit(*in_parts(X, y))
    local = problems.small(stagenets.RVFLRegressor, n_hidden=4).fit(X, y)
    assert [info.n_units for info in seen] == [1, 2, 3, 4]
    np.testing.assert_allclose(model.predict(X), local.predict(X), atol=1e-10)
    assert "4/9 units" in capsys.readouterr().err


def test_own_weights():
    def draw(rng, pool_size, n_features):
        return rng.normal(size=(n_features, pool_size)), rng.normal(size=pool_size)

    X, y = problems.data_for(stagenets.ELMRegressor, n=500)
    local, model = pair(stagenets.ELMRegressor, weight_init=draw)
    assert_same_network(model.fit(*in_parts(X, y)), local.fit(X, y), X)


def test_fit_needs_no_distributed_and_one_thread_will_do():
    script = """
import sys
sys.modules["distributed"] = None
import dask, dask.array as da, numpy as np
import stagenets, stagenets.dask
X = np.random.default_rng(0).normal(size=(100, 3))
local = stagenets.RVFLRegressor(n_hidden=5, alpha=3.0, random_state=0).fit(X, X[:, 0] ** 2)
with dask.config.set(scheduler="synchronous"):
    model = stagenets.dask.RVFLRegressor(n_hidden=5, alpha=3.0, random_state=0)
    model.fit(da.from_array(X, chunks=(30, 3)), da.from_array(X[:, 0] ** 2, chunks=30))
np.testing.assert_allclose(model.predict(X), local.predict(X), atol=1e-10)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
