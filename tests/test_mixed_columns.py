"""Missing values and categories: against scikit-learn's transformers in front of a network."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import get_tags

import problems
import stagenets

try:
    import polars as pl
except ImportError:
    pl = None

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
needs_polars = pytest.mark.skipif(pl is None, reason="needs polars")
COLUMNS = ["age", "water", "weight", "sort", "height"]


def table(rows=80, seed=0):
    """Numbers, two of them with holes, and two columns of categories, one of them with holes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 9, rows),
            "water": pd.Series(rng.choice(["sea", "lake", "river"], rows), dtype=object),
            "weight": rng.gamma(3, 2, rows),
            "sort": pd.Categorical(rng.choice(["d", "b", "a", "c"], rows), ["d", "c", "b", "a"]),
            "height": rng.normal(size=rows),
        }
    )
    frame.loc[rng.random(rows) < 0.2, "age"] = np.nan
    frame.loc[rng.random(rows) < 0.1, "weight"] = np.nan
    frame.loc[rng.random(rows) < 0.1, "water"] = None
    return frame


def targets(cls, frame, seed=1):
    rng = np.random.default_rng(seed)
    y = frame["height"] + frame["age"].fillna(55) / 9 + 2 * (frame["water"] == "sea")
    y = y + (frame["sort"].isin(["a", "d"])) + 0.1 * rng.normal(size=len(frame))
    return (y > y.median()).to_numpy() if cls in problems.CLASSIFIERS else y.to_numpy()


def pipeline(model):
    """What the estimators do by themselves, in scikit-learn's words."""
    numbers = SimpleImputer(strategy="median", add_indicator=True)
    labels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    each = [(name, labels if name in ("water", "sort") else numbers, [name]) for name in COLUMNS]
    return make_pipeline(ColumnTransformer(each), model)


def new_rows():
    """Rows with labels that were never seen, and holes where there were none."""
    frame = table(40, seed=2)
    frame["water"] = frame["water"].where(frame.index % 5 > 0, "pond")
    frame["sort"] = frame["sort"].cat.add_categories("z")
    frame.loc[3, "sort"] = "z"
    frame.loc[[2, 7], "height"] = np.nan
    frame.loc[4, "sort"] = None  # never missing in training
    return frame


@each_estimator
def test_encoding_is_that_of_scikit_learns_transformers(cls):
    frame, new = table(), new_rows()
    y = targets(cls, frame)
    model = problems.small(cls).fit(frame, y)
    expected = pipeline(problems.small(cls)).fit(frame, y)
    for rows in (frame, new):
        np.testing.assert_allclose(
            problems.scores_of(model, rows),
            problems.scores_of(expected, rows),
            rtol=1e-9,
            atol=1e-9,
        )
    assert model.n_features_in_ == 5
    assert model.feature_names_in_.tolist() == COLUMNS
    assert model.network_.input_names == [
        "age", "age: missing", "water=lake", "water=river", "water=sea", "water: missing",
        "weight", "weight: missing", "sort=a", "sort=b", "sort=c", "sort=d", "height",
    ]  # fmt: skip
    assert model.network_.n_inputs == len(model.network_.input_names)


def coded(frame):
    """The same rows as an array, with numbers for categories."""
    array = np.full(frame.shape, np.nan)
    for j, name in enumerate(COLUMNS):
        column = frame[name]
        if name in ("water", "sort"):
            numbers = {"lake": 0, "river": 1, "sea": 2, "pond": 7, "z": 9}
            numbers |= {"a": 0, "b": 1, "c": 2, "d": 3}
            column = column.astype(object).map(numbers)
        array[:, j] = column
    return array


def polars_of(frame):
    columns = {name: frame[name].astype(object).tolist() for name in frame}
    columns = {
        name: [None if value is None or value != value else value for value in column]
        for name, column in columns.items()
    }
    return pl.DataFrame(columns, strict=False).with_columns(pl.col("sort").cast(pl.Categorical))


