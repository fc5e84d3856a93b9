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

from stagenets.cli._table_encoder import TableEncoder
from stagenets.cli._table_model import guess_task, targets_of
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
    dates = [f"picked: {part}" for part in ("year", "month", "day of week", "days")]
    assert list(encoder.get_feature_names_out()) == [*order, *dates, "price"]
    for data in (table, new):
        ours = pd.DataFrame(encoder.transform(data), columns=encoder.get_feature_names_out())
        theirs = oracle.transform(for_reference(data))
        names = ["height", "petals", "wild", "price", *order[2:6]]
        np.testing.assert_allclose(ours[names].to_numpy(), theirs)


def test_identifiers_and_empty_columns_are_left_out_with_the_reason():
    table = flowers().assign(number=np.arange(120) * 3, year=np.arange(120) + 1900)
    encoder = TableEncoder(target="kind", keep=["year"]).fit(table)
    rising = "holds rising whole numbers, all different, like an identifier"
    assert encoder.left_out_ == {
        "id": "holds 120 different texts in 120 rows (--keep id uses it)",
        "nothing": "has no values",
        "number": f"{rising} (--keep number uses it)",
    }
    assert "year" in encoder.get_feature_names_out()
    kept = TableEncoder(target="kind", keep=["id", "number"]).fit(table)
    assert kept.left_out_.keys() == {"nothing", "year"}


@pytest.mark.parametrize(
    "values",
    [np.arange(40)[::-1], np.arange(40) // 2, np.arange(40) + 0.5, np.arange(20)],
    ids=["falling", "twice", "fractions", "few"],
)
def test_other_numbers_are_no_identifiers(values):
    encoder = TableEncoder().fit(pd.DataFrame({"x": values}))
    assert encoder.left_out_ == {}


def test_dates_become_year_month_weekday_and_days():
    written = ["3.12.2023", None, "29.2.2024 18:00", "1.1.2025"]
    days = [datetime.datetime(2023, 12, 3), None, datetime.datetime(2024, 2, 29, 18)]
    days.append(datetime.datetime(2025, 1, 1))
    elapsed = [(day - days[0]) / datetime.timedelta(days=1) for day in days if day]
    days[1] = days[0] + datetime.timedelta(days=float(np.median(elapsed)))
    expected = [
        (day.year, day.month, day.weekday(), (day - days[0]) / datetime.timedelta(days=1))
        for day in days
    ]
    encoder = TableEncoder().fit(pd.DataFrame({"when": written}))
    for same in (written, pd.to_datetime(written, dayfirst=True, format="mixed")):
        found = encoder.transform(pd.DataFrame({"when": same}))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    aware = pd.to_datetime(["2023-12-03"]).tz_localize("Asia/Tokyo")
    assert encoder.transform(pd.DataFrame({"when": aware})).tolist() == [[2023, 12, 6, 0]]


@pytest.mark.parametrize(
    ("written", "day_first", "month", "remark"),
    [
        (["1/2/2024", "13/2/2024"], False, 2, None),
        (["1/2/2024", "1/13/2024"], True, 1, None),
        (["01.02.2024"], False, 2, None),
        (["2024-01-02"], True, 1, None),
        (["1/2/2024"], False, 1, "month/day/year (else add --day-first)"),
        (["1/2/2024"], True, 2, "day/month/year"),
    ],
)
def test_order_of_day_and_month_is_seen_or_told(written, day_first, month, remark):
    table = pd.DataFrame({"when": written})
    encoder = TableEncoder(day_first=day_first).fit(table)
    assert encoder.transform(table)[0, 1] == month
    assert encoder.remarks_ == ([] if remark is None else [f"column 'when' is read as {remark}"])


@pytest.mark.parametrize("value", ["soon", "30.2.2024", "2024-13-01", 20240101])
def test_values_that_are_not_dates_are_named_with_their_column(value):
    encoder = TableEncoder().fit(pd.DataFrame({"when": ["2024-01-02"]}))
    with pytest.raises(ValueError, match=f"column 'when' must hold dates; got .*{value}"):
        encoder.transform(pd.DataFrame({"when": [value]}))


@pytest.mark.parametrize("text", ["1.2.3", "10.0.12", "2024-99-99", "1/2/24"])
def test_texts_that_only_resemble_dates_stay_texts(text):
    encoder = TableEncoder().fit(pd.DataFrame({"version": [text]}))
    assert encoder.columns_[0].categories == (text,)


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
def test_values_that_are_not_numbers_are_named_with_their_column(values, word):
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
        (pd.to_timedelta([1, 2, 3], unit="s"), "times"),
        ([datetime.time(hour) for hour in (1, 2, 3)], "times"),
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
    rare = "column 'x': 15 rows hold one of 2 rarer texts, which get no input (--max-categories)"
    assert encoder.remarks_ == [rare]
    assert encoder.unlisted(table) == {"x": {"c": 10, "d": 5}}
    np.testing.assert_array_equal(
        encoder.transform(pd.DataFrame({"x": ["c", "b"]})), [[0, 0], [0, 1]]
    )


def test_what_was_learnt_survives_json():
    encoder = TableEncoder(target="kind", missing=["?"], decimal=",").fit(flowers())
    again = TableEncoder.from_plain(json.loads(json.dumps(encoder.to_plain())))
    assert again.columns_ == encoder.columns_
    assert (again.target, list(again.missing), again.decimal) == ("kind", ["?"], ",")
    two = TableEncoder(target=["kind", "price"]).fit(flowers())
    assert TableEncoder.from_plain(two.to_plain()).targets == ["kind", "price"]
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
        {"target": [], "missing": [], "columns": [{"name": "x", "fill": 1.0}]},
        {"target": [1], "missing": [], "columns": [{"name": "x", "fill": 1.0}]},
        {"target": None, "missing": [], "decimal": 1, "columns": [{"name": "x", "fill": 1.0}]},
        *(
            {
                "target": None,
                "missing": [],
                "columns": [{"name": "x", "start": start, "fill": fill, "day_first": flag}],
            }
            for start, fill, flag in [
                ("2024-02-30", 1.0, True),
                ("0000-01-01", 1.0, True),
                ("soon", 1.0, True),
                ("2024-01-01", 1e9, True),
                ("2024-01-01", float("nan"), True),
                ("2024-01-01", None, True),
            ]
        ),
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
    assert clone(encoder).get_params() == encoder.get_params()
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
        (list(range(9)), "regression", list(range(9))),
    ],
)
def test_task_is_guessed_from_the_target(values, task, targets):
    column = pd.DataFrame({"y": values})
    assert guess_task(column) == task
    found = targets_of(column, task)
    assert found.tolist() == targets
    assert type(found.tolist()[0]) is (float if task == "regression" else type(targets[0]))


