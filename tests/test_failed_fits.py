"""A fit that fails changes nothing; a fit that succeeds ends where its path ends."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import problems
import stagenets

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)


def interrupt(info):
    raise KeyboardInterrupt


def failing_draw(rng, pool_size, n_features):
    raise RuntimeError("no weights today")


FAILURES = {
    "parameter": ({"alpha": -1.0}, ValueError),
    "memory": ({"pool_size": 2**62}, MemoryError),
    "draws": ({"weight_init": failing_draw}, RuntimeError),
    "interrupt": ({"callback": interrupt}, KeyboardInterrupt),
}


@each_estimator
@pytest.mark.parametrize("failure", FAILURES)
def test_nothing_is_fitted_after_a_first_fit_that_failed(cls, failure):
    params, error = FAILURES[failure]
    X, y = problems.data_for(cls)
    model = problems.small(cls, **params)
    with pytest.raises(error):
        model.fit(X, y)
    for name in ("predict", "transform", "predict_proba", "decision_function"):
        if hasattr(cls, name):
            with pytest.raises(NotFittedError):
                getattr(model, name)(X)
    for name in ("staged_predict", "staged_decision_function"):
        if hasattr(cls, name):
            with pytest.raises(NotFittedError):
                list(getattr(model, name)(X))
    with pytest.raises(NotFittedError):
        model.save("nowhere")
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "classes_")


@each_estimator
@pytest.mark.parametrize("failure", FAILURES)
def test_the_old_model_survives_a_failed_fit_to_other_data(cls, failure):
    params, error = FAILURES[failure]
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y)
    before = problems.scores_of(model, X)
    wider, others = problems.data_for(cls, p=7, n_outputs=2, seed=1)
    with pytest.raises(error):
        model.set_params(**params).fit(wider, others)
    np.testing.assert_array_equal(problems.scores_of(model, X), before)
    assert model.n_features_in_ == X.shape[1]
    with pytest.raises(ValueError, match="features"):
        model.predict(wider)


@each_estimator
@pytest.mark.parametrize("selection", ["residual", "joint", "random"])
@pytest.mark.parametrize("alpha", [1e-12, 1e-8, 1.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_last_stage_is_the_model(cls, selection, alpha, dtype):
    X, y = problems.data_for(cls, n=40)
    X = X.astype(dtype)
    model = problems.small(cls, alpha=alpha, selection=selection).fit(X, y)
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    if cls in problems.CLASSIFIERS:
        *_, last = model.staged_decision_function(X)
        np.testing.assert_array_equal(last, model.decision_function(X))
    stages = len(list(model.staged_predict(X))) - 1
    assert stages == model.n_iter_


SIZES = ["pool_size", "block_size", "fan_in", "n_iter_no_change"]


@each_estimator
@pytest.mark.parametrize("name", [*SIZES, "size"])
def test_integers_beyond_64_bits_are_refused_by_name(cls, name):
    if name == "size":
        name = "n_enhancement" if cls in problems.BLS else "n_hidden"
    X, y = problems.data_for(cls)
    model = problems.small(cls, early_stopping="loo").set_params(**{name: 2**63})
    with pytest.raises(ValueError, match=f"{name} must be below 2\\*\\*63; got {2**63}"):
        model.fit(X, y)


def test_draws_and_given_units_name_such_integers_too():
    with pytest.raises(ValueError, match=r"stage must be below 2\*\*63"):
        stagenets.draw_candidates(0, 2**63, 1, 1)
    with pytest.raises(ValueError, match=r"n_hidden must be below 2\*\*63"):
        stagenets.fit_stagewise(lambda stage, count: np.ones((3, count)), [1, 2, 3], n_hidden=2**63)
