"""Fits that continue earlier ones: against fits of the same network from the beginning."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import stagenets
from problems import ALL, BLS, CLASSIFIERS, data_for, name_of, small

SIZE = {cls: "n_enhancement" if cls in BLS else "n_hidden" for cls in ALL}


def assert_same_fit(one, other, X):
    """All bits that a fit leaves, predictions included."""
    names = ["selected_", "objective_path_", "residual_path_", "readout_", "readout_intercept_"]
    names += ["hidden_weights_", "hidden_biases_"]
    if one.selection != "random":
        names += ["units_path_", "unit_scores_", "pool_quantiles_", "loo_path_", "best_iter_"]
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    if hasattr(one, "temperature_"):
        assert one.temperature_ == other.temperature_
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def grown(model, X, y, *sizes):
    """The model fitted with one size after another."""
    model.set_params(warm_start=True)
    for size in sizes:
        model.set_params(**{SIZE[type(model)]: size}).fit(X, y)
    return model


@pytest.mark.parametrize("selection", ["residual", "joint", "random"])
@pytest.mark.parametrize(
    ("cls", "loss"),
    [(cls, "squared") for cls in ALL] + [(cls, "log") for cls in CLASSIFIERS],
    ids=lambda value: value if isinstance(value, str) else name_of(value),
)
def test_a_continued_fit_has_the_bits_of_a_new_one(cls, loss, selection):
    X, y = data_for(cls, 80)
    params = {"loss": loss, "selection": selection, "block_size": 2, "pool_size": 24}
    continued = grown(small(cls, **params), X, y, 5, 9, 20)
    assert_same_fit(continued, grown(small(cls, **params), X, y, 20), X)


@pytest.mark.parametrize(
    "params",
    [
        {"solver": "dual"},
        {"early_stopping": "loo", "n_iter_no_change": 2},
        {"early_stopping": "validation"},
        {"early_stopping": "cv"},
        {"score_fraction": 0.5},
        {"weight_init": "leaf"},
        {"alpha": 1e-9},  # near-dependent candidates are passed over
    ],
    ids=str,
)
def test_whatever_the_parameters(params):
    X, y = data_for(stagenets.RVFLRegressor, 40, n_outputs=1)
    model = small(stagenets.RVFLRegressor, **params)
    continued = grown(clone(model), X, y[:, 0], 20, 60)  # past the number of samples
    assert_same_fit(continued, model.set_params(n_hidden=60).fit(X, y[:, 0]), X)


def test_in_float32_and_back_to_a_smaller_size():
    X, y = data_for(stagenets.ELMClassifier, 200)
    X = X.astype(np.float32)
    model = small(stagenets.ELMClassifier, block_size=3)
    continued = grown(clone(model), X, y, 20, 10)  # the last stage is cut short
    assert_same_fit(continued, model.set_params(n_hidden=10).fit(X, y), X)


def test_a_fit_begins_anew_after_any_other_change():
    cls = stagenets.RVFLClassifier
    X, y = data_for(cls, 80)
    for change in [{"alpha": 7.0}, {"pool_size": 11}, {"random_state": 1}, {"selection": "joint"}]:
        continued = grown(small(cls), X, y, 8).set_params(n_hidden=12, **change).fit(X, y)
        assert_same_fit(continued, small(cls, n_hidden=12, **change).fit(X, y), X)
    for X2, y2 in [(X[:-1], y[:-1]), (X + 1e-9, y), (X, y[::-1]), (X[:, :2], y)]:
        continued = grown(small(cls), X, y, 8).set_params(n_hidden=12).fit(X2, y2)
        assert_same_fit(continued, small(cls, n_hidden=12).fit(X2, y2), X2)


def test_a_fit_without_a_seed_keeps_its_units():
    X, y = data_for(stagenets.ELMRegressor)
    model = grown(small(stagenets.ELMRegressor, random_state=None), X, y, 5)
    before = model.hidden_weights_.copy()
    grown(model, X, y, 9)
    np.testing.assert_array_equal(model.hidden_weights_[:, :5], before)
    assert model.set_params(warm_start=False).fit(X, y).n_hidden_ == 9
    assert not np.array_equal(model.hidden_weights_[:, :5], before)


def test_a_continued_fit_scores_no_pool_again():
    X, y = data_for(stagenets.RVFLRegressor, 300)
    model = grown(small(stagenets.RVFLRegressor), X, y, 12)
    core = stagenets._core
    settings = model._settings(X.shape)
    targets = core.Targets.numbers(y)
    profiles = [
        core.fit(X, targets, settings, known=known).profile
        for known in (None, model._memory.stages)
    ]
    assert profiles[0]["score"] > 0 and profiles[1]["score"] == 0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_can_continue(copied):
    X, y = data_for(stagenets.RVFLRegressor)
    model = copied(grown(small(stagenets.RVFLRegressor), X, y, 6))
    assert len(model._memory.stages) == 6
    assert_same_fit(grown(model, X, y, 12), small(stagenets.RVFLRegressor).fit(X, y), X)


def test_a_failed_fit_forgets_nothing():
    X, y = data_for(stagenets.RVFLRegressor)
    model = grown(small(stagenets.RVFLRegressor), X, y, 6)
    with pytest.raises(ValueError, match="alpha"):
        model.set_params(alpha=-1).fit(X, y)
    model.set_params(alpha=3.0)
    assert len(model._memory.stages) == 6
    assert_same_fit(grown(model, X, y, 12), small(stagenets.RVFLRegressor).fit(X, y), X)


def test_only_true_and_false_are_accepted():
    X, y = data_for(stagenets.RVFLRegressor)
    with pytest.raises(ValueError, match="warm_start must be True or False; got 'yes'"):
        small(stagenets.RVFLRegressor, warm_start="yes").fit(X, y)
