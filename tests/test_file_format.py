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
import stagenets
from stagenets.export import _files, _model_state

GOLDEN = Path(__file__).parent / "data"


# Damaged files.


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A model, inputs, a place for files, and the bytes of its file."""
    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = problems.small(stagenets.RVFLClassifier, n_hidden=3)
    model.fit(pd.DataFrame(X, columns=list("abcd")), np.array(["x", "y", "z"])[y])
    path = tmp_path_factory.mktemp("files") / "model"
    model.save(path)
    return model, X, path, path.read_bytes()


def refused(path, data):
    path.write_bytes(data)
    with pytest.raises(stagenets.ModelFileError, match=r"is not a (usable model|safetensors) file"):
        stagenets.load(path)


@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_a_changed_byte_is_noticed_or_harmless(sound, data):
    model, _, path, whole = sound
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = bytearray(whole)
    damaged[place] = data.draw(st.integers(0, 255))
    path.write_bytes(damaged)
    try:
        other = stagenets.load(path)
    except stagenets.ModelFileError:
        return
    # Nothing but white space in the header can differ.
    assert bytes(damaged).split() == whole.split()
    assert other.get_params() == model.get_params()
    np.testing.assert_array_equal(other.readout_, model.readout_)


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
        "format": "stagenets",
        "format_version": str(_files.FORMAT_VERSION),
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


def add_array(name, values):
    return lambda state: state.arrays.update({name: np.array(values, dtype=np.int64)})


HOSTILE = {
    "no-estimator": (set_header(estimator=None), "estimator must be one of"),
    "other-estimator": (set_header(estimator="os.system"), "estimator must be one of"),
    "other-task": (set_header(estimator="RVFLRegressor"), "got 'class_weight'"),
    "other-architecture": (
        set_header(estimator="ELMClassifier"),
        "number of columns and ones must be 4",
    ),
    "broad-architecture": (set_header(estimator="BLSClassifier"), "got 'activation'"),
    "no-params": (set_header(params=None), "params must be"),
    "unknown-param": (set_param("__class__", "x"), "a parameter must be one of"),
    "param-of-lists": (set_param("alpha", [1, 2]), "alpha must be"),
    "unknown-activation": (set_header(activations=["exec"]), "an activation must be one of"),
    "no-activation": (set_header(activations=None), "activations must be a list of strings"),
    "no-classes": (lambda state: state.header.pop("classes"), "classes is missing"),
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
        "without duplicates",
    ),
    "unordered-classes": (
        set_header(classes={"labels": ["z", "y", "x"], "dtype": "object"}),
        "sorted",
    ),
    "huge-labels": (
        set_header(classes={"labels": ["x" * 10**6] + ["y"] * 10**4, "dtype": "str"}),
        "at most",
    ),
    "too-few-names": (set_header(feature_names=["a"]), "there must be 4 feature_names"),
    "names-of-numbers": (set_header(feature_names=[1, 2, 3, 4]), "list of strings"),
    "unknown-container": (set_header(output="xarray"), "output must be one of"),
    "missing-array": (drop("layer0.biases"), "layer0.biases is missing"),
    "missing-path": (drop("path.ends"), "path.ends is missing"),
    "missing-readout": (drop("readout"), "readout is missing"),
    "unexpected-array": (
        lambda state: state.arrays.update(fit=np.zeros(3)),
        "fit is not expected",
    ),
    "float32": (set_array("readout", np.float32), "readout must be of type float64"),
    "integers": (set_array("selected", np.int32), "selected must be of type int64"),
    "nan": (set_array("layer0.weights", with_one(np.nan)), "layer0.weights must be finite"),
    "inf": (set_array("temperature", with_one(np.inf)), "temperature must be finite"),
    "crossed-bounds": (
        set_array("bounds", lambda bounds: bounds[::-1]),
        "must not be above its upper bound",
    ),
    "too-few-bounds": (set_array("bounds", lambda bounds: bounds[:, 1:]), "but the number of"),
    "three-bounds": (
        set_array("bounds", lambda bounds: bounds[[0, 1, 1]]),
        "the number of ends of a range is 2",
    ),
    "nan-bound": (set_array("bounds", with_one(np.nan)), "bounds must be finite"),
    "negative-unit": (set_array("selected", with_one(-1)), "selected must not be negative"),
    "path-past-its-end": (set_array("path.ends", with_one(4)), "number of steps must be 4"),
    "path-far-past-its-end": (set_array("path.ends", with_one(2**62)), "number of steps must be"),
    "path-that-turns": (set_array("path.ends", lambda ends: ends[::-1]), "path.ends must be"),
    "best-past-the-end": (set_array("best_iter", with_one(9)), "best_iter must be below 4"),
    "best-in-the-middle": (set_array("best_iter", with_one(2)), "number of kept points must be 3"),
    "path-without-points": (set_array("path.ends", lambda ends: ends[:0]), "path.ends must be"),
    "flat": (set_array("readout", np.ravel), "readout must have 2 dimensions"),
    "transposed": (
        set_array("layer0.weights", np.transpose),
        "but the number of terms of layer 0 is",
    ),
    "falling-ends": (add_array("layer0.ends", [1, 1, 3]), "ends of the units' terms must rise"),
    "ends-without-terms": (add_array("layer0.ends", [1, 2, 4]), "layer0.ends must rise to 3"),
    "ends-in-a-table": (add_array("layer0.ends", [[1, 2, 3]]), "layer0.ends must have 1 dim"),
    "fewer-units-than-terms": (add_array("layer0.ends", [1, 3]), "number of units must be 2"),
    "no-ends": (add_array("layer0.ends", []), "layer0.ends must rise to 3"),
    "wider-readout": (
        set_array("readout", lambda readout: np.hstack([readout, readout])),
        "but the number of outputs is",
    ),
    "shorter-history": (
        set_array("objective_path", lambda path: path[1:]),
        "but the number of points is",
    ),
    "wide-units": (set_array("selected", lambda units: units[:, :1]), "numbers of a unit"),
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
    stagenets.load(tmp_path / "model")
    change(state)
    write(tmp_path / "model", state)
    with pytest.raises(stagenets.ModelFileError, match=message):
        stagenets.load(tmp_path / "model")


def test_complex_labels_are_refused(sound):
    state = _model_state.state_of(sound[0])
    del state.header["classes"]
    state.arrays["classes"] = np.array([1, 2, 3j])
    with pytest.raises(ValueError, match="classes must be real numbers or strings"):
        _model_state.model_of(state)


def test_a_file_cannot_ask_for_threads(sound, tmp_path):
    state = _model_state.state_of(sound[0])
    state.header["params"]["n_jobs"] = 10**9
    write(tmp_path / "model", state)
    assert stagenets.load(tmp_path / "model").n_jobs is None


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"format": "pt"}, "its format must be 'stagenets'; got 'pt'"),
        ({"format_version": "4"}, "got '4' .*later version"),
        ({"format_version": "-1"}, "format_version must be one of 1, 2, 3; got '-1'"),
        ({"format_version": "one"}, "format_version must be"),
        ({"sha256": "0"}, "checksum"),
    ],
    ids=str,
)
def test_metadata_that_is_not_ours_is_refused(sound, metadata, message, tmp_path):
    state = _model_state.state_of(sound[0])
    write(tmp_path / "model", state, **metadata)
    with pytest.raises(stagenets.ModelFileError, match=message):
        stagenets.load(tmp_path / "model")


def raw(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(**values):
    return {"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8], **values}}


ONE = bytes(8)
TWICE = json.dumps(tensor())[:-1] + ", " + json.dumps(tensor())[1:]
BYTES = {
    "no-metadata": raw({}),
    "no-tensors": raw({"__metadata__": {"format": "stagenets", "format_version": "1"}}),
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


# The arrays, and the header as text and as what it says: nothing grows faster than the file.
MOST_MEMORY_PER_BYTE, MOST_MEMORY = 3, 2**21


@pytest.mark.parametrize("units", [10, 2000])
def test_a_file_takes_memory_in_proportion_to_its_size(units, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 30)), rng.normal(size=40)
    model = stagenets.RVFLRegressor(n_hidden=units, selection="random", random_state=0).fit(X, y)
    path = tmp_path / "model"
    model.save(path)
    stagenets.load(path)  # with all modules that loading needs
    tracemalloc.start()
    stagenets.load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MOST_MEMORY + MOST_MEMORY_PER_BYTE * path.stat().st_size


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
    write(tmp_path / "model", state, format_version="2")
    monkeypatch.setattr(_files, "FORMAT_VERSION", 4)
    steps = {2: renamed("ridge", "lambda"), 3: renamed("lambda", "alpha")}
    monkeypatch.setattr(_files, "UPGRADES", steps)
    other = stagenets.load(tmp_path / "model")
    assert other.get_params() == model.get_params()
    frame = pd.DataFrame(X, columns=list("abcd"))
    np.testing.assert_array_equal(other.predict(frame), model.predict(frame))


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.safetensors")), ids=lambda path: path.stem)
def test_files_of_past_versions_still_load(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    model = stagenets.load(path)
    assert type(model).__name__ == expected.pop("estimator")
    frame = pd.DataFrame(expected.pop("X"), columns=expected.pop("names"))
    for name, values in expected.items():
        actual = getattr(model, name)(frame)
        if name == "predict" and isinstance(values[0], str):
            assert actual.tolist() == values
        else:
            np.testing.assert_allclose(actual, values, rtol=1e-10, atol=1e-10)


def table_of_version_2(tmp_path, columns):
    """A file of a network that took the inputs which these columns of a table became."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [
            rng.normal(size=40),
            *np.eye(3)[:, rng.integers(0, 3, 40)],
            rng.integers(2000, 2020, 40),
            rng.integers(1, 13, 40),
            rng.integers(0, 7, 40),
            rng.integers(0, 7000, 40),
        ]
    )
    model = problems.small(stagenets.RVFLRegressor).fit(X, X[:, 0] * X[:, 1] + X[:, 5])
    state = _model_state.state_of(model)
    for name in ("encoding.fills", "encoding.flagged"):
        del state.arrays[name]
    for name in ("categorical_features", "max_categories"):
        del state.header["params"][name]
    state.header["table"] = {"target": "y", "missing": [], "columns": columns}
    write(tmp_path / "model", state, format_version="2")
    return model


