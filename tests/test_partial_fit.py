"""Streams of batches: against ridge regression of the same units on all samples, written out."""

import copy
import pickle

import numpy as np
import pytest

import stagenets
from problems import ALL, CLASSIFIERS, data_for, name_of, small
from stagenets.fitting._streaming import RowSample


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


def with_more_columns(model, first, X, y, batches_of, grow):
    """Predictions after a stream that grows: rows before a unit have what the old columns say."""
    center, scale = y[first].mean(axis=0), y[first].std(axis=0)
    Z = (X - X[first].mean(axis=0)) / X[first].std(axis=0)
    whole = np.hstack([Z, model.transform(X), np.ones((len(X), 1))])
    p, h = X.shape[1], model.n_hidden_ - grow * (len(batches_of) - 1)
    order = [*range(p + h), whole.shape[1] - 1]
    A, T = whole[first][:, order], (y[first] - center) / scale
    for number, batch in enumerate(batches_of[1:]):
        new = list(range(p + h + grow * number, p + h + grow * (number + 1)))
        old, fresh = whole[batch][:, order], whole[batch][:, new]
        C = np.linalg.solve(old.T @ old + model.alpha * np.eye(len(order)), old.T @ fresh)
        order += new
        A = np.vstack([np.hstack([A, A @ C]), whole[batch][:, order]])
        T = np.vstack([T, (y[batch] - center) / scale])
    omega = np.linalg.solve(A.T @ A + model.alpha * np.eye(A.shape[1]), A.T @ T)
    return center + scale * (whole[:, order] @ omega)


@pytest.mark.parametrize("weights", ["sparse", "mixed"])
def test_growing_streams_have_the_readout_that_is_documented(weights, tmp_path):
    X, y = data_for(stagenets.RVFLRegressor, 300, seed=2)
    parts = list(batches(len(X), 120, 60))
    model = small(stagenets.RVFLRegressor, alpha=0.1, standardize=True, weight_init=weights)
    for part in parts:
        model.partial_fit(X[part], y[part], grow=3)
    assert model.n_hidden_ == 12 + 3 * 3 == len(model.selected_) == len(model.unit_scores_)
    expected = with_more_columns(model, parts[0], X, y, parts, 3)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-6, atol=1e-7)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(stagenets.load(tmp_path / "model").predict(X), model.predict(X))
    assert model.truncated(21).n_hidden_ == 21
    with pytest.raises(ValueError, match="n_hidden"):
        model.truncated(12)


def test_growing_streams_learn_what_the_first_batch_did_not_show():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1200, 3))
    y = np.where(np.arange(1200) < 200, X[:, 0], np.sin(4 * X[:, 1]) * X[:, 2])
    fixed, grown = (small(stagenets.ELMRegressor, pool_size=50) for _ in range(2))
    for batch in batches(1000, 200, 100):
        fixed.partial_fit(X[batch], y[batch], forgetting=0.7)
        grown.partial_fit(X[batch], y[batch], forgetting=0.7, grow=10)
    assert grown.score(X[1000:], y[1000:]) > fixed.score(X[1000:], y[1000:]) + 0.1


def test_classifiers_grow_and_feature_nodes_do_not():
    X, y = data_for(stagenets.ELMClassifier, 200)
    model = small(stagenets.ELMClassifier)
    for batch in batches(len(X), 100, 50):
        model.partial_fit(X[batch], y[batch], grow=2)
    assert model.n_hidden_ == 16
    bls = small(stagenets.BLSClassifier)
    with pytest.raises(ValueError, match="grow must be 0 for networks with feature nodes; got 2"):
        bls.partial_fit(X, y, grow=2)
    with pytest.raises(ValueError, match="grow must be an integer of at least 0; got -1"):
        model.partial_fit(X, y, grow=-1)


@pytest.mark.parametrize("cls", ALL, ids=name_of)
def test_two_passes_equal_one_fit_of_units_chosen_on_the_sample(cls):
    X, y = data_for(cls, 210)
    parts = [(X[b], y[b]) for b in batches(len(X), 100, 17)]
    model = small(cls, loss="squared").fit_batches(parts)
    whole = small(cls, loss="squared").fit(X, y)  # all rows are in the sample
    np.testing.assert_allclose(model._scores(X), whole._scores(X), rtol=1e-6, atol=1e-8)
    sampled = small(cls, loss="squared", standardize=True).fit_batches(parts, sample_size=60)
    again = small(cls, loss="squared", standardize=True).fit_batches(
        lambda: iter(parts), sample_size=60
    )
    np.testing.assert_array_equal(sampled._scores(X), again._scores(X))
    assert not np.allclose(sampled._scores(X), model._scores(X), rtol=1e-3)


