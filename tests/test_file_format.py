"""Model files that are damaged, hostile or of an earlier version."""

import json
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

import problems
import residuum
from residuum import _files, _model_state

GOLDEN = Path(__file__).parent / "data"


# Damaged files.


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A model, inputs, a place for files, and the bytes of its file."""
    X, y = problems.data_for(residuum.RVFLClassifier)
    model = problems.small(residuum.RVFLClassifier, n_hidden=3)
    model.fit(pd.DataFrame(X, columns=list("abcd")), np.array(["x", "y", "z"])[y])
    path = tmp_path_factory.mktemp("files") / "model"
    model.save(path)
    return model, X, path, path.read_bytes()


def refused(path, data):
    path.write_bytes(data)
    with pytest.raises(residuum.ModelFileError, match=r"is not a (usable model|safetensors) file"):
        residuum.load(path)


@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_a_changed_byte_is_noticed_or_harmless(sound, data):
    model, _, path, whole = sound
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = bytearray(whole)
    damaged[place] = data.draw(st.integers(0, 255))
    path.write_bytes(damaged)
    try:
        other = residuum.load(path)
    except residuum.ModelFileError:
        return
    # Nothing but white space in the header can differ.
    assert bytes(damaged).split() == whole.split()
    assert other.get_params() == model.get_params()
    np.testing.assert_array_equal(other.coef_, model.coef_)


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_a_truncated_file_is_noticed(sound, data):
    *_, path, whole = sound
    refused(path, whole[: data.draw(st.integers(0, len(whole) - 1))])


@settings(deadline=None, max_examples=50)
@given(tail=st.binary(min_size=1, max_size=50))
def test_a_longer_file_is_noticed(sound, tail):
    *_, path, whole = sound
    refused(path, whole + tail)


@settings(deadline=None, max_examples=100)
@given(content=st.binary(max_size=200))
def test_any_other_file_is_refused(sound, content):
    *_, path, _ = sound
    refused(path, content)


# Hostile files: well-formed, with a right checksum, and wrong.


def write(path, state, **metadata):
    text = state.header if isinstance(state.header, str) else json.dumps(state.header)
    metadata = {
        "format": "residuum",
        "format_version": "1",
        "model": text,
        "sha256": _files._digest(text, state.arrays),
        **metadata,
    }
    save_file(state.arrays, path, metadata)


def set_header(**values):
    return lambda state: state.header.update(values)


def set_param(name, value):
    return lambda state: state.header["params"].update({name: value})


def set_array(name, change):
    def apply(state):
        state.arrays[name] = np.asarray(change(state.arrays[name]), order="C")

    return apply


def drop(name):
    return lambda state: state.arrays.pop(name)


def with_one(value):
    def change(array):
        array = array.copy()
        array.flat[-1] = value
        return array

    return change


HOSTILE = {
    "no-estimator": (set_header(estimator=None), "estimator must be one of"),
    "other-estimator": (set_header(estimator="os.system"), "estimator must be one of"),
    "other-task": (set_header(estimator="RVFLRegressor"), "classes_ is not expected"),
    "other-architecture": (set_header(estimator="ELMClassifier"), "number of columns must be 3"),
    "broad-architecture": (set_header(estimator="BLSClassifier"), "got 'activation'"),
    "no-params": (set_header(params=None), "params must be"),
    "unknown-param": (set_param("__class__", "x"), "a parameter must be one of"),
    "param-of-lists": (set_param("alpha", [1, 2]), "alpha must be"),
    "unknown-activation": (set_param("activation", "exec"), "activation must be one of"),
    "no-activation": (set_param("activation", None), "activation must be one of"),
    "no-classes": (lambda state: state.header.pop("classes"), "classes_ is missing"),
    "classes-as-list": (set_header(classes=["x", "y", "z"]), "classes must be a table"),
    "classes-of-numbers": (
        set_header(classes={"labels": [1, 2, 3], "dtype": "object"}),
        "labels must be a list of strings",
    ),
    "classes-of-unknown-dtype": (
        set_header(classes={"labels": ["x", "y", "z"], "dtype": "O,O"}),
        "dtype must be one of",
    ),
    "too-few-classes": (
        set_header(classes={"labels": ["x", "y"], "dtype": "object"}),
        "the number of outputs is",
    ),
    "equal-classes": (
        set_header(classes={"labels": ["x", "y", "y"], "dtype": "object"}),
        "none of them twice",
    ),
    "unordered-classes": (
        set_header(classes={"labels": ["z", "y", "x"], "dtype": "object"}),
        "in order",
    ),
    "huge-labels": (
        set_header(classes={"labels": ["x" * 10**6] + ["y"] * 10**4, "dtype": "str"}),
        "at most",
    ),
    "too-few-names": (set_header(feature_names=["a"]), "there must be 4 feature_names"),
    "names-of-numbers": (set_header(feature_names=[1, 2, 3, 4]), "list of strings"),
    "unknown-container": (set_header(output="xarray"), "output must be one of"),
    "missing-array": (drop("hidden_biases_"), "hidden_biases_ is missing"),
    "missing-path": (drop("path.ends"), "path.ends is missing"),
    "missing-readout": (drop("coef_"), "coef_ is missing"),
    "unexpected-array": (
        lambda state: state.arrays.update(fit=np.zeros(3)),
        "fit is not expected",
    ),
    "float32": (set_array("coef_", np.float32), "coef_ must be of type float64"),
    "integers": (set_array("selected_", np.int32), "selected_ must be of type int64"),
    "nan": (set_array("hidden_weights_", with_one(np.nan)), "hidden_weights_ must be finite"),
    "inf": (set_array("temperature_", with_one(np.inf)), "temperature_ must be finite"),
    "negative-unit": (set_array("selected_", with_one(-1)), "selected_ must not be negative"),
    "path-past-its-end": (set_array("path.ends", with_one(4)), "number of steps must be 4"),
    "path-far-past-its-end": (set_array("path.ends", with_one(2**62)), "number of steps must be"),
    "path-that-turns": (set_array("path.ends", lambda ends: ends[::-1]), "path.ends must be"),
    "best-past-the-end": (set_array("best_iter_", with_one(9)), "best_iter_ must be below 4"),
    "best-in-the-middle": (set_array("best_iter_", with_one(2)), "number of kept points must be 3"),
    "path-without-points": (set_array("path.ends", lambda ends: ends[:0]), "path.ends must be"),
    "flat": (set_array("coef_", np.ravel), "coef_ must have 2 dimensions"),
    "transposed": (set_array("hidden_weights_", np.transpose), "but the number of units is"),
    "wider-readout": (
        set_array("coef_", lambda coef: np.hstack([coef, coef])),
        "number of columns must be 7; got 14",
    ),
    "shorter-history": (
        set_array("objective_path_", lambda path: path[1:]),
        "but the number of points is",
    ),
    "wide-units": (set_array("selected_", lambda units: units[:, :1]), "numbers of a unit"),
    "list": (lambda state: setattr(state, "header", "[1]"), "header must be a table"),
    "no-json": (lambda state: setattr(state, "header", "{"), "not a usable model"),
    "not-finite": (lambda state: setattr(state, "header", '{"x": NaN}'), "must hold finite"),
    "deep": (lambda state: setattr(state, "header", "[" * 100_000), "not a usable model"),
    "long-number": (lambda state: setattr(state, "header", "9" * 5000), "not a usable model"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_state_that_does_not_fit_together_is_refused(sound, case, tmp_path):
    change, message = HOSTILE[case]
    state = _model_state.state_of(sound[0])
    write(tmp_path / "model", state)
    residuum.load(tmp_path / "model")
    change(state)
    write(tmp_path / "model", state)
    with pytest.raises(residuum.ModelFileError, match=message):
        residuum.load(tmp_path / "model")


def test_complex_labels_are_refused(sound):
    state = _model_state.state_of(sound[0])
    del state.header["classes"]
    state.arrays["classes_"] = np.array([1, 2, 3j])
    with pytest.raises(ValueError, match="classes must be real numbers or strings"):
        _model_state.model_of(state)


def test_a_file_cannot_ask_for_threads(sound, tmp_path):
    state = _model_state.state_of(sound[0])
    state.header["params"]["n_jobs"] = 10**9
    write(tmp_path / "model", state)
    assert residuum.load(tmp_path / "model").n_jobs is None


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"format": "pt"}, "its format must be 'residuum'; got 'pt'"),
        ({"format_version": "2"}, "got '2' .*later version"),
        ({"format_version": "-1"}, "format_version must be one of 1; got '-1'"),
        ({"format_version": "one"}, "format_version must be"),
        ({"sha256": "0"}, "checksum"),
    ],
    ids=str,
)
def test_metadata_that_is_not_ours_is_refused(sound, metadata, message, tmp_path):
    state = _model_state.state_of(sound[0])
    write(tmp_path / "model", state, **metadata)
    with pytest.raises(residuum.ModelFileError, match=message):
        residuum.load(tmp_path / "model")


def raw(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(**values):
    return {"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8], **values}}


ONE = bytes(8)
TWICE = json.dumps(tensor())[:-1] + ", " + json.dumps(tensor())[1:]
BYTES = {
    "no-metadata": raw({}),
    "no-tensors": raw({"__metadata__": {"format": "residuum", "format_version": "1"}}),
    "endless-header": raw({}, length=2**64 - 1),
    "long-header": raw({}, length=99_000_000),
    "huge": raw(tensor(shape=[10**9, 10**3], data_offsets=[0, 8 * 10**12]), ONE),
    "overflow": raw(tensor(shape=[2**62, 2**62]), ONE),
    "empty-and-huge": raw(tensor(shape=[0, 2**62], data_offsets=[0, 0])),
    "empty-and-too-huge": raw(tensor(shape=[0, 2**63], data_offsets=[0, 0])),
    "bfloat16": raw(tensor(dtype="BF16", shape=[4]), ONE),
    "float8": raw(tensor(dtype="F8_E4M3", shape=[8]), ONE),
    "objects": raw(tensor(dtype="O"), ONE),
    "negative": raw(tensor(shape=[-1]), ONE),
    "backwards": raw(tensor(data_offsets=[8, 0]), ONE),
    "many-dimensions": raw(tensor(shape=[1] * 100), ONE),
    "twice": raw(TWICE.encode(), ONE),
    "deep": raw(b"[" * 100_000),
}


@pytest.mark.parametrize("case", BYTES)
def test_hostile_header_is_refused_without_asking_for_memory(sound, case):
    *_, path, _ = sound
    tracemalloc.start()
    refused(path, BYTES[case])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20 + 10 * len(BYTES[case])


# Versions.


def test_past_versions_go_through_every_upgrade(sound, monkeypatch, tmp_path):
    model, X, _, _ = sound

    def renamed(old, new):
        def upgrade(state):
            params = {new if name == old else name: v for name, v in state.header["params"].items()}
            return _model_state.ModelState({**state.header, "params": params}, state.arrays)

        return upgrade

    state = _model_state.state_of(model)
    state.header["params"]["ridge"] = state.header["params"].pop("alpha")
    monkeypatch.setattr(_files, "FORMAT_VERSION", 3)
    steps = {1: renamed("ridge", "lambda"), 2: renamed("lambda", "alpha")}
    monkeypatch.setattr(_files, "UPGRADES", steps)
    write(tmp_path / "model", state)
    other = residuum.load(tmp_path / "model")
    assert other.get_params() == model.get_params()
    frame = pd.DataFrame(X, columns=list("abcd"))
    np.testing.assert_array_equal(other.predict(frame), model.predict(frame))


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.safetensors")), ids=lambda path: path.stem)
def test_files_of_past_versions_still_load(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    model = residuum.load(path)
    assert type(model).__name__ == expected.pop("estimator")
    frame = pd.DataFrame(expected.pop("X"), columns=expected.pop("names"))
    for name, values in expected.items():
        actual = getattr(model, name)(frame)
        if name == "predict" and isinstance(values[0], str):
            assert actual.tolist() == values
        else:
            np.testing.assert_allclose(actual, values, rtol=1e-10, atol=1e-10)


def test_every_version_has_a_file():
    versions = {path.stem.split("_")[1] for path in GOLDEN.glob("*.safetensors")}
    assert versions >= {str(version) for version in range(1, _files.FORMAT_VERSION + 1)}
