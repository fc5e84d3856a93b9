"""What the columns of a table hold, what they become, and what is refused."""

import datetime
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import stagenets
from stagenets.cli._column_types import ColumnTypes
from stagenets.cli._table_columns import TextColumn
from stagenets.cli._table_model import guess_task, targets_of
from tables import flowers


def test_columns_become_numbers_and_categories_and_stay_missing():
    table = flowers()
    types = ColumnTypes(target="kind").fit(table)
    found = types.transform(table)
    dates = [f"picked: {part}" for part in ("year", "month", "day of week", "days")]
    names = ["height", "petals", "colour", "wild", *dates, "price"]
    assert list(types.get_feature_names_out()) == list(found.columns) == names
    for name in ("height", "petals", "wild", "price"):
        assert found[name].dtype == np.float64
        np.testing.assert_array_equal(found[name], table[name].astype(float))
    assert found["colour"].dtype == "category"
    assert found["colour"].isna().equals(table["colour"].isna())
    known = table["colour"].notna()
    assert found["colour"][known].tolist() == table["colour"][known].tolist()


def test_identifiers_and_empty_columns_are_left_out_with_the_reason():
    table = flowers().assign(number=np.arange(120) * 3, year=np.arange(120) + 1900)
    types = ColumnTypes(target="kind", keep=["year"]).fit(table)
    rising = "holds rising whole numbers, all different, like an identifier"
    assert types.left_out_ == {
        "id": "holds 120 different texts in 120 rows (--keep id uses it)",
        "nothing": "has no values",
        "number": f"{rising} (--keep number uses it)",
    }
    assert "year" in types.get_feature_names_out()
    kept = ColumnTypes(target="kind", keep=["id", "number"]).fit(table)
    assert kept.left_out_.keys() == {"nothing", "year"}


