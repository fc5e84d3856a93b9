"""From tables to inputs: against scikit-learn's ColumnTransformer, and what is refused."""

import datetime
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from residuum._table_encoder import TableEncoder
from residuum._table_model import guess_task, targets_of
from tables import flowers


def reference(numbers, texts):
    """The same treatment by scikit-learn; texts must be of dtype object."""
    text = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=""),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    return ColumnTransformer(
        [("numbers", SimpleImputer(strategy="median"), numbers), ("texts", text, texts)]
    )


def for_reference(table):
    table = table.astype({"wild": float})
    return table.assign(
        colour=table["colour"].astype(object).where(table["colour"].notna(), np.nan)
    )


def test_encoder_agrees_with_scikit_learns_own_transformers():
    table, new = flowers(), flowers(seed=1)
    new.loc[0, "colour"] = "green"  # never seen
    encoder = TableEncoder(target="kind").fit(table)
    oracle = reference(["height", "petals", "wild", "price"], ["colour"]).fit(for_reference(table))
    order = ["height", "petals", "colour=", "colour=blue", "colour=red", "colour=white", "wild"]
    assert list(encoder.get_feature_names_out()) == [*order, "price"]
    for data in (table, new):
        ours = pd.DataFrame(encoder.transform(data), columns=encoder.get_feature_names_out())
        theirs = oracle.transform(for_reference(data))
        names = ["height", "petals", "wild", "price", *order[2:6]]
        np.testing.assert_allclose(ours[names].to_numpy(), theirs)


def test_dates_identifiers_and_empty_columns_are_left_out_with_the_reason():
    encoder = TableEncoder(target="kind").fit(flowers())
    assert encoder.left_out_ == {
        "id": "holds 120 different texts in 120 rows",
        "picked": "holds dates or times",
        "nothing": "has no values",
    }


def test_order_of_columns_does_not_matter_and_others_are_ignored():
    table = flowers()
    encoder = TableEncoder(target="kind").fit(table)
    shuffled = table[table.columns[::-1]].assign(more=1).drop(columns=["kind", "id"])
    np.testing.assert_array_equal(encoder.transform(shuffled), encoder.transform(table))


def test_missing_columns_are_named():
    encoder = TableEncoder(target="kind").fit(flowers())
    with pytest.raises(ValueError, match=r"it lacks 'height', 'wild'$"):
        encoder.transform(flowers().drop(columns=["wild", "height"]))
    many = pd.DataFrame({f"x{number}": [1.0, 2.0] for number in range(30)})
    with pytest.raises(ValueError, match="'x9' and 20 more"):
        TableEncoder().fit(many).transform(flowers())


@pytest.mark.parametrize(
    ("values", "word"), [(["1", "x"], "'x'"), ([1.0, np.inf], "infinity"), (["1", "2"], "'1'")]
)
def test_what_is_no_number_is_named_with_its_column(values, word):
    encoder = TableEncoder().fit(pd.DataFrame({"age": [1.0, 2.0]}))
    with pytest.raises(ValueError, match=f"column 'age' must hold .*numbers; got {word}"):
        encoder.transform(pd.DataFrame({"age": values}))