def test_targets_of_the_wrong_kind_are_refused():
    with pytest.raises(
        ValueError, match=r"column 'y' must hold classes .*; got 1.5: is this --task"
    ):
        targets_of(pd.DataFrame({"y": [1.5, 2.0]}), "classification")
    with pytest.raises(ValueError, match="column 'y' must hold numbers; got 'a'"):
        targets_of(pd.DataFrame({"y": ["a", "b"]}), "regression")
    with pytest.raises(ValueError, match="column 'y' must hold numbers or texts; got times"):
        times = pd.DataFrame({"y": pd.to_timedelta([1, 2], unit="s")})
        targets_of(times, "classification")


@pytest.mark.parametrize(
    ("values", "question"),
    [
        (pd.date_range("2024-01-01", periods=30), "holds dates, .* --task classification"),
        (["2024-01-01"] * 30, "holds dates, .* --task classification"),
        ([f"name {n}" for n in range(30)], "30 different texts in 30 rows.* --task classification"),
    ],
)
def test_targets_that_are_hardly_meant_are_questions(values, question):
    table = pd.DataFrame({"y": values})
    with pytest.raises(ValueError, match=question):
        guess_task(table)
    assert len(targets_of(table, "classification")) == 30  # when told so


def test_several_targets_are_numbers():
    table = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5], "c": list("xyz")})
    assert guess_task(table[["a", "b"]]) == "regression"
    np.testing.assert_array_equal(targets_of(table[["a", "b"]], "regression"), table[["a", "b"]])
    with pytest.raises(ValueError, match="several targets must all hold numbers; 'c' holds texts"):
        guess_task(table)
    with pytest.raises(ValueError, match="several targets must be numbers"):
        targets_of(table[["a", "c"]], "classification")
