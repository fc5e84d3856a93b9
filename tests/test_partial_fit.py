"""Streams of batches: against ridge regression of the same units on all samples, written out."""

import copy
import pickle

import numpy as np
import pytest

import stagenets
from problems import ALL, CLASSIFIERS, data_for, name_of, small


def ridge(model, first, X, y, weights=None):
    """Predictions for X of the model's units with a readout fitted to all of X and y."""
    T = y[:, None] == model.classes_ if hasattr(model, "classes_") else y
    T = T.astype(float).reshape(len(y), -1)
    center, scale = np.zeros(T.shape[1]), np.ones(T.shape[1])
    if not hasattr(model, "classes_"):
        center, scale = T[:first].mean(axis=0), T[:first].std(axis=0)
    columns = [np.ones((len(X), 1)), model.transform(X)]
    if type(model).__name__.startswith("RVFL"):
        columns.append((X - X[:first].mean(axis=0)) / X[:first].std(axis=0))
    A = np.hstack(columns)
    W = np.ones(len(X)) if weights is None else weights
    # The penalty as further rows, solved by SVD.
    roots, penalty = np.sqrt(W)[:, None], np.sqrt(model.alpha) * np.eye(A.shape[1])
    B = np.vstack([roots * (T - center) / scale, np.zeros((A.shape[1], T.shape[1]))])
    return center + scale * (A @ np.linalg.lstsq(np.vstack([roots * A, penalty]), B, rcond=None)[0])


def batches(n, first, size):
    yield slice(first)
    for start in range(first, n, size):
        yield slice(start, start + size)


@pytest.mark.parametrize("selection", ["residual", "random"])
@pytest.mark.parametrize("cls", ALL, ids=name_of)
def test_a_hundred_batches_give_the_readout_of_one(cls, selection):
    X, y = data_for(cls, 398, seed=1)  # later batches have 3 samples, fewer than columns
    X[200:] *= 1.5  # beyond the range of the first batch
    model = small(cls, loss="squared", selection=selection, alpha=0.1, standardize=True)
    for batch in batches(len(X), 101, 3):
        model.partial_fit(X[batch], y[batch])
    np.testing.assert_allclose(model._scores(X), ridge(model, 101, X, y), rtol=1e-8, atol=1e-8)


def test_inputs_of_any_scale_and_dependent_columns():
    X, y = data_for(stagenets.RVFLRegressor, 300, n_outputs=1)
    X = np.hstack([1e4 * X, X[:, :1] * 1e4, X[:, 1:2]]) + 1e5
    model = small(stagenets.RVFLRegressor, standardize=True)
    for batch in batches(len(X), 60, 40):
        model.partial_fit(X[batch], y[batch])
    np.testing.assert_allclose(model._scores(X), ridge(model, 60, X, y), rtol=1e-6, atol=1e-7)


def test_earlier_samples_are_forgotten():
    X, y = data_for(stagenets.ELMRegressor, 200, n_outputs=1)
    model = small(stagenets.ELMRegressor, standardize=True)
    for batch in batches(len(X), 50, 50):
        model.partial_fit(X[batch], y[batch], forgetting=0.5)
    weights = np.repeat([0.125, 0.25, 0.5, 1.0], 50)
    np.testing.assert_allclose(model._scores(X), ridge(model, 50, X, y, weights), rtol=1e-8)


def test_the_first_batch_is_fitted_like_any_data():
    for cls in (stagenets.RVFLClassifier, stagenets.BLSRegressor):
        X, y = data_for(cls)
        one = small(cls, loss="squared").partial_fit(X, y)
        np.testing.assert_array_equal(
            one.predict(X), small(cls, loss="squared").fit(X, y).predict(X)
        )


def test_classes_that_come_later_must_be_announced():
    X, y = data_for(stagenets.RVFLClassifier, 120)
    order = np.argsort(y, kind="stable")
    X, y = X[order], np.array(["a", "b", "c"])[y[order]]
    model = small(stagenets.RVFLClassifier, loss="squared")
    for batch in batches(len(X), 70, 25):
        model.partial_fit(X[batch], y[batch], classes=["c", "a", "b"])
    assert list(model.classes_) == ["a", "b", "c"]
    np.testing.assert_allclose(
        model._scores(X), ridge(model.set_params(standardize=True), 70, X, y), rtol=1e-7, atol=1e-8
    )
    unannounced = small(stagenets.RVFLClassifier, loss="squared").partial_fit(X[:70], y[:70])
    with pytest.raises(ValueError, match=r"no classes but \['a', 'b'\].*; got \['c'\]"):
        unannounced.partial_fit(X[70:], y[70:])
    with pytest.raises(ValueError, match=r"classes must be those of the first batch"):
        unannounced.partial_fit(X[:70], y[:70], classes=["a", "b", "c"])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_go_on_by_themselves(copied):
    X, y = data_for(stagenets.RVFLRegressor, 100)
    model = small(stagenets.RVFLRegressor).partial_fit(X[:50], y[:50])
    other = copied(model).partial_fit(X[50:], y[50:])
    before = model.predict(X)
    assert not np.array_equal(other.predict(X), before)
    np.testing.assert_array_equal(model.partial_fit(X[50:], y[50:]).predict(X), other.predict(X))


def test_streams_are_saved_and_exported_like_other_networks(tmp_path):
    X, y = data_for(stagenets.RVFLRegressor, 100)
    model = small(stagenets.RVFLRegressor)
    for batch in batches(len(X), 50, 25):
        model.partial_fit(X[batch], y[batch])
    model.save(tmp_path / "model")
    loaded = stagenets.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    anew = small(stagenets.RVFLRegressor).partial_fit(X, y)  # the sums are not in the file
    np.testing.assert_array_equal(loaded.partial_fit(X, y).predict(X), anew.predict(X))


def test_fit_begins_anew_and_so_does_the_batch_after_it():
    X, y = data_for(stagenets.ELMRegressor)
    model = small(stagenets.ELMRegressor).partial_fit(X, y).fit(X[:40], y[:40])
    expected = small(stagenets.ELMRegressor).fit(X[:40], y[:40])
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    expected = small(stagenets.ELMRegressor).partial_fit(X, y)
    np.testing.assert_array_equal(model.partial_fit(X, y).predict(X), expected.predict(X))


def test_wrong_batches_are_refused_and_change_nothing():
    X, y = data_for(stagenets.RVFLRegressor)
    model = small(stagenets.RVFLRegressor).partial_fit(X, y)
    before = model.predict(X)
    for wrong, message in [
        ({"X": X[:, :2], "y": y}, "X has 2 features"),
        ({"X": X, "y": y[:, 0]}, r"y must have shape \(60, 3\)"),
        ({"X": X, "y": y, "forgetting": 0}, "forgetting must be"),
        ({"X": X, "y": y, "forgetting": 1.5}, "forgetting must be"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(**wrong)
        np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name_of)
def test_other_losses_have_no_partial_fit(cls):
    assert not hasattr(cls(loss="log"), "partial_fit")
    with pytest.raises(AttributeError):
        cls(loss="log").partial_fit([[0.0], [1.0]], [0, 1])
    assert hasattr(cls(loss="squared"), "partial_fit")