def test_samples_of_rows_are_uniform():
    counts = np.zeros(50)
    for seed in range(400):
        sample = RowSample(10, seed)
        for start in range(0, 50, 7):
            sample.add(np.arange(start, min(start + 7, 50)))
        assert len(np.unique(sample.arrays[0])) == 10
        counts[sample.arrays[0]] += 1
    # 80 of each are expected, with a deviation of 8.
    assert np.abs(counts - 80).max() < 4.5 * 8


def test_classes_of_any_batch_are_found_in_the_first_pass():
    X, y = data_for(stagenets.RVFLClassifier, 120)
    order = np.argsort(y, kind="stable")
    parts = [(X[order][b], y[order][b]) for b in batches(len(X), 40, 40)]
    model = small(stagenets.RVFLClassifier).fit_batches(parts)
    assert model.classes_.tolist() == [0, 1, 2]


def test_two_passes_over_columns_with_categories_and_holes():
    rng = np.random.default_rng(0)
    colour, x = rng.choice(["red", "green", "blue"], size=200), rng.normal(size=200)
    x[::9] = np.nan
    colour[:50] = "red"  # later batches have other labels, in places of their own
    y = np.nan_to_num(x) * (colour == "green") + (colour == "blue")
    table = np.array([x, colour], dtype=object).T
    parts = [(table[b], y[b]) for b in batches(200, 50, 50)]
    params = {"loss": "squared", "categorical_features": [1]}
    model = small(stagenets.RVFLRegressor, **params).fit_batches(parts)
    whole = small(stagenets.RVFLRegressor, **params).fit(table, y)
    np.testing.assert_allclose(model.predict(table), whole.predict(table), rtol=1e-6, atol=1e-8)


def test_two_passes_over_several_labels():
    X, y = data_for(stagenets.RVFLClassifier, 120)
    several = np.stack([y > 0, y < 2], axis=1).astype(int)
    parts = [(X[b], several[b]) for b in batches(len(X), 40, 40)]
    model = small(stagenets.RVFLClassifier).fit_batches(parts)
    whole = small(stagenets.RVFLClassifier).fit(X, several)
    np.testing.assert_allclose(model._scores(X), whole._scores(X), rtol=1e-6, atol=1e-8)
    with pytest.raises(ValueError, match="y must have 2 dimensions, like that of the first batch"):
        model.fit_batches([*parts, (X, y)])


def test_a_stream_keeps_the_penalty_that_its_first_batch_chose():
    X, y = data_for(stagenets.RVFLRegressor, 200)
    chosen = small(stagenets.RVFLRegressor, alpha="auto").partial_fit(X[:100], y[:100])
    given = small(stagenets.RVFLRegressor, alpha=chosen.alpha_, n_hidden=chosen.n_hidden_)
    given.partial_fit(X[:100], y[:100])
    for model in (chosen, given):
        model.partial_fit(X[100:], y[100:], grow=3)
    np.testing.assert_array_equal(chosen.predict(X), given.predict(X))


def test_batches_that_cannot_be_gone_through_twice_are_refused():
    X, y = data_for(stagenets.RVFLRegressor)
    model = small(stagenets.RVFLRegressor)
    with pytest.raises(ValueError, match="batches must be a list or another object"):
        model.fit_batches((X, y) for _ in range(2))
    with pytest.raises(ValueError, match="at least one batch; got none"):
        model.fit_batches([])
    with pytest.raises(ValueError, match=r"y must have shape \(60, 3\)"):
        model.fit_batches([(X, y), (X, y[:, 0])])
    passes = iter([[(X, y)], [(X, y), (X, y)]])
    with pytest.raises(ValueError, match="got 60 samples, then 120"):
        model.fit_batches(lambda: next(passes))
    assert not hasattr(model, "network_")
    assert not hasattr(stagenets.RVFLClassifier(loss="log"), "fit_batches")
