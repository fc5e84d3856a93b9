"""Importances: against predictions with inputs exchanged, variances known in closed form, and
permutation importance."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance

import stagenets
from problems import ALL, CLASSIFIERS, data_for, name_of, small

rng = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("cls", ALL, ids=name_of)
def test_effects_are_those_of_exchanging_an_input(cls, dtype):
    X, y = data_for(cls, 300, 3, n_outputs=2)
    X = X.astype(dtype)
    model = small(cls, loss="squared").fit(X, y)
    scores = model._scores(X)
    given = {"ends": [1, 2, 3], "units": np.ones(scores.shape[1])}
    found = stagenets._core.input_effects(model.network_.core, X, **given)
    for k in range(X.shape[1]):
        # Which partners the core takes is its business: over all of them, the mean is its estimate.
        swapped = np.repeat(X[None], len(X), axis=0)
        for i in range(len(X)):
            swapped[i, :, k] = np.roll(X[:, k], i)
        change = model._scores(swapped.reshape(-1, X.shape[1])).reshape(len(X), *scores.shape)
        expected = 0.5 * np.mean((change - scores) ** 2, axis=(0, 1))
        np.testing.assert_allclose(found[k], expected, rtol=0.3, atol=0.02 * expected.max())
    threaded = stagenets._core.input_effects(model.network_.core, X, **given, threads=2)
    np.testing.assert_array_equal(found, threaded)


def test_linear_networks_have_the_variances_of_their_terms():
    X = rng.normal(size=(1000, 4)) * [1, 2, 3, 4] + 5
    y = X @ [4.0, 3.0, 2.0, 0.0]
    model = stagenets.RVFLRegressor(n_hidden=1, activation="identity", alpha=1e-6, random_state=0)
    found = model.fit(X, y).feature_importances_
    np.testing.assert_allclose(found, np.array([16, 36, 36, 0]) / 88, atol=0.03)
    np.testing.assert_allclose(found.sum(), 1)


@pytest.mark.parametrize("weight_init", ["sparse", "threshold", "leaf", "mixed"])
def test_irrelevant_inputs_come_last_and_the_others_as_permutations_say(weight_init):
    X, y = make_friedman1(1500, n_features=10, noise=0.5, random_state=0)
    X = np.column_stack([X, rng.integers(0, 2, size=len(X))])  # one more says nothing
    model = stagenets.RVFLRegressor(n_hidden=100, weight_init=weight_init, random_state=0)
    found = model.fit(X[:1000], y[:1000]).feature_importances_
    assert found[:5].min() > 2 * found[5:].max()
    by_score = permutation_importance(model, X[1000:], y[1000:], n_repeats=5, random_state=0)
    assert np.corrcoef(found, by_score.importances_mean)[0, 1] > 0.97


def test_importances_choose_features_and_are_kept(tmp_path):
    X, y = data_for(stagenets.RVFLClassifier, 300, 6)
    model = small(stagenets.RVFLClassifier).fit(X, y)
    kept = SelectFromModel(model, prefit=True, max_features=2, threshold=-np.inf).get_support()
    assert set(np.flatnonzero(kept)) == set(np.argsort(model.feature_importances_)[-2:])
    model.save(tmp_path / "model")
    loaded = stagenets.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)


def test_a_network_that_looks_at_nothing_has_no_importances():
    X = np.ones((20, 3))
    model = stagenets.ELMRegressor(n_hidden=2, random_state=0).fit(X, rng.normal(size=20))
    np.testing.assert_array_equal(model.feature_importances_, np.zeros(3))


@pytest.mark.parametrize("cls", ALL, ids=name_of)
def test_huge_inputs_have_the_importances_of_the_same_inputs_scaled(cls):
    X, y = data_for(cls, 60, 20)
    scale = np.where(np.arange(20) % 3 == 0, 2.0**1010, 1.0)
    # Units see an input each, and some inputs are seen by the readout alone.
    model = small(cls, weight_init="sparse", fan_in=1)
    found, expected = (model.fit(inputs, y).feature_importances_ for inputs in (X * scale, X))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_unfitted_models_have_none():
    for cls in CLASSIFIERS:
        assert not hasattr(cls(), "feature_importances_")


def test_the_display_shows_the_greatest_on_top():
    pytest.importorskip("matplotlib").use("agg")
    import pandas as pd

    X, y = data_for(stagenets.RVFLRegressor, 200, 5, n_outputs=1)
    frame = pd.DataFrame(X, columns=["a", "b", "$c", "d", "e"])
    model = small(stagenets.RVFLRegressor).fit(frame, y[:, 0])
    display = stagenets.ImportancesDisplay.from_estimator(model, most=4)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    order = np.argsort(model.feature_importances_)[1:]
    assert names == [frame.columns[i] for i in order]
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, model.feature_importances_[order])
    assert "4 of 5 inputs" in display.ax_.get_title()
    with pytest.raises(ValueError, match="most must be an integer of at least 1"):
        stagenets.ImportancesDisplay.from_estimator(model, most=0)
