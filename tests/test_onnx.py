"""Exported to ONNX, a model says what it said before, as onnxruntime reads it."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, StackingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import problems
import stagenets
from stagenets.fitting._parameters import ACTIVATIONS

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

# What users may rely on, in float32 and in float64.
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-9}

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
each_classifier = pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
each_dtype = pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda dtype: dtype.__name__)


def run(converted, inputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        converted.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    if not isinstance(inputs, dict):
        inputs = {session.get_inputs()[0].name: inputs}
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def assert_agrees(model, results, X, dtype):
    """Same predictions; same labels and probabilities."""
    atol = TOLERANCE[dtype]
    if "variable" in results:
        expected = np.reshape(model.predict(X), (len(X), -1))
        assert results["variable"].dtype == dtype
        np.testing.assert_allclose(results["variable"], expected, rtol=atol, atol=atol)
        return
    expected = model.predict_proba(X)
    assert results["probabilities"].dtype == dtype
    np.testing.assert_allclose(results["probabilities"], expected, rtol=0, atol=atol)
    np.testing.assert_array_equal(results["label"], model.predict(X))


def with_activation(cls, name):
    names = ["activation"] if cls in problems.AFFINE else ["feature_activation"]
    names += [] if cls in problems.AFFINE else ["enhancement_activation"]
    return dict.fromkeys(names, name)


@each_estimator
@each_dtype
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation(cls, dtype, activation):
    X, y = problems.data_for(cls)
    model = problems.small(cls, **with_activation(cls, activation)).fit(X, y)
    fresh, _ = problems.data_for(cls, 200, seed=1)
    converted = stagenets.to_onnx(model, dtype=dtype)
    assert_agrees(model, run(converted, fresh.astype(dtype)), fresh, dtype)


LABELS = {
    "two": np.array([0, 1]),
    "words": np.array(["pike", "carp", "äl"]),
    "two-words": np.array(["no", "yes"], dtype=object),
    "negative": np.array([-7, 3, 2**40]),
    "booleans": np.array([False, True]),
    "floats": np.array([1.0, 2.0, 5.0], dtype=np.float32),
}


@each_classifier
@each_dtype
@pytest.mark.parametrize("kind", LABELS)
def test_labels(cls, dtype, kind):
    names = LABELS[kind]
    X, y = problems.data_for(cls, n_outputs=len(names))
    model = problems.small(cls).fit(X, names[y])
    results = run(stagenets.to_onnx(model, dtype=dtype), X.astype(dtype))
    assert results["label"].dtype == (object if names.dtype.kind in "OU" else np.int64)
    assert_agrees(model, results, X, dtype)


@pytest.mark.parametrize("cls", problems.REGRESSORS, ids=problems.name_of)
@each_dtype
def test_single_target(cls, dtype):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y[:, 0])
    results = run(stagenets.to_onnx(model, dtype=dtype), X.astype(dtype))
    assert results["variable"].shape == (len(X), 1)
    assert_agrees(model, results, X, dtype)


@each_dtype
def test_layers_without_units(dtype):
    X, y = problems.data_for(stagenets.BLSRegressor, 20)
    nodes = problems.small(stagenets.BLSRegressor, n_enhancement=0).fit(X, y)
    assert_agrees(nodes, run(stagenets.to_onnx(nodes, dtype=dtype), X.astype(dtype)), X, dtype)
    ones = np.ones_like(X)
    constant = stagenets.ELMRegressor(n_hidden=3, alpha=0, random_state=0).fit(
        ones, np.arange(20.0)
    )
    assert constant.n_hidden_ == 0
    results = run(stagenets.to_onnx(constant, dtype=dtype), ones.astype(dtype))
    assert_agrees(constant, results, ones, dtype)


def test_any_number_of_rows():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = problems.small(stagenets.RVFLClassifier).fit(X, y)
    converted = stagenets.to_onnx(model)
    for rows in (0, 1, 60):
        results = run(converted, X[:rows].astype(np.float32))
        assert results["label"].shape == (rows,)
        assert results["probabilities"].shape == (rows, 3)


def test_best_model_of_a_search():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    search = GridSearchCV(problems.small(stagenets.RVFLClassifier), {"alpha": [0.1, 1]}, cv=2)
    search.fit(X, y)
    results = run(stagenets.to_onnx(search, dtype="double"), X)
    assert_agrees(search, results, X, np.float64)


def test_what_the_file_says_about_itself():
    X, y = problems.data_for(stagenets.ELMRegressor)
    converted = stagenets.to_onnx(problems.small(stagenets.ELMRegressor).fit(X, y))
    assert converted.producer_name == "stagenets"
    assert [(opset.domain, opset.version) for opset in converted.opset_import] == [("", 17)]


def test_what_cannot_be_converted():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = problems.small(stagenets.RVFLClassifier).fit(X, y)
    with pytest.raises(ValueError, match="dtype must be one of 'float32', 'float64'; got 'int64'"):
        stagenets.to_onnx(model, dtype=int)
    with pytest.raises(NotFittedError):
        stagenets.to_onnx(stagenets.RVFLClassifier())
    with pytest.raises(ValueError, match="model must be a stagenets estimator"):
        stagenets.to_onnx(LogisticRegression().fit(X, y))
    with pytest.raises(ValueError, match="got a pipeline: use skl2onnx"):
        stagenets.to_onnx(make_pipeline(StandardScaler(), model))
    huge = problems.small(stagenets.RVFLClassifier).fit(X, y.astype(np.uint64) + 2**63)
    with pytest.raises(ValueError, match="labels must be strings or 64-bit integers"):
        stagenets.to_onnx(huge)


@pytest.mark.parametrize("call", ["to_onnx(None)", "register_onnx_converters()"])
def test_message_where_onnx_is_missing(call):
    code = (
        "import sys; sys.modules['onnx'] = sys.modules['skl2onnx'] = None\n"
        f"import stagenets\ntry: stagenets.{call}\nexcept ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'stagenets[onnx]'" in done.stdout


# Pipelines.


@pytest.fixture
def skl2onnx():
    module = pytest.importorskip("skl2onnx")
    stagenets.register_onnx_converters()
    return module


@each_estimator
@each_dtype
def test_pipeline(cls, dtype, skl2onnx):
    X, y = problems.data_for(cls)
    model = make_pipeline(StandardScaler(), problems.small(cls)).fit(X, y)
    options = {"zipmap": False} if cls in problems.CLASSIFIERS else None
    converted = skl2onnx.to_onnx(model, X[:1].astype(dtype), options=options)
    assert_agrees(model, run(converted, X.astype(dtype)), X, dtype)


@each_classifier
def test_pipeline_of_numbers_and_words(cls, skl2onnx):
    pd = pytest.importorskip("pandas")
    X, y = problems.data_for(cls, 80)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = np.where(X[:, 0] > 1, "large", "small")
    preparation = make_column_transformer(
        (StandardScaler(), ["a", "b"]),
        (OneHotEncoder(sparse_output=False), ["kind"]),
        ("passthrough", ["c"]),
        ("drop", ["d"]),
    )
    model = make_pipeline(preparation, problems.small(cls)).fit(frame, LABELS["words"][y])
    types = skl2onnx.common.data_types
    column_types = [(name, types.DoubleTensorType([None, 1])) for name in "abcd"]
    column_types.append(("kind", types.StringTensorType([None, 1])))
    converted = skl2onnx.convert_sklearn(
        model, initial_types=column_types, options={"zipmap": False}
    )
    needed = {value.name for value in converted.graph.input}
    results = run(converted, {name: frame[[name]].to_numpy() for name in needed})
    assert_agrees(model, results, frame, np.float64)


SEARCHES = {
    stagenets.RVFLClassifierCV: {"n_hidden": [3, 6]},
    stagenets.ELMRegressorCV: {"n_hidden": [3, 6]},
    stagenets.BLSRegressorCV: {"n_windows": [1], "n_feature_nodes": [3], "n_enhancement": [2, 4]},
}


@pytest.mark.parametrize("cls", SEARCHES, ids=problems.name_of)
def test_searches(cls, skl2onnx):
    kind = stagenets.RVFLClassifier if "Classifier" in cls.__name__ else stagenets.RVFLRegressor
    X, y = problems.data_for(kind)
    search = cls(alphas=(0.1, 1), cv=2, random_state=0, **SEARCHES[cls])
    model = make_pipeline(StandardScaler(), search).fit(X, y)
    options = {"zipmap": False} if kind is stagenets.RVFLClassifier else None
    converted = skl2onnx.to_onnx(model, X[:1], options=options)
    assert_agrees(model, run(converted, X), X, np.float64)
    alone = run(stagenets.to_onnx(model[-1], dtype=float), model[0].transform(X))
    assert_agrees(model[-1], alone, model[0].transform(X), np.float64)


def test_options_of_classifiers(skl2onnx):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = problems.small(stagenets.RVFLClassifier).fit(X, LABELS["words"][y])
    X = X.astype(np.float32)  # dictionaries hold no doubles
    plain = skl2onnx.to_onnx(model, X[:1])
    probabilities = run(plain, X)["output_probability"]
    assert [list(row) for row in probabilities] == [sorted(LABELS["words"])] * len(X)
    counted = skl2onnx.to_onnx(model, X[:1], options={"zipmap": False, "nocl": True})
    assert run(counted, X)["label"].dtype == np.int64
    columns = skl2onnx.to_onnx(model, X[:1], options={"zipmap": "columns"})
    probability = run(columns, X)["scarp"]
    np.testing.assert_allclose(probability, model.predict_proba(X)[:, 0], atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_raw_scores(n_classes, skl2onnx):
    X, y = problems.data_for(stagenets.ELMClassifier, n_outputs=n_classes)
    model = problems.small(stagenets.ELMClassifier).fit(X, y)
    options = {"zipmap": False, "raw_scores": True}
    scores = run(skl2onnx.to_onnx(model, X[:1], options=options), X)["probabilities"]
    decisions = model.decision_function(X)
    if n_classes == 2:
        decisions = np.column_stack([-decisions, decisions])
    np.testing.assert_allclose(scores, decisions, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("target_opset", [13, 15, 17, None])
def test_opset_asked_for(target_opset, skl2onnx):
    X, y = problems.data_for(stagenets.BLSClassifier)
    model = make_pipeline(StandardScaler(), problems.small(stagenets.BLSClassifier)).fit(X, y)
    converted = skl2onnx.to_onnx(model, X[:1], target_opset=target_opset, options={"zipmap": False})
    assert max(opset.version for opset in converted.opset_import) <= (target_opset or 17)
    assert_agrees(model, run(converted, X), X, np.float64)


def test_integers_go_in(skl2onnx):
    X, y = problems.data_for(stagenets.RVFLRegressor)
    X = np.round(10 * X).astype(np.int64)
    model = problems.small(stagenets.RVFLRegressor).fit(X, y)
    converted = skl2onnx.to_onnx(model, X[:1])
    assert_agrees(model, run(converted, X), X, np.float32)


ENSEMBLES = {
    "calibrated": CalibratedClassifierCV(problems.small(stagenets.RVFLClassifier), cv=2),
    "bagging": BaggingClassifier(
        problems.small(stagenets.BLSClassifier), n_estimators=2, random_state=0
    ),
    "stacking": StackingRegressor(
        [("elm", problems.small(stagenets.ELMRegressor)), ("ridge", Ridge())], cv=2
    ),
}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_ensembles_of_networks(name, skl2onnx):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = ENSEMBLES[name].fit(X, y)
    options = None if name == "stacking" else {"zipmap": False}
    converted = skl2onnx.to_onnx(model, X[:1], options=options)
    assert_agrees(model, run(converted, X), X, np.float64)


@pytest.mark.parametrize("first", [stagenets.RVFLClassifier, stagenets.ELMRegressor])
def test_network_that_transforms_for_others_is_refused(first, skl2onnx):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = make_pipeline(problems.small(first), LogisticRegression(max_iter=10_000)).fit(X, y)
    with pytest.raises(NotImplementedError, match="as the last step of a pipeline only"):
        skl2onnx.to_onnx(model, X[:1], options={"zipmap": False})
