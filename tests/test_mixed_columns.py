"""Missing values and categories: against scikit-learn's transformers in front of a network."""

import pickle

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
            problems.scores_of(model, rows), problems.scores_of(expected, rows), rtol=1e-9, atol=1e-9
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


@pytest.mark.parametrize(
    ("form", "categorical"), FORMS.values(), ids=FORMS.keys()
)
def test_form_of_the_table_does_not_matter(form, categorical):
    frame, new = table(), new_rows()
    y = targets(stagenets.RVFLRegressor, frame)
    expected = problems.small(stagenets.RVFLRegressor).fit(frame, y)
    model = problems.small(stagenets.RVFLRegressor, categorical_features=categorical)
    model.fit(form(frame), y)
    for rows in (frame, new):
        np.testing.assert_allclose(model.predict(form(rows)), expected.predict(rows), rtol=1e-12)