@pytest.mark.parametrize(
    "values",
    [np.arange(40)[::-1], np.arange(40) // 2, np.arange(40) + 0.5, np.arange(20)],
    ids=["falling", "twice", "fractions", "few"],
)
def test_other_numbers_are_no_identifiers(values):
    types = ColumnTypes().fit(pd.DataFrame({"x": values}))
    assert types.left_out_ == {}


def test_dates_become_year_month_weekday_and_days():
    written = ["3.12.2023", None, "29.2.2024 18:00", "1.1.2025"]
    days = [datetime.datetime(2023, 12, 3), None, datetime.datetime(2024, 2, 29, 18)]
    days.append(datetime.datetime(2025, 1, 1))
    expected = [
        (day.year, day.month, day.weekday(), (day - days[0]) / datetime.timedelta(days=1))
        if day
        else (np.nan,) * 4
        for day in days
    ]
    types = ColumnTypes().fit(pd.DataFrame({"when": written}))
    for same in (written, pd.to_datetime(written, dayfirst=True, format="mixed")):
        found = types.transform(pd.DataFrame({"when": same}))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    aware = pd.to_datetime(["2023-12-03"]).tz_localize("Asia/Tokyo")
    assert types.transform(pd.DataFrame({"when": aware})).to_numpy().tolist() == [[2023, 12, 6, 0]]


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
    types = ColumnTypes(day_first=day_first).fit(table)
    assert types.transform(table).iloc[0, 1] == month
    assert types.remarks_ == ([] if remark is None else [f"column 'when' is read as {remark}"])


@pytest.mark.parametrize("value", ["soon", "30.2.2024", "2024-13-01", 20240101])
def test_values_that_are_not_dates_are_named_with_their_column(value):
    types = ColumnTypes().fit(pd.DataFrame({"when": ["2024-01-02"]}))
    with pytest.raises(ValueError, match=f"column 'when' must hold dates; got .*{value}"):
        types.transform(pd.DataFrame({"when": [value]}))


@pytest.mark.parametrize("text", ["1.2.3", "10.0.12", "2024-99-99", "1/2/24"])
def test_texts_that_only_resemble_dates_stay_texts(text):
    types = ColumnTypes().fit(pd.DataFrame({"version": [text]}))
    assert types.columns_ == [TextColumn("version")]


def test_order_of_columns_does_not_matter_and_others_are_ignored():
    table = flowers()
    types = ColumnTypes(target="kind").fit(table)
    shuffled = table[table.columns[::-1]].assign(more=1).drop(columns=["kind", "id"])
    assert types.transform(shuffled).equals(types.transform(table))


def test_missing_columns_are_named():
    types = ColumnTypes(target="kind").fit(flowers())
    with pytest.raises(ValueError, match=r"it lacks 'height', 'wild'$"):
        types.transform(flowers().drop(columns=["wild", "height"]))
    many = pd.DataFrame({f"x{number}": [1.0, 2.0] for number in range(30)})
    with pytest.raises(ValueError, match="'x9' and 20 more"):
        ColumnTypes().fit(many).transform(flowers())


@pytest.mark.parametrize(
    ("values", "word"), [(["1", "x"], "'x'"), ([1.0, np.inf], "infinity"), (["1", "2"], "'1'")]
)
def test_values_that_are_not_numbers_are_named_with_their_column(values, word):
    types = ColumnTypes().fit(pd.DataFrame({"age": [1.0, 2.0]}))
    with pytest.raises(ValueError, match=f"column 'age' must hold .*numbers; got {word}"):
        types.transform(pd.DataFrame({"age": values}))


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
    typed = ColumnTypes().fit(table).transform(table)["x"]
    expected = np.array([np.nan if pd.isna(value) else float(value) for value in table["x"]])
    np.testing.assert_array_equal(typed, expected)


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
    types = ColumnTypes().fit(table)
    assert types.columns_ == [TextColumn("x")]
    assert types.transform(table)["x"].astype(object).fillna("?").tolist() == ["a", "?", "b"]


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
    types = ColumnTypes().fit(table)
    assert [column.name for column in types.columns_] == ["x"]
    assert reason in types.left_out_["odd"]
    with pytest.raises(ValueError, match=f"no column to learn from; 'odd' .*{reason}"):
        ColumnTypes().fit(table[["odd"]])


def test_texts_without_an_input_are_counted():
    table = pd.DataFrame({"z": np.arange(45) % 4, "x": list("aaabbbccd" * 5)})
    types = ColumnTypes().fit(table)
    network = stagenets.RVFLRegressor(n_hidden=2, max_categories=2, random_state=0)
    network.fit(types.transform(table), np.arange(45.0))
    assert network.network_.input_names == ["z", "x=a", "x=b"]
    assert types.unlisted(table, network.network_) == {"x": {"c": 10, "d": 5}}


def test_what_was_learnt_survives_json():
    types = ColumnTypes(target="kind", missing=["?"], decimal=",").fit(flowers())
    again = ColumnTypes.from_plain(json.loads(json.dumps(types.to_plain())))
    assert again.columns_ == types.columns_
    assert (again.target, list(again.missing), again.decimal) == ("kind", ["?"], ",")
    two = ColumnTypes(target=["kind", "price"]).fit(flowers())
    assert ColumnTypes.from_plain(two.to_plain()).targets == ["kind", "price"]
    new = flowers(seed=1)
    assert again.transform(new).equals(types.transform(new))


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        {},
        {"target": 3, "missing": [], "columns": [{"name": "x", "kind": "number"}]},
        {"target": None, "missing": [3], "columns": [{"name": "x", "kind": "number"}]},
        {"target": None, "missing": [], "columns": []},
        {"target": [], "missing": [], "columns": [{"name": "x", "kind": "number"}]},
        {"target": [1], "missing": [], "columns": [{"name": "x", "kind": "number"}]},
        {"target": None, "missing": [], "decimal": 1, "columns": [{"name": "x", "kind": "number"}]},
        *(
            {
                "target": None,
                "missing": [],
                "columns": [{"name": "x", "kind": "date", "start": start, "day_first": flag}],
            }
            for start, flag in [
                ("2024-02-30", True),
                ("0000-01-01", True),
                ("soon", True),
                ("2024-01-01", 1),
                (None, True),
            ]
        ),
        {"target": None, "missing": [], "columns": [{"name": "x"}]},
        {"target": None, "missing": [], "columns": [{"name": 3, "kind": "number"}]},
        {"target": None, "missing": [], "columns": [{"name": "x", "kind": "time"}]},
        {"target": None, "missing": [], "columns": [{"name": "x", "kind": "number"}] * 2},
    ],
)
def test_damaged_data_are_refused(plain):
    with pytest.raises(ValueError, match="must"):
        ColumnTypes.from_plain(plain)


def test_it_behaves_like_a_transformer():
    types = ColumnTypes(target="kind", day_first=True)
    assert clone(types).get_params() == types.get_params()
    with pytest.raises(NotFittedError):
        types.transform(flowers())
    with pytest.raises(TypeError, match="X must be a pandas DataFrame; got ndarray"):
        types.fit(np.eye(3))


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
