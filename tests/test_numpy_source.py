"""The exported module is short, needs NumPy alone and predicts what the model does."""

import ast
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

import problems
import stagenets
from stagenets.fitting._parameters import ACTIVATIONS

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
METHODS = ["predict", "predict_proba", "decision_function"]


def module_of(model):
    module = {}
    exec(stagenets.to_numpy_source(model), module)
    return module


def assert_agrees(model, X):
    module = module_of(model)
    for name in METHODS:
        assert hasattr(model, name) == (name in module)
        if name in module:
            actual, expected = module[name](X), getattr(model, name)(X)
            assert actual.dtype == expected.dtype
            if expected.dtype.kind == "f":
                np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)
            else:
                np.testing.assert_array_equal(actual, expected)


@each_estimator
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation(cls, activation):
    names = ["activation"]
    if cls in problems.BLS:
        names = ["feature_activation", "enhancement_activation"]
    X, y = problems.data_for(cls)
    model = problems.small(cls, **dict.fromkeys(names, activation)).fit(X, y)
    fresh, _ = problems.data_for(cls, 200, seed=1)
    assert_agrees(model, fresh)


LABELS = {
    "words": np.array(["pike", "c\"a'rp\n", "äl"]),
    "objects": np.array(["pike", '"""\nimport os', "\\"], dtype=object),
    "two": np.array(["no", "yes"]),
    "booleans": np.array([False, True]),
    "int8": np.array([-7, 0, 3], dtype=np.int8),
    "float32": np.array([1, 2, 5], dtype=np.float32),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels(kind):
    X, y = problems.data_for(stagenets.RVFLClassifier, n_outputs=len(LABELS[kind]))
    assert_agrees(problems.small(stagenets.RVFLClassifier).fit(X, LABELS[kind][y]), X)


@pytest.mark.parametrize("cls", problems.REGRESSORS, ids=problems.name_of)
def test_single_target(cls):
    X, y = problems.data_for(cls)
    assert_agrees(problems.small(cls).fit(X, y[:, 0]), X)


def test_layers_without_units():
    X, y = problems.data_for(stagenets.BLSRegressor, 20)
    assert_agrees(problems.small(stagenets.BLSRegressor, n_enhancement=0).fit(X, y), X)
    X = np.ones_like(X)
    constant = stagenets.ELMRegressor(n_hidden=3, alpha=0, random_state=0).fit(X, np.arange(20.0))
    assert constant.n_hidden_ == 0
    assert_agrees(constant, X)


def test_extreme_inputs_give_no_warnings():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    for activation in ACTIVATIONS:
        model = problems.small(stagenets.ELMClassifier, activation=activation).fit(X, y)
        for size in (1e-300, 1e5, 1e100):
            probabilities = module_of(model)["predict_proba"](size * X)
            np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@each_estimator
def test_weights_are_there_to_the_last_bit(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y)
    module = module_of(model)
    outputs = module["READOUT"].shape[1]
    np.testing.assert_array_equal(module["READOUT"], np.reshape(model.readout_.T, (-1, outputs)))
    np.testing.assert_array_equal(module["INTERCEPT"], np.ravel(model.readout_intercept_))
    last = len(model.network_.layers)
    np.testing.assert_array_equal(module[f"WEIGHTS_{last}"], model.hidden_weights_)


@each_estimator
def test_module_needs_numpy_alone(cls, tmp_path):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y)
    (tmp_path / "exported.py").write_text(stagenets.to_numpy_source(model), encoding="ascii")
    np.save(tmp_path / "X.npy", X)
    code = (
        "import sys; sys.path.insert(0, '.'); import numpy, exported\n"
        "numpy.save('y.npy', exported.predict(numpy.load('X.npy')))\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    command = [sys.executable, "-I", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not {"stagenets", "sklearn", "scipy", "pandas"} & set(done.stdout.split())
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), model.predict(X), rtol=1e-9)


@each_estimator
def test_code_is_short_and_documented(cls):
    X, y = problems.data_for(cls)
    tree = ast.parse(stagenets.to_numpy_source(problems.small(cls).fit(X, y)))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    public = [function for function in functions if function.name in (*METHODS, "scores")]
    assert all(ast.get_docstring(function) for function in public)
    assert all(len(function.body) <= 7 for function in functions)


def test_names_of_the_inputs_are_kept():
    pd = pytest.importorskip("pandas")
    X, y = problems.data_for(stagenets.RVFLRegressor)
    frame = pd.DataFrame(X, columns=["a", "b'", '"""', "\n1 / 0"])
    model = problems.small(stagenets.RVFLRegressor).fit(frame, y)
    assert module_of(model)["FEATURE_NAMES"] == list(frame.columns)
    np.testing.assert_allclose(module_of(model)["predict"](frame), model.predict(frame))


def test_best_model_of_a_search():
    X, y = problems.data_for(stagenets.RVFLRegressor)
    search = GridSearchCV(problems.small(stagenets.RVFLRegressor), {"alpha": [0.1, 1]}, cv=2)
    search.fit(X, y)
    np.testing.assert_allclose(module_of(search)["predict"](X), search.predict(X))


def test_inputs_of_another_width_are_refused():
    X, y = problems.data_for(stagenets.ELMRegressor)
    predict = module_of(problems.small(stagenets.ELMRegressor).fit(X, y))["predict"]
    for wrong in (X[:, :3], X[0]):
        with pytest.raises(ValueError, match=r"X must have shape \(n, 4\); got"):
            predict(wrong)


def test_what_cannot_be_exported():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    with pytest.raises(NotFittedError):
        stagenets.to_numpy_source(stagenets.RVFLClassifier())
    with pytest.raises(ValueError, match="model must be a stagenets estimator"):
        stagenets.to_numpy_source(LinearRegression().fit(X, y))
    days = np.array(["2024-01-01", "2024-01-02", "2024-01-03"], dtype="datetime64[D]")
    model = problems.small(stagenets.RVFLClassifier).fit(X, days[y])
    with pytest.raises(ValueError, match="labels must be numbers, booleans or strings"):
        stagenets.to_numpy_source(model)