@pytest.mark.parametrize(
    "values",
    [
        pd.array([1, None, 3], dtype="Int64"),
        pd.array([True, None, False], dtype="boolean"),
        pd.Series([True, None, False], dtype=object),
        pd.Series([Decimal("1.5"), None, Decimal("2.5")], dtype=object),
        np.array([1, 2, 3], dtype=np.uint8),
        np.array([1.0, np.nan, 3.0], dtype=np.float32),
    ],
    ids=lambda values: str(values.dtype),
)
def test_numbers_come_in_many_types(values):
    table = pd.DataFrame({"x": values})
    encoded = TableEncoder().fit(table).transform(table)[:, 0]
    expected = np.array([np.nan if pd.isna(value) else float(value) for value in table["x"]])
    expected[np.isnan(expected)] = np.nanmedian(expected)
    np.testing.assert_array_equal(encoded, expected)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["a", None, "b"], dtype=object),
        pd.Series(["a", None, "b"], dtype="string"),
        pd.Series(["a", None, "b"], dtype="category"),
    ],
    ids=lambda values: str(values.dtype),
)
def test_texts_come_in_many_types(values):
    table = pd.DataFrame({"x": values})
    encoder = TableEncoder().fit(table)
    assert encoder.columns_[0].categories == ("", "a", "b")
    np.testing.assert_array_equal(encoder.transform(table), [[0, 1, 0], [1, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (pd.date_range("2024-01-01", periods=3), "dates"),
        ([datetime.date(2024, 1, day) for day in (1, 2, 3)], "dates"),
        (["1/2/2024", "11/12/2024", "3/4/2024"], "dates"),
        (["2024-01-02 10:30", "2024-01-03T11:00:00Z", None], "dates"),
        (pd.to_timedelta([1, 2, 3], unit="s"), "dates"),
        ([1j, 2j, 3j], "complex"),
        ([[1], [2], [3]], "unknown kind"),
        ([None, None, None], "no values"),
    ],
)
def test_columns_of_other_kinds_are_left_out(values, reason):
    table = pd.DataFrame({"odd": values, "x": [1.0, 2.0, 3.0]})
    encoder = TableEncoder().fit(table)
    assert [column.name for column in encoder.columns_] == ["x"]
    assert reason in encoder.left_out_["odd"]
    with pytest.raises(ValueError, match=f"no column to learn from; 'odd' .*{reason}"):
        TableEncoder().fit(table[["odd"]])


def test_rare_categories_get_no_input():
    table = pd.DataFrame({"x": list("aaabbbccd" * 5)})
    encoder = TableEncoder(max_categories=2).fit(table)
    assert encoder.columns_[0].categories == ("a", "b")
    np.testing.assert_array_equal(
        encoder.transform(pd.DataFrame({"x": ["c", "b"]})), [[0, 0], [0, 1]]
    )


def test_what_was_learnt_survives_json():
    encoder = TableEncoder(target="kind", missing=["?"]).fit(flowers())
    again = TableEncoder.from_plain(json.loads(json.dumps(encoder.to_plain())))
    assert again.columns_ == encoder.columns_
    assert (again.target, list(again.missing)) == ("kind", ["?"])
    new = flowers(seed=1)
    np.testing.assert_array_equal(again.transform(new), encoder.transform(new))


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        {},
        {"target": 3, "missing": [], "columns": [{"name": "x", "fill": 1.0}]},
        {"target": None, "missing": [3], "columns": [{"name": "x", "fill": 1.0}]},
        {"target": None, "missing": [], "columns": []},
        {"target": None, "missing": [], "columns": [{"name": "x"}]},
        {"target": None, "missing": [], "columns": [{"name": 3, "fill": 1.0}]},
        {"target": None, "missing": [], "columns": [{"name": "x", "fill": 10**400}]},
        {"target": None, "missing": [], "columns": [{"name": "x", "fill": float("inf")}]},
        {"target": None, "missing": [], "columns": [{"name": "x", "categories": []}]},
        {"target": None, "missing": [], "columns": [{"name": "x", "categories": ["a", 1]}]},
        {"target": None, "missing": [], "columns": [{"name": "x", "fill": 1.0}] * 2},
    ],
)
def test_damaged_data_are_refused(plain):
    with pytest.raises(ValueError, match="must"):
        TableEncoder.from_plain(plain)


def test_encoder_behaves_like_a_transformer():
    encoder = TableEncoder(target="kind", max_categories=3)
    assert clone(encoder).get_params() == {"target": "kind", "max_categories": 3, "missing": ()}
    with pytest.raises(NotFittedError):
        encoder.transform(flowers())
    with pytest.raises(TypeError, match="X must be a pandas DataFrame; got ndarray"):
        encoder.fit(np.eye(3))


@pytest.mark.parametrize(
    ("values", "task", "targets"),
    [
        (["a", "b", "a"], "classification", ["a", "b", "a"]),
        ([True, False, True], "classification", [True, False, True]),
        ([1, 2, 1], "classification", [1, 2, 1]),
        ([1.0, 2.0, 1.0], "classification", [1, 2, 1]),
        ([1.5, 2.0, 1.0], "regression", [1.5, 2.0, 1.0]),
        (list(range(21)), "regression", list(range(21))),
    ],
)
def test_task_is_guessed_from_the_target(values, task, targets):
    column = pd.Series(values, name="y")
    assert guess_task(column) == task
    found = targets_of(column, task)
    assert found.tolist() == targets
    assert type(found.tolist()[0]) is (float if task == "regression" else type(targets[0]))


def test_targets_of_the_wrong_kind_are_refused():
    with pytest.raises(
        ValueError, match=r"column 'y' must hold classes .*; got 1.5: is this --task"
    ):
        targets_of(pd.Series([1.5, 2.0], name="y"), "classification")
    with pytest.raises(ValueError, match="column 'y' must hold numbers; got 'a'"):
        targets_of(pd.Series(["a", "b"], name="y"), "regression")
    with pytest.raises(ValueError, match="column 'y' must hold numbers or texts; got dates"):
        targets_of(pd.Series(pd.date_range("2024-01-01", periods=2), name="y"), "classification")
