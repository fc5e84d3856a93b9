"""Data as people have it: frames in and out, their types of columns and labels, memory maps."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import problems
import stagenets

try:
    import polars as pl
except ImportError:
    pl = None

NAMES = ["a", "b", "c", "d"]

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
each_library = pytest.mark.parametrize(
    "library",
    [
        "pandas",
        pytest.param("polars", marks=pytest.mark.skipif(pl is None, reason="needs polars")),
    ],
)
needs_polars = pytest.mark.skipif(pl is None, reason="needs polars")


def framed(library, X, names=NAMES):
    columns = dict(zip(names, np.transpose(X), strict=True))
    return pd.DataFrame(columns) if library == "pandas" else pl.DataFrame(columns)


def series(library, values):
    return pd.Series(values) if library == "pandas" else pl.Series(values)


@each_estimator
@each_library
def test_frame_gives_the_model_that_an_array_gives(cls, library):
    X, y = problems.data_for(cls)
    frame = framed(library, X)
    model = problems.small(cls).fit(frame, y)
    assert model.feature_names_in_.tolist() == NAMES
    expected = problems.small(cls).fit(X, y)
    # Columns of a frame may lie in memory one after another and are summed in another order then.
    for name in ("predict", "transform", "predict_proba", "decision_function"):
        if hasattr(model, name):
            np.testing.assert_allclose(
                getattr(model, name)(frame), getattr(expected, name)(X), rtol=1e-9, atol=1e-9
            )
    last = list(model.staged_predict(frame))[-1]
    np.testing.assert_allclose(last, model.predict(frame), rtol=1e-9, atol=1e-9)
    assert model.score(frame, y) == pytest.approx(expected.score(X, y))


WRONG_COLUMNS = {
    "other-order": ["d", "c", "b", "a"],
    "other-name": ["a", "b", "c", "e"],
    "one-missing": ["a", "b", "c"],
    "one-more": ["a", "b", "c", "d", "e"],
}


@each_library
@pytest.mark.parametrize("method", ["predict", "transform", "predict_proba", "staged_predict"])
@pytest.mark.parametrize("case", WRONG_COLUMNS)
def test_columns_must_be_those_of_the_training_frame(library, method, case):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = problems.small(stagenets.RVFLClassifier).fit(framed(library, X), y)
    names = WRONG_COLUMNS[case]
    other = framed(library, np.resize(X, (5, len(names))), names)
    with pytest.raises(ValueError, match="feature names should match those that were passed"):
        next(iter(getattr(model, method)(other)))


def test_array_in_place_of_a_frame_is_warned_of():
    X, y = problems.data_for(stagenets.ELMRegressor)
    model = problems.small(stagenets.ELMRegressor).fit(framed("pandas", X), y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)


@needs_polars
def test_frames_of_both_libraries_can_be_mixed():
    X, y = problems.data_for(stagenets.ELMRegressor)
    model = problems.small(stagenets.ELMRegressor).fit(framed("pandas", X), y)
    np.testing.assert_allclose(
        model.predict(framed("polars", X)), model.predict(framed("pandas", X)), rtol=1e-12
    )


# What comes out.


@each_estimator
@each_library
@pytest.mark.parametrize("given", ["array", "pandas"])
def test_transform_gives_the_frame_asked_for(cls, library, given):
    X, y = problems.data_for(cls)
    rows = X if given == "array" else framed(given, X).set_index(np.arange(60) + 7)
    model = problems.small(cls).fit(rows, y)
    expected = model.transform(rows)
    frame = model.set_output(transform=library).transform(rows)
    assert type(frame).__module__.startswith(library)
    assert list(frame.columns) == model.get_feature_names_out().tolist()
    assert frame.shape == (60, model.n_hidden_)
    np.testing.assert_array_equal(np.asarray(frame), expected)
    if library == given == "pandas":
        assert frame.index.equals(rows.index)
    assert isinstance(model.set_output(transform="default").transform(rows), np.ndarray)


@each_library
def test_fit_transform_and_the_setting_for_all(library):
    X, y = problems.data_for(stagenets.BLSRegressor)
    with config_context(transform_output=library):
        frame = problems.small(stagenets.BLSRegressor).fit_transform(framed(library, X), y)
        model = make_pipeline(StandardScaler(), problems.small(stagenets.RVFLRegressor)).fit(X, y)
        assert isinstance(model.predict(X), np.ndarray)
    assert type(frame).__module__.startswith(library)
    assert list(frame.columns) == [f"blsregressor{i}" for i in range(14)]


# Labels and targets.


PANDAS_LABELS = {
    "category": lambda words: pd.Series(words, dtype="category"),
    "ordered": lambda words: pd.Series(pd.Categorical(words, ["z", "y", "x"], ordered=True)),
    "categorical": pd.Categorical,
    "string": lambda words: pd.Series(words, dtype="string"),
    "object": lambda words: pd.Series(words, dtype=object),
    "plain": pd.Series,
    "numbers": lambda words: pd.Series(pd.Categorical(np.searchsorted(["x", "y", "z"], words))),
    "nullable-numbers": lambda words: pd.Series(words == "x").astype("Int64"),
    "nullable-booleans": lambda words: pd.Series(words == "x").astype("boolean"),
    "booleans": lambda words: pd.Series(words == "x"),
    "int8": lambda words: pd.Series(words == "x").astype("int8"),
}


@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
@pytest.mark.parametrize("kind", PANDAS_LABELS)
def test_labels_of_pandas_are_those_scikit_learn_sees(cls, kind):
    X, y = problems.data_for(cls)
    words = np.array(["x", "y", "z"])[y]
    labels = PANDAS_LABELS[kind](words)
    model = problems.small(cls).fit(X, labels)
    expected = LogisticRegression(max_iter=10_000).fit(X, labels).classes_
    np.testing.assert_array_equal(model.classes_, expected)
    assert model.classes_.dtype == expected.dtype
    plain = problems.small(cls).fit(X, np.searchsorted(expected, np.asarray(labels)))
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert model.score(X, labels) == plain.score(X, np.searchsorted(expected, np.asarray(labels)))


@needs_polars
@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
@pytest.mark.parametrize("kind", ["String", "Categorical", "Enum", "Boolean", "Int16"])
def test_labels_of_polars(cls, kind):
    X, y = problems.data_for(cls)
    words = np.array(["x", "y", "z"])[y]
    labels = {
        "String": lambda: pl.Series(words),
        "Categorical": lambda: pl.Series(words, dtype=pl.Categorical),
        "Enum": lambda: pl.Series(words, dtype=pl.Enum(["z", "y", "x"])),
        "Boolean": lambda: pl.Series(words == "x"),
        "Int16": lambda: pl.Series(y, dtype=pl.Int16),
    }[kind]()
    model = problems.small(cls).fit(framed("polars", X), labels)
    np.testing.assert_array_equal(model.classes_, np.unique(labels.to_list()))
    plain = problems.small(cls).fit(framed("polars", X), np.asarray(labels.to_list()))
    np.testing.assert_array_equal(
        model.predict(framed("polars", X)), plain.predict(framed("polars", X))
    )


@pytest.mark.parametrize("cls", problems.REGRESSORS, ids=problems.name_of)
@each_library
def test_targets_as_series_and_frames(cls, library):
    X, y = problems.data_for(cls)
    one = problems.small(cls).fit(X, series(library, y[:, 0]))
    np.testing.assert_array_equal(one.predict(X), problems.small(cls).fit(X, y[:, 0]).predict(X))
    several = problems.small(cls).fit(X, framed(library, y, ["u", "v", "w"]))
    np.testing.assert_allclose(several.predict(X), problems.small(cls).fit(X, y).predict(X))


TARGETS = {
    "booleans": lambda y: pd.Series(y > 0),
    "integers": lambda y: pd.Series(np.round(y)).astype("int32"),
    "nullable": lambda y: pd.Series(np.round(y)).astype("Int64"),
    "float32": lambda y: pd.Series(y).astype("float32"),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_targets_of_other_numbers(kind):
    X, y = problems.data_for(stagenets.RVFLRegressor)
    targets = TARGETS[kind](y[:, 0])
    model = problems.small(stagenets.RVFLRegressor).fit(X, targets)
    plain = problems.small(stagenets.RVFLRegressor).fit(X, targets.to_numpy(dtype=float))
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


# Columns of other types than float64.


@each_estimator
@pytest.mark.parametrize(
    "dtype", ["float32", "int8", "bool", "Int32", "Float64", "Float32", "boolean"]
)
def test_columns_of_one_type(cls, dtype):
    X, y = problems.data_for(cls)
    frame = framed("pandas", X > 0 if dtype.lower().startswith("bool") else np.round(X))
    frame = frame.astype(dtype)
    plain = frame.to_numpy(dtype=np.float32 if dtype == "float32" else np.float64)
    model = problems.small(cls).fit(frame, y)
    assert model.transform(frame).dtype == plain.dtype
    expected = problems.small(cls).fit(np.asfortranarray(plain), y)
    np.testing.assert_allclose(
        problems.scores_of(model, frame),
        problems.scores_of(expected, plain),
        rtol=1e-4 if dtype == "float32" else 1e-9,
        atol=1e-4 if dtype == "float32" else 1e-9,
    )


@each_estimator
def test_columns_of_mixed_types(cls):
    X, y = problems.data_for(cls)
    frame = framed("pandas", np.round(X)).astype({"a": "int16", "b": "float32", "c": "Int64"})
    frame["d"] = frame["d"] > 0
    plain = frame.to_numpy(dtype=float)
    model = problems.small(cls).fit(frame, y)
    expected = problems.small(cls).fit(plain, y)
    np.testing.assert_allclose(
        problems.scores_of(model, frame), problems.scores_of(expected, plain), rtol=1e-9, atol=1e-9
    )


@needs_polars
@pytest.mark.parametrize("dtype", ["Float32", "Int16", "UInt8", "Boolean"])
def test_columns_of_polars(dtype):
    X, y = problems.data_for(stagenets.RVFLRegressor)
    frame = framed("polars", np.clip(np.round(X) + 5, 0, 100)).cast(getattr(pl, dtype))
    model = problems.small(stagenets.RVFLRegressor).fit(frame, y)
    expected = problems.small(stagenets.RVFLRegressor).fit(frame.to_numpy().astype(float), y)
    np.testing.assert_allclose(
        model.predict(frame), expected.predict(frame.to_numpy().astype(float)), rtol=1e-9
    )


@each_library
def test_words_that_are_no_categories_are_refused(library):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    frame = framed(library, X)
    words = ["word"] * 60
    frame = frame.assign(a=words) if library == "pandas" else frame.with_columns(a=pl.Series(words))
    model = problems.small(stagenets.RVFLClassifier, categorical_features=None)
    with pytest.raises(ValueError, match="could not convert string to float: 'word'"):
        model.fit(frame, y)
    with pytest.raises(ValueError, match="could not convert string to float: 'word'"):
        model.set_params(categorical_features=["b"]).fit(frame, y)


# Files that are mapped into memory, as np.load and joblib map them.


@each_estimator
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_read_only_memory_map(cls, order, dtype, tmp_path):
    X, y = problems.data_for(cls)
    X = np.asarray(np.round(3 * X), dtype=dtype, order=order)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    targets = np.load(tmp_path / "y.npy", mmap_mode="r")
    assert isinstance(mapped, np.memmap)
    assert not mapped.flags.writeable
    model = problems.small(cls).fit(mapped, targets)
    expected = problems.small(cls).fit(X, y)
    for name in ("predict", "transform"):
        np.testing.assert_array_equal(getattr(model, name)(mapped), getattr(expected, name)(X))
    staged = zip(model.staged_predict(mapped), expected.staged_predict(X), strict=True)
    assert all(np.array_equal(one, other) for one, other in staged)
    np.testing.assert_array_equal(np.load(tmp_path / "X.npy"), X)