FORMS = {
    "category": (lambda frame: frame.astype({"water": "category"}), "from_dtype"),
    "string": (lambda frame: frame.astype({"water": "string", "sort": "str"}), "from_dtype"),
    "names": (lambda frame: frame.astype({"sort": object}), ["sort", "water"]),
    "flags": (lambda frame: frame, [False, True, False, True, False]),
    "codes": (coded, [1, 3]),
    "codes-by-mask": (coded, np.array([False, True, False, True, False])),
    "objects": (lambda frame: frame.to_numpy(dtype=object), [1, 3]),
    "lists": (lambda frame: frame.to_numpy(dtype=object).tolist(), [1, 3]),
    "polars": pytest.param(lambda frame: polars_of(frame), "from_dtype", marks=needs_polars),
    "polars-names": pytest.param(lambda f: polars_of(f), ["sort", "water"], marks=needs_polars),
}


@pytest.mark.parametrize(("form", "categorical"), FORMS.values(), ids=FORMS.keys())
def test_form_of_the_table_does_not_matter(form, categorical):
    frame, new = table(), new_rows()
    y = targets(stagenets.RVFLRegressor, frame)
    expected = problems.small(stagenets.RVFLRegressor).fit(frame, y)
    model = problems.small(stagenets.RVFLRegressor, categorical_features=categorical)
    model.fit(form(frame), y)
    for rows in (frame, new):
        np.testing.assert_allclose(model.predict(form(rows)), expected.predict(rows), rtol=1e-12)