COLUMNS_2 = [
    {"name": "size", "fill": 0.5},
    {"name": "colour", "categories": ["", "blue", "red"]},
    {"name": "born", "start": "2001-02-03", "fill": 365.25, "day_first": False},
]


def test_tables_of_version_2_mean_what_they_meant(tmp_path):
    model = table_of_version_2(tmp_path, COLUMNS_2)
    loaded = stagenets.load(tmp_path / "model")
    rows = pd.DataFrame(
        {
            "colour": ["red", None, "green", "blue"],
            "size": [1.0, None, -1.0, 0.0],
            "born": ["2001-02-03", "2010-12-24", None, "2020-02-29"],
        }
    )
    X = [
        [1.0, 0, 0, 1, 2001, 2, 5, 0],
        [0.5, 1, 0, 0, 2010, 12, 4, 3611],
        [-1.0, 0, 0, 0, 2002, 2, 6, 365.25],
        [0.0, 0, 1, 0, 2020, 2, 5, 6965],
    ]
    np.testing.assert_allclose(loaded.predict(rows), model.predict(X), rtol=1e-12)
    old, new = model.feature_importances_, loaded["network"].feature_importances_
    np.testing.assert_allclose(new, [old[0], old[1:4].sum(), *old[4:]])


@pytest.mark.parametrize(
    "columns",
    [
        3,
        [],
        [3],
        [{"name": "size"}],
        COLUMNS_2[:2],
        [{"name": "size", "fill": 1e400}, *COLUMNS_2[1:]],
        [*COLUMNS_2[:2], {**COLUMNS_2[2], "start": "soon"}],
        [*COLUMNS_2[:2], {**COLUMNS_2[2], "fill": 1e300}],
        [*COLUMNS_2[:2], {**COLUMNS_2[2], "fill": float("1e9")}],
        [COLUMNS_2[0], {"name": "colour", "categories": []}, COLUMNS_2[2]],
        [COLUMNS_2[0], {"name": "colour", "categories": ["a", "a", "b"]}, COLUMNS_2[2]],
        [COLUMNS_2[0], {"name": "colour", "categories": ["a", "b", [1]]}, COLUMNS_2[2]],
    ],
)
def test_damaged_tables_of_version_2_are_refused(tmp_path, columns):
    table_of_version_2(tmp_path, columns)
    with pytest.raises(stagenets.ModelFileError, match="is not a usable model file"):
        stagenets.load(tmp_path / "model")


