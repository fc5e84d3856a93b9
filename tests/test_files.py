"""Model files: the same model comes back."""

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import problems
import stagenets
from stagenets.export import _model_state

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)


def fitted(cls, n_outputs=3, **params):
    X, y = problems.data_for(cls, n_outputs=n_outputs)
    return problems.small(cls, **params).fit(X, y), X


def reloaded(model, path):
    model.save(path)
    return stagenets.load(path)


def outputs(model, X):
    """Everything the model says about X."""
    names = ["predict", "transform", "staged_predict"]
    names += ["predict_proba", "predict_log_proba", "decision_function", "staged_decision_function"]
    methods = {name: getattr(model, name, None) for name in names}
    return {
        name: list(method(X)) if name.startswith("staged") else method(X)
        for name, method in methods.items()
        if method
    }


def attributes(model):
    """Names of what a fitted estimator may tell about itself."""
    names = {*dir(type(model)), *vars(model)} - {"network_"}
    return sorted(name for name in names if name.endswith("_") and not name.startswith("_"))


def assert_same(model, other, X):
    expected, actual = outputs(model, X), outputs(other, X)
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value, err_msg=name)
    for name in attributes(model):
        assert hasattr(other, name) == hasattr(model, name), name
        if hasattr(model, name):
            value = getattr(model, name)
            assert type(getattr(other, name)) is type(value), name
            np.testing.assert_array_equal(getattr(other, name), value, err_msg=name)


@pytest.mark.filterwarnings("ignore:early_stopping=.* kept no units")
@each_estimator
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"selection": "random"},
        {"block_size": 5},
        {"tol": 10.0},
        {"early_stopping": "loo", "n_iter_no_change": 2},
        {"early_stopping": "validation", "n_iter_no_change": 2},
        {"early_stopping": "cv"},
    ],
    ids=str,
)
def test_same_model_to_the_bit(cls, params, tmp_path):
    model, X = fitted(cls, **params)
    other = reloaded(model, tmp_path / "model")
    assert type(other) is cls
    assert_same(model, other, X)
    assert_same(model, other, X.astype(np.float32))
    assert other.get_params() == model.get_params()


@pytest.mark.parametrize("cls", problems.REGRESSORS, ids=problems.name_of)
def test_single_target_keeps_its_shapes(cls, tmp_path):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y[:, 0])
    other = reloaded(model, tmp_path / "model")
    assert isinstance(other.readout_intercept_, float)
    assert_same(model, other, X)


@pytest.mark.parametrize("cls", problems.BLS, ids=problems.name_of)
def test_layers_without_units(cls, tmp_path):
    model, X = fitted(cls, n_enhancement=0)
    assert_same(model, reloaded(model, tmp_path / "model"), X)


def test_network_without_units(tmp_path):
    X = np.ones((20, 2))
    model = stagenets.ELMRegressor(n_hidden=3, alpha=0, random_state=0).fit(X, np.arange(20.0))
    assert model.n_hidden_ == 0
    assert_same(model, reloaded(model, tmp_path / "model"), X)


LABELS = {
    "strings": np.array(["pike", "carp", "eel"]),
    "objects": np.array(["pike", "", "äl\ud800\n"], dtype=object),
    "booleans": np.array([False, True]),
    "int8": np.array([-1, 0, 1], dtype=np.int8),
    "uint64": np.array([2**64 - 1, 2, 3], dtype=np.uint64),
    "float32": np.array([1, 2, 3], dtype=np.float32),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_come_back_as_they_were(kind, tmp_path):
    X, y = problems.data_for(stagenets.RVFLClassifier, n_outputs=len(LABELS[kind]))
    model = problems.small(stagenets.RVFLClassifier).fit(X, LABELS[kind][y])
    other = reloaded(model, tmp_path / "model")
    assert other.classes_.dtype == model.classes_.dtype
    assert_same(model, other, X)


@each_estimator
def test_feature_names_and_output_container_come_back(cls, tmp_path):
    X, y = problems.data_for(cls)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "ö\n"])
    model = problems.small(cls).fit(frame, y).set_output(transform="pandas")
    other = reloaded(model, tmp_path / "model")
    assert other.feature_names_in_.tolist() == frame.columns.tolist()
    assert other.feature_names_in_.dtype == object
    pd.testing.assert_frame_equal(other.transform(frame), model.transform(frame))
    with pytest.raises(ValueError, match="feature names"):
        other.predict(frame.rename(columns={"a": "A"}))


def test_numbers_of_any_type_are_parameters(tmp_path):
    params = {"alpha": np.float64(0.1), "n_hidden": np.int32(7), "random_state": 2**64 - 1}
    model, X = fitted(stagenets.ELMRegressor, standardize=np.True_, **params)
    other = reloaded(model, tmp_path / "model")
    assert other.get_params() == model.get_params()
    assert_same(model, other, X)


