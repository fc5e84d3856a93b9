"""Numbers as people write them: against Python's own formatting of known numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagenets.cli._written_numbers import (
    AmbiguousNumbers,
    decimal_evidence,
    is_written_number,
    written_numbers,
)

amounts = st.integers(-(10**9), 10**9).map(lambda cents: cents / 100)
swap = str.maketrans(",.", ".,")


@given(st.lists(amounts, min_size=1), st.sampled_from(["{}", "${}", "{} €", "EUR {}", "{}%"]))
def test_formatted_amounts_are_read_back(numbers, form):
    english = [form.format(f"{number:,.2f}") for number in numbers]
    assert written_numbers(english, ".") == numbers
    assert written_numbers([text.translate(swap) for text in english], ",") == numbers
    # Two digits after the sign leave no doubt.
    assert written_numbers(english, None) == numbers
    assert decimal_evidence(english) == "."
    assert decimal_evidence([text.translate(swap) for text in english]) == ","


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("-$5", -5.0),
        ("$-5", -5.0),
        ("−5 %", -5.0),
        ("1 234,5", 1234.5),
        ("1\u00a0234\u00a0567", 1234567.0),
        ("1'234.50", 1234.5),
        ("0,125", 0.125),
        ("1,5e-3", 0.0015),
        (",5", 0.5),
        ("+7,", 7.0),
    ],
)
def test_single_forms(text, number):
    assert written_numbers([text], None) == [number]


@pytest.mark.parametrize(
    "texts",
    [
        ["red"],
        [""],
        ["1,2,3"],
        ["1.2.3"],
        ["1,23,456"],
        ["12,34.5,6"],
        ["$1€"],
        ["--1"],
        ["-$-1"],
        ["10.01.2024"],
        ["$1", "€2"],
        ["1%", "2"],
        ["1,5", "x"],
        ["."],
    ],
    ids=repr,
)
def test_what_is_not_a_column_of_numbers(texts):
    assert written_numbers(texts, None) is None


def test_the_same_numbers_either_way_are_not_ambiguous():
    assert written_numbers(["$5", "$7"], None) == [5.0, 7.0]


def test_thousands_or_thousandths_are_a_question_unless_told():
    texts = ["5", "1,234"]
    with pytest.raises(AmbiguousNumbers, match=r"'1,234' may be 1234 or 1.234: give --decimal"):
        written_numbers(texts, None)
    assert written_numbers(texts, ".") == [5, 1234]
    assert written_numbers(texts, ",") == [5, 1.234]
    assert written_numbers(["1,234.5"], ",") == [1234.5]  # the other sign, if only that one fits


@pytest.mark.parametrize(
    ("texts", "decimal"),
    [
        (["1,5", "2,5", "?"], ","),
        (["1.5", "2.5", "?"], "."),
        (["1,234", "5,678"], None),
        (["12", "13"], None),
        (["1,5", "a", "b", "c"], None),
    ],
)
def test_most_numbers_of_a_column_show_the_decimal_sign(texts, decimal):
    assert decimal_evidence(texts) == decimal


def test_words_are_no_numbers():
    assert is_written_number("1,5") and is_written_number("$1.5")
    assert not is_written_number("?")
