"""A fitted network owns its facts: parameters are what the next fit will use."""

import numpy as np
import pytest
from sklearn.feature_selection import RFE, SelectFromModel

import problems
import stagenets

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)


def changed_parameters(model):
    """Other values for everything that prediction once read from the parameters."""
    names = ("activation", "feature_activation", "enhancement_activation")
    changes = {name: "relu" for name in names if name in model.get_params()}
    return {**changes, "selection": "random", "standardize": False, "fit_intercept": False}


def answers(model, X):
    found = {"predict": model.predict(X), "transform": model.transform(X)}
    found["staged"] = np.array(list(model.staged_predict(X)))
    if hasattr(model, "predict_proba"):
        found["proba"] = model.predict_proba(X)
    module = {}
    exec(stagenets.to_numpy_source(model), module)
    found["numpy"] = module["scores"](X)
    return found


@each_estimator
def test_parameters_changed_after_a_fit_change_nothing(cls, tmp_path):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y)
    expected = answers(model, X)
    model.set_params(**changed_parameters(model))
    model.save(tmp_path / "model")
    for other in (model, stagenets.load(tmp_path / "model")):
        for name, value in answers(other, X).items():
            np.testing.assert_array_equal(value, expected[name], err_msg=name)


@pytest.mark.parametrize("cls", [stagenets.RVFLClassifier, stagenets.BLSRegressor])
def test_onnx_follows_the_network_not_the_parameters(cls):
    pytest.importorskip("onnx")
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y)
    before = stagenets.to_onnx(model).SerializeToString()
    model.set_params(**changed_parameters(model))
    assert stagenets.to_onnx(model).SerializeToString() == before


def test_fitted_arrays_cannot_be_changed_by_accident():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = problems.small(stagenets.RVFLClassifier).fit(X, y)
    for name in ("hidden_weights_", "readout_", "objective_path_", "selected_"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[0] = 0
    with pytest.raises(AttributeError):
        model.readout_ = np.zeros(3)


def test_a_failed_fit_leaves_the_earlier_model():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = problems.small(stagenets.RVFLClassifier)
    with pytest.raises(ValueError, match="activation must be"):
        model.set_params(activation="none").fit(X, y)
    assert not hasattr(model, "n_features_in_")
    model.set_params(activation="tanh").fit(X, y)
    expected = model.predict_proba(X)
    with pytest.raises(ValueError, match="alpha must be"):
        model.set_params(alpha=-1).fit(X[:, :2], y)
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_selectors_use_importances_as_there_is_no_coefficient_per_input():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = problems.small(stagenets.RVFLClassifier)
    assert not hasattr(model.fit(X, y), "coef_")
    for selector in (RFE(model), SelectFromModel(model)):
        assert 0 < selector.fit(X, y).transform(X).shape[1] < X.shape[1]


CONSTANT = {
    "standardised": {},
    "raw": {"standardize": False},
    "dense": {"weight_init": "normal"},
    "one-shot": {"selection": "random"},
    "without-intercept": {"fit_intercept": False, "standardize": False},
}


@each_estimator
@pytest.mark.parametrize("params", CONSTANT.values(), ids=CONSTANT)
@pytest.mark.parametrize("constant", [5.0, 0.0, 1e6])
def test_a_column_that_never_varied_in_training_has_no_say(cls, params, constant):
    X, y = problems.data_for(cls)
    X = np.column_stack([np.full(len(X), constant), X])
    model = problems.small(cls, **params).fit(X, y)
    other = X.copy()
    other[:, 0] = np.linspace(-100, 100, len(X))
    np.testing.assert_array_equal(model.transform(other), model.transform(X))
    np.testing.assert_array_equal(model.predict(other), model.predict(X))
    staged = zip(model.staged_predict(other), model.staged_predict(X), strict=True)
    for changed, same in staged:
        np.testing.assert_array_equal(changed, same)


@pytest.mark.parametrize("standardize", [True, False])
def test_constants_still_count_in_training(standardize):
    """Folding a constant column away does not change what the network says about training rows."""
    X, y = problems.data_for(stagenets.RVFLRegressor)
    X = np.column_stack([np.full(len(X), 5.0), X])
    model = problems.small(stagenets.RVFLRegressor, standardize=standardize, weight_init="normal")
    model.fit(X, y)
    fitted = np.sum((model.predict(X) - y) ** 2 / y.var(axis=0))
    assert fitted == pytest.approx(model.residual_path_[-1], rel=1e-9)