def test_categories_that_do_not_fit_are_refused(tmp_path):
    frame = pd.DataFrame({"x": ["a", "b", None] * 4, "z": np.arange(12.0)})
    frame.loc[2, "z"] = np.nan
    model = problems.small(stagenets.RVFLRegressor).fit(frame, np.arange(12.0))
    for change, message in [
        (set_header(categories=None), "categories must be a list"),
        (set_header(categories=[]), "the columns must make 5 inputs; they make 3"),
        (set_header(categories=[[0, ["a", "b"]]]), "the columns must make 5 inputs; they make 4"),
        (set_header(categories=[[2, ["a", "b", None]]]), "listed by column, below 2"),
        (set_header(categories=[[0, ["a", "a", None]]]), "must not be listed twice"),
        (set_header(categories=[[0, ["a", [], None]]]), "categories must be texts, numbers or"),
        (set_header(categories=[[0, []]]), "listed by column"),
        (set_header(categories=[[1, ["a", "b", None]]]), "flagged must be 0 for columns with"),
        (set_array("encoding.flagged", lambda flags: 2 * flags), "flagged must be 0 or 1"),
        (set_array("encoding.fills", with_one(np.nan)), "encoding.fills must be finite"),
        (drop("encoding.fills"), "encoding.fills is missing"),
        (set_array("importances", lambda found: found[1:]), "but the number of columns is"),
        (set_param("categorical_features", [[]]), "categorical_features must be"),
    ]:
        state = _model_state.state_of(model)
        change(state)
        write(tmp_path / "model", state)
        with pytest.raises(stagenets.ModelFileError, match=message):
            stagenets.load(tmp_path / "model")


def test_every_version_has_a_file():
    versions = {path.stem.split("_")[1] for path in GOLDEN.glob("*.safetensors")}
    assert versions >= {str(version) for version in range(1, _files.FORMAT_VERSION + 1)}