@pytest.mark.parametrize("cls", [stagenets.RVFLRegressor, stagenets.BLSClassifier])
def test_weights_equal_repeated_rows(cls):
    frame = table(60)
    y, times = targets(cls, frame), np.random.default_rng(3).integers(0, 4, 60)
    short = problems.small(cls).fit(frame, y, sample_weight=times)
    long = problems.small(cls).fit(frame.loc[frame.index.repeat(times)], y.repeat(times))
    new = new_rows()
    np.testing.assert_allclose(
        problems.scores_of(short, new), problems.scores_of(long, new), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(short.network_.encoding.fills, long.network_.encoding.fills)


def test_labels_of_rows_without_weight_are_unknown():
    frame = pd.DataFrame({"x": list("aabbc"), "z": np.arange(5.0)})
    model = problems.small(stagenets.ELMRegressor)
    model.fit(frame, frame["z"], sample_weight=[1, 1, 1, 1, 0])
    assert model.network_.input_names == ["x=a", "x=b", "z"]


def test_only_the_most_frequent_labels_get_an_input():
    frame = pd.DataFrame({"x": ["a", "b", "b", "c", "c", "d", None], "z": np.arange(7.0)})
    model = problems.small(stagenets.ELMRegressor, max_categories=2).fit(frame, frame["z"])
    assert model.network_.input_names == ["x=b", "x=c", "x: missing", "z"]
    model.fit(frame, frame["z"], sample_weight=[9, 1, 1, 1, 1, 1, 1])
    assert model.network_.input_names == ["x=a", "x=b", "x: missing", "z"]
    with pytest.raises(ValueError, match="max_categories must be an integer of at least 1; got 0"):
        model.set_params(max_categories=0).fit(frame, frame["z"])


SEARCHES = {
    stagenets.RVFLClassifierCV: {"max_hidden": 6, "alphas": [0.1, 10.0]},
    stagenets.ELMRegressorCV: {"max_hidden": 6, "alphas": [0.1, 10.0]},
    stagenets.BLSRegressorCV: {"n_windows": [2], "max_enhancement": 5, "alphas": [0.1, 10.0]},
}


@pytest.mark.parametrize("cls", SEARCHES, ids=problems.name_of)
def test_search_finds_what_a_grid_search_finds(cls):
    """Every fold learns its own encoding: rare labels and holes are not in all of them."""
    frame = table(60)
    y = targets(cls._estimator, frame)
    frame.loc[5, "water"] = "well"
    frame.loc[7, "height"] = np.nan
    params = {**SEARCHES[cls], "cv": KFold(3, shuffle=True, random_state=0), "n_jobs": 1}
    search = cls(**params, prefer_default=False, random_state=0).fit(frame, y)
    grid = {name: sorted(set(search.cv_results_[f"param_{name}"])) for name in search.best_params_}
    expected = GridSearchCV(cls._estimator(random_state=0), grid, cv=params["cv"]).fit(frame, y)
    for split in range(3):
        np.testing.assert_allclose(
            search.cv_results_[f"split{split}_test_score"],
            expected.cv_results_[f"split{split}_test_score"],
            rtol=1e-9,
        )
    np.testing.assert_allclose(search.predict(frame), expected.predict(frame))
    assert search.n_features_in_ == 5


@pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", "neg_log_loss"])
def test_other_scorers_see_the_right_rows(scoring):
    cls = stagenets.RVFLClassifierCV if "log" in scoring else stagenets.RVFLRegressorCV
    frame = table(60)
    y, cv = targets(cls._estimator, frame), KFold(3)
    search = cls(n_hidden=[4], alphas=[1.0], cv=cv, scoring=scoring, random_state=0).fit(frame, y)
    grid = {"n_hidden": [4], "alpha": [1.0]}
    model = cls._estimator(random_state=0)
    expected = GridSearchCV(model, grid, cv=cv, scoring=scoring).fit(frame, y)
    np.testing.assert_allclose(search.best_score_, expected.best_score_, rtol=1e-4)


def test_batches_keep_the_encoding_of_the_first():
    frame = table(90)
    y = targets(stagenets.RVFLRegressor, frame)
    frame.loc[70, "water"] = "well"
    frame.loc[71, "height"] = np.nan
    model = problems.small(stagenets.RVFLRegressor)
    for first in (0, 30, 60):
        batch = slice(first, first + 30)
        model.partial_fit(frame[batch], y[batch])
    expected = pipeline(problems.small(stagenets.RVFLRegressor)).fit(frame[:30], y[:30])
    network, columns = expected[-1], expected[0]
    network.partial_fit(columns.transform(frame[:30]), y[:30])
    for first in (30, 60):
        batch = slice(first, first + 30)
        network.partial_fit(columns.transform(frame[batch]), y[batch])
    np.testing.assert_allclose(model.predict(frame), expected.predict(frame), rtol=1e-9)


def test_warm_start_early_stopping_and_intervals_take_tables():
    frame = table(120)
    y = targets(stagenets.RVFLRegressor, frame) + 3 * np.sin(4 * frame["height"].to_numpy())
    warm = problems.small(stagenets.RVFLRegressor, n_hidden=5, warm_start=True).fit(frame, y)
    warm.set_params(n_hidden=9, categorical_features=["water", "sort"]).fit(frame, y)
    cold = problems.small(stagenets.RVFLRegressor, n_hidden=9).fit(frame, y)
    np.testing.assert_array_equal(warm.predict(frame), cold.predict(frame))
    cut = cold.truncated(5)
    np.testing.assert_allclose(list(cold.staged_predict(frame))[5], cut.predict(frame))
    for criterion in ("cv", "loo", "validation"):
        problems.small(stagenets.RVFLRegressor, early_stopping=criterion).fit(frame, y)
    model = problems.small(stagenets.RVFLRegressor, intervals="cv").fit(frame, y)
    low, high = model.predict_interval(frame, coverage=0.8).T
    assert 0.7 < ((low <= y) & (y <= high)).mean() <= 1


# What columns a network looks at.


def test_importances_are_of_columns():
    frame = table(400)
    y = 3.0 * (frame["sort"] == "a") + 3.0 * frame["age"].isna()
    model = stagenets.RVFLRegressor(n_hidden=20, random_state=0).fit(frame, y)
    found = dict(zip(COLUMNS, model.feature_importances_, strict=True))
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert min(found["sort"], found["age"]) > 20 * max(found["water"], found["weight"])
    select = SelectFromModel(model, max_features=2, threshold=-np.inf).fit(frame, y)
    assert select.get_feature_names_out().tolist() == ["age", "sort"]
    display = pytest.importorskip("matplotlib")
    display.use("agg")
    shown = stagenets.ImportancesDisplay.from_estimator(model)
    assert len(shown.bars_) == 5


def test_importances_of_one_label_and_its_opposite_are_those_of_a_number():
    rng = np.random.default_rng(0)
    sides = rng.choice(["left", "right"], 1000)
    frame = pd.DataFrame({"side": sides, "z": rng.normal(size=1000)})
    y = 2.0 * (sides == "left") + frame["z"]
    params = {"n_hidden": 1, "activation": "identity", "alpha": 1e-6, "random_state": 0}
    found = stagenets.RVFLRegressor(**params).fit(frame, y).feature_importances_
    np.testing.assert_allclose(found, [0.5, 0.5], atol=0.03)  # a variance of one each


def test_elimination_works_with_missing_values():
    X, y = problems.data_for(stagenets.RVFLRegressor, 60, 4, n_outputs=1)
    X[::7, 2] = np.nan
    model = problems.small(stagenets.RVFLRegressor)
    assert RFE(model, n_features_to_select=2).fit(X, y[:, 0]).n_features_ == 2


# Keeping and exporting.


@pytest.mark.parametrize("cls", [stagenets.RVFLClassifier, stagenets.BLSRegressor])
def test_files_and_pickles_keep_the_encoding(cls, tmp_path):
    frame, new = table(), new_rows()
    model = problems.small(cls, categorical_features=["sort", "water"])
    model.fit(frame, targets(cls, frame))
    model.save(tmp_path / "model")
    for same in (stagenets.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(problems.scores_of(same, new), problems.scores_of(model, new))
        assert same.n_features_in_ == 5
        assert same.categorical_features == ["sort", "water"]
        np.testing.assert_array_equal(same.feature_importances_, model.feature_importances_)


@pytest.mark.parametrize("rows", [table(), coded(table())], ids=["texts", "codes"])
@pytest.mark.parametrize("cls", [stagenets.RVFLClassifier, stagenets.ELMRegressor])
def test_numpy_source_predicts_the_same(cls, rows):
    y = targets(cls, table())
    model = problems.small(cls)
    new = new_rows()
    if isinstance(rows, np.ndarray):
        model.set_params(categorical_features=[1, 3])
        new = coded(new)
    model.fit(rows, y)
    module = {}
    exec(stagenets.to_numpy_source(model), module)
    found = module["decision_function" if cls in problems.CLASSIFIERS else "predict"](new)
    np.testing.assert_allclose(found, problems.scores_of(model, new), rtol=1e-9, atol=1e-9)


def onnx_scores(model, feed):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    graph = stagenets.to_onnx(model, dtype=np.float64)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    return session.run(["variable"], feed)[0][:, 0]


def test_onnx_graph_predicts_the_same():
    frame, new = table(), new_rows()
    y = targets(stagenets.RVFLRegressor, frame)
    model = problems.small(stagenets.RVFLRegressor).fit(frame, y)
    words = ["water", "sort"]
    texts = new[words].astype(object).fillna("").to_numpy()
    numbers = new.drop(columns=words).to_numpy()
    found = onnx_scores(model, {"X": numbers, "texts": texts})
    np.testing.assert_allclose(found, model.predict(new), rtol=1e-9)
    only = problems.small(stagenets.RVFLRegressor).fit(frame[words], y)
    found = onnx_scores(only, {"texts": texts})
    np.testing.assert_allclose(found, only.predict(new[words]), rtol=1e-9)
    model.set_params(categorical_features=[1, 3]).fit(coded(frame), y)
    found = onnx_scores(model, {"X": coded(new)})
    np.testing.assert_allclose(found, model.predict(coded(new)), rtol=1e-9)
    plain = problems.small(stagenets.RVFLRegressor).fit(frame[["height"]], y)
    found = onnx_scores(plain, {"X": new[["height"]].to_numpy()})  # missing only here
    np.testing.assert_allclose(found, plain.predict(new[["height"]]), rtol=1e-9)


def test_converters_ask_for_another_way_with_texts():
    skl2onnx = pytest.importorskip("skl2onnx")
    frame = table()[["height", "water"]]
    model = problems.small(stagenets.RVFLRegressor).fit(frame, np.arange(80.0))
    stagenets.register_onnx_converters()
    kind = skl2onnx.common.data_types.FloatTensorType([None, 2])
    with pytest.raises(NotImplementedError, match=r"call stagenets.to_onnx"):
        skl2onnx.to_onnx(model, initial_types=[("X", kind)])


# Numbers alone.


@each_estimator
def test_holes_only_in_predictions_are_filled_with_medians(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls).fit(X, y)
    holes = np.where(X > 1, np.nan, X)
    filled = np.where(X > 1, np.median(X, axis=0), X)
    np.testing.assert_array_equal(model.predict(holes), model.predict(filled))
    assert model.network_.n_inputs == 4


def test_networks_without_an_encoding_refuse_holes():
    """As those of Dask, and of files of earlier versions."""
    X, y = problems.data_for(stagenets.RVFLRegressor)
    model = problems.small(stagenets.RVFLRegressor).fit(X, y)
    expected = model.predict(X)
    model.network_ = replace(model.network_, encoding=None)
    np.testing.assert_array_equal(model.predict(X), expected)
    with pytest.raises(ValueError, match="Input X contains NaN, and this network does not know"):
        model.predict(np.where(X > 1, np.nan, X))


def test_complete_arrays_are_used_in_place():
    X, y = problems.data_for(stagenets.RVFLRegressor)
    model = problems.small(stagenets.RVFLRegressor).fit(X, y)
    assert np.shares_memory(model._validated(X), X)


def test_columns_without_any_value_are_ignored():
    X, y = problems.data_for(stagenets.RVFLRegressor)
    empty = X.copy()
    empty[:, 1] = np.nan
    model = problems.small(stagenets.RVFLRegressor).fit(empty, y)
    assert model.network_.n_inputs == 4
    np.testing.assert_array_equal(model.predict(empty), model.predict(np.where(X, empty, 7)))
    changed = empty.copy()
    changed[:, 1] = 1e3
    np.testing.assert_array_equal(model.predict(empty), model.predict(changed))


def test_no_rows_are_refused():
    frame = table()[["water"]]
    model = problems.small(stagenets.ELMRegressor).fit(frame, np.arange(80.0))
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        model.predict(frame[:0])


@needs_polars
def test_frames_of_both_libraries_can_be_mixed():
    frame, new = table(), new_rows()
    model = problems.small(stagenets.RVFLRegressor).fit(frame, np.arange(80.0))
    np.testing.assert_array_equal(model.predict(polars_of(new)), model.predict(new))


def test_float32_stays_float32():
    X, y = problems.data_for(stagenets.RVFLRegressor)
    X[::5, 1] = np.nan
    model = problems.small(stagenets.RVFLRegressor).fit(X.astype(np.float32), y)
    assert model.transform(X.astype(np.float32)).dtype == np.float32


def test_flags_are_numbers_unless_listed():
    frame = pd.DataFrame({"flag": [True, False, None, True], "z": [1.0, 2.0, 3.0, 4.0]})
    model = problems.small(stagenets.ELMRegressor).fit(
        frame.astype({"flag": "boolean"}), frame["z"]
    )
    assert model.network_.input_names == ["flag", "flag: missing", "z"]
    model.set_params(categorical_features=["flag"]).fit(frame, frame["z"])
    assert model.network_.input_names == ["flag=False", "flag=True", "flag: missing", "z"]


def test_tags_tell():
    for cls in (*problems.ALL, stagenets.ELMClassifierCV):
        assert get_tags(cls()).input_tags.allow_nan
        assert get_tags(cls()).input_tags.categorical
    assert clone(stagenets.ELMRegressor(categorical_features=[1])).categorical_features == [1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("by_dtype", "must be 'from_dtype', None, or the categorical columns .*; got 'by_dtype'"),
        (3, "must be 'from_dtype', None, or"),
        ([0.5], "must be 'from_dtype', None, or"),
        ([5], r"must be column numbers below 5; got \[5\]"),
        ([-1], "must be column numbers below 5"),
        ([True, False], "must be 'from_dtype', None, or"),
        (["colour"], "must be columns of a data frame X; got 'colour'"),
    ],
    ids=str,
)
def test_other_columns_are_refused(given, message):
    model = problems.small(stagenets.RVFLRegressor, categorical_features=given)
    with pytest.raises(ValueError, match=f"categorical_features {message}"):
        model.fit(table(), np.arange(80.0))
    assert not hasattr(model, "network_")


def test_labels_that_are_none_are_refused(tmp_path):
    X = np.array([[{}, 1.0], [{}, 2.0]], dtype=object)
    model = problems.small(stagenets.RVFLRegressor, categorical_features=[0])
    with pytest.raises(ValueError, match=r"categories must be texts, numbers or flags; got \{\}"):
        model.fit(X, [1.0, 2.0])
    pairs = pd.DataFrame({"pair": [(1, 2), (3, 4)] * 3, "z": np.arange(6.0)})
    model.fit(pairs, np.arange(6.0))
    with pytest.raises(ValueError, match="texts, numbers or flags to be written to a file"):
        model.save(tmp_path / "model")
    with pytest.raises(ValueError, match="labels must be numbers, booleans or strings"):
        stagenets.to_numpy_source(model)
