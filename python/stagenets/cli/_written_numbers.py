"""Numbers as people write them: ``1,5``, ``1.234,50``, ``$1,234.50``, ``12.3%``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

POINT, COMMA = ".", ","

_CURRENCY = r"[$€£¥]|USD|EUR|GBP|CHF|JPY"
_NUMBER = re.compile(
    rf"(?P<sign>[-+−]?)\s*(?P<before>{_CURRENCY})?\s*(?P<inner>[-−]?)"
    rf"(?P<digits>[\d.,][\d.,'\s]*)(?P<exponent>[eE][-+]?\d+)?\s*(?P<after>{_CURRENCY}|%)?"
)


def _digits(decimal: str, grouping: str) -> re.Pattern[str]:
    # A group never begins with zero: 0,125 is an eighth.
    whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:[{grouping}]\d{{3}})+)"
    return re.compile(rf"{whole}(?:[{decimal}]\d*)?|[{decimal}]\d+")


_DIGITS = {POINT: _digits(POINT, r",'\s"), COMMA: _digits(COMMA, r".'\s")}


@dataclass(frozen=True)
class _Number:
    value: float
    unit: str


def _number(text: str, decimal: str) -> _Number | None:
    """The number that a text stands for, or None."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None or (found["sign"] and found["inner"]) or (found["before"] and found["after"]):
        return None
    digits = found["digits"].strip()
    if _DIGITS[decimal].fullmatch(digits) is None:
        return None
    whole, _, fraction = digits.partition(decimal)
    plain = re.sub(r"\D", "", whole) + POINT + fraction + (found["exponent"] or "")
    sign = -1.0 if (found["sign"] or found["inner"]) in ("-", "−") else 1.0
    return _Number(sign * float(plain), found["before"] or found["after"] or "")


def is_written_number(text: str) -> bool:
    """Whether a text is a number with either decimal sign."""
    return any(_number(text, decimal) is not None for decimal in _DIGITS)


def decimal_evidence(texts: Iterable[str]) -> str | None:
    """The only decimal sign with which most of these texts are numbers; None if there is no such.

    Whole numbers, and those like 1,234 that are numbers with either sign, are no evidence.
    """
    different = set(texts)
    numbers = {
        decimal: {text for text in different if _number(text, decimal) is not None}
        for decimal in _DIGITS
    }
    for decimal, other in ((POINT, COMMA), (COMMA, POINT)):
        if 2 * len(numbers[decimal]) > len(different) and numbers[decimal] - numbers[other]:
            return decimal
    return None


class AmbiguousNumbers(ValueError):
    """Texts that mean different numbers depending on the decimal sign."""


def written_numbers(texts: Sequence[str], decimal: str | None) -> list[float] | None:
    """The numbers that a column of texts stands for; None if it does not hold numbers.

    Percentages are numbers of percent, and all or none of a column must be such; a column has one
    currency. Texts that are numbers with `decimal` are read that way, others with the other sign.
    """
    readings: dict[str, list[float]] = {}
    for sign in _DIGITS:
        numbers = _numbers(set(texts), sign)
        if numbers is not None and _is_one_unit({number.unit for number in numbers.values()}):
            readings[sign] = [numbers[text].value for text in texts]
    if decimal in readings:
        return readings[decimal]
    if len(readings) == 2 and readings[POINT] != readings[COMMA]:
        text, a, b = next(
            (text, a, b)
            for text, a, b in zip(texts, readings[POINT], readings[COMMA], strict=True)
            if a != b
        )
        raise AmbiguousNumbers(
            f"{text!r} may be {a:.15g} or {b:.15g}: give --decimal . or --decimal ,"
        )
    return next(iter(readings.values()), None)


def _numbers(texts: Iterable[str], decimal: str) -> dict[str, _Number] | None:
    """The number that each text stands for; None as soon as one is not a number."""
    numbers = {}
    for text in texts:
        number = _number(text, decimal)
        if number is None:
            return None
        numbers[text] = number
    return numbers


def _is_one_unit(units: set[str]) -> bool:
    return len(units) == 1 or ("%" not in units and len(units - {""}) <= 1)