def test_parameters_that_are_not_data_become_none(tmp_path):
    def draw(rng, pool_size, n_features):
        return rng.normal(size=(n_features, pool_size)), rng.normal(size=pool_size)

    model, X = fitted(
        stagenets.RVFLClassifier, weight_init=draw, random_state=np.random.RandomState(0), n_jobs=2
    )
    other = reloaded(model, tmp_path / "model")
    assert_same(model, other, X)
    unwritten = {"weight_init": None, "random_state": None, "n_jobs": None}
    assert other.get_params() == {**model.get_params(), **unwritten}
    _, y = problems.data_for(stagenets.RVFLClassifier)
    with pytest.raises(ValueError, match="weight_init must be"):
        clone(other).fit(X, y)


@each_estimator
def test_loaded_model_can_be_fitted_again(cls, tmp_path):
    model, X = fitted(cls)
    other = reloaded(model, tmp_path / "model")
    _, y = problems.data_for(cls)
    assert_same(model, other.fit(X, y), X)


def test_nothing_is_left_of_an_earlier_fit(tmp_path):
    X, y = problems.data_for(stagenets.RVFLRegressor)
    model = problems.small(stagenets.RVFLRegressor, early_stopping="validation", n_iter_no_change=2)
    model.fit(X, y)
    for params in ({"early_stopping": False}, {"early_stopping": "cv"}, {"selection": "random"}):
        model.set_params(**params).fit(X, y)
        assert_same(clone(model).fit(X, y), reloaded(model, tmp_path / "model"), X)
        assert vars(model).keys() == vars(clone(model).fit(X, y)).keys()


def test_search_saves_its_best_model(tmp_path):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    search = stagenets.RVFLClassifierCV(alphas=(0.1, 1), n_hidden=[2, 5], cv=2, random_state=0)
    search.fit(X, y)
    assert_same(search.best_estimator_, reloaded(search, tmp_path / "model"), X)


def test_file_is_plain_safetensors(tmp_path):
    model, _ = fitted(stagenets.ELMClassifier)
    model.save(tmp_path / "model")
    weights = load_file(tmp_path / "model")["layer0.weights"]
    np.testing.assert_array_equal(weights, model.hidden_weights_)


def test_saving_what_cannot_be_saved(tmp_path, monkeypatch):
    with pytest.raises(NotFittedError):
        stagenets.RVFLClassifier().save(tmp_path / "model")

    class Mine(stagenets.RVFLRegressor):
        pass

    X, y = problems.data_for(stagenets.RVFLRegressor)
    with pytest.raises(ValueError, match=r"model must be one of RVFLClassifier, .*; got Mine"):
        Mine(n_hidden=5).fit(X, y).save(tmp_path / "model")

    X, y = problems.data_for(stagenets.RVFLClassifier)
    days = np.array(["2024-01-01", "2024-01-02", "2024-01-03"], dtype="datetime64[D]")
    with pytest.raises(ValueError, match=r"classes_ must be .*; got .*datetime64"):
        problems.small(stagenets.RVFLClassifier).fit(X, days[y]).save(tmp_path / "model")

    monkeypatch.setattr(_model_state, "_MOST_CHARACTERS", 11)
    names = np.array(["a", "b", "cccc"])
    with pytest.raises(ValueError, match=r"dtype str must have at most 11 characters.* got 12"):
        problems.small(stagenets.RVFLClassifier).fit(X, names[y]).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_paths_that_are_none(tmp_path):
    model, _ = fitted(stagenets.ELMRegressor)
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "nowhere" / "model")
    with pytest.raises(FileNotFoundError):
        stagenets.load(tmp_path / "nowhere")
    with pytest.raises(OSError):  # a folder; Windows says PermissionError
        stagenets.load(tmp_path)
    for call in (model.save, stagenets.load):
        with pytest.raises(TypeError, match="not int"):
            call(0)


def unpickled(model):
    return pickle.loads(pickle.dumps(model))


def unjoblibbed(model):
    stream = io.BytesIO()
    joblib.dump(model, stream)
    return joblib.load(stream)


def unskopped(model):
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(model)
    # The user looks at this list and says yes; it must hold nothing but our own class.
    unknown = skops.get_untrusted_types(data=data)
    assert all(name.startswith("stagenets.") for name in unknown)
    return skops.loads(data, trusted=unknown)


@each_estimator
@pytest.mark.parametrize("round_trip", [unpickled, unjoblibbed, unskopped])
def test_other_ways_to_keep_a_model(cls, round_trip):
    model, X = fitted(cls)
    other = round_trip(model)
    assert_same(model, other, X)
    assert other.get_params() == model.get_params()
