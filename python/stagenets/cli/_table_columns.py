"""The columns of a table, and what each becomes: numbers, categories, or the parts of dates."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagenets.cli._table_files import import_pandas
from stagenets.cli._written_numbers import is_written_number

# pandas' names for the contents of a column.
_KINDS = {
    "numbers": ("boolean", "integer", "floating", "decimal", "mixed-integer-float"),
    "texts": ("string", "categorical", "mixed-integer"),
    "dates": ("datetime64", "datetime", "date"),
    "times": ("time", "timedelta64", "timedelta", "period"),
}
_DATE = re.compile(r"(\d{1,2}|\d{4})([-/.])(\d{1,2})\2(\d{1,2}|\d{4})([ T].*)?")


@dataclass(frozen=True)
class NumberColumn:
    """Numbers, with true and false as 1 and 0."""

    name: str

    @property
    def names(self) -> list[str]:
        """Names of what it becomes."""
        return [self.name]

    def typed(self, values: Any) -> list[Any]:
        """The column as numbers, NaN where they are missing."""
        return [numbers_of(self.name, values)]

    def to_plain(self) -> dict[str, Any]:
        """The column as JSON-compatible data."""
        return {"name": self.name, "kind": "number"}


@dataclass(frozen=True)
class TextColumn:
    """Texts; those without characters are missing."""

    name: str

    @property
    def names(self) -> list[str]:
        """Names of what it becomes."""
        return [self.name]

    def typed(self, values: Any) -> list[Any]:
        """The column as categories."""
        return [import_pandas().Categorical([text or None for text in texts_of(values)])]

    def to_plain(self) -> dict[str, Any]:
        """The column as JSON-compatible data."""
        return {"name": self.name, "kind": "text"}


@dataclass(frozen=True)
class DateColumn:
    """Dates, counted from the first one."""

    name: str
    start: str
    day_first: bool

    @property
    def names(self) -> list[str]:
        """Names of what it becomes."""
        return date_names(self.name)

    def typed(self, values: Any) -> list[Any]:
        """Year, month, day of the week and elapsed days, NaN where dates are missing."""
        dates = dates_of(self.name, values, day_first=self.day_first)
        elapsed = days_since(import_pandas().Timestamp(self.start), dates)
        parts = (dates.dt.year, dates.dt.month, dates.dt.day_of_week, elapsed)
        return [np.asarray(part, dtype=np.float64) for part in parts]

    def to_plain(self) -> dict[str, Any]:
        """The column as JSON-compatible data."""
        return {
            "name": self.name,
            "kind": "date",
            "start": self.start,
            "day_first": self.day_first,
        }


Column = NumberColumn | TextColumn | DateColumn


def column_of(plain: Any) -> Column:
    """A column from its plain form; ValueError if it is anything else."""
    match plain:
        case {"name": str(name), "kind": "number"}:
            return NumberColumn(name)
        case {"name": str(name), "kind": "text"}:
            return TextColumn(name)
        case {"name": str(name), "kind": "date", "start": str(start), "day_first": bool(first)}:
            if _is_day(start):
                return DateColumn(name, start, first)
    raise ValueError(
        f"a column must have a name and a kind, and one of dates a first date; got {short(plain)}"
    )


def _is_day(text: str) -> bool:
    try:
        return 1677 < datetime.date.fromisoformat(text).year < 2262  # what pandas can compute with
    except ValueError:
        return False


def date_names(name: str) -> list[str]:
    """Names of the numbers that a column of dates becomes."""
    return [f"{name}: {part}" for part in ("year", "month", "day of week", "days")]


def checked_texts(texts: list[Any]) -> list[str]:
    """The texts, or ValueError if they are anything else."""
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"words and categories must be texts; got {short(texts)}")
    return texts


def kind_of(values: Any) -> str:
    """What a column holds: numbers, texts, dates, times, nothing, or pandas' word for it."""
    if _holds_plain_numbers(values):
        return "nothing" if np.isnan(values.to_numpy(dtype=np.float64)).all() else "numbers"
    kind = str(import_pandas().api.types.infer_dtype(values, skipna=True))
    if kind == "empty" or values.isna().all():
        return "nothing"
    found = next((name for name, kinds in _KINDS.items() if kind in kinds), kind)
    if found == "texts" and all(map(_DATE.fullmatch, filter(None, texts_of(values)))):
        dates = _parsed(values, day_first=bool(day_comes_first(values)))
        return "dates" if dates[values.notna()].notna().all() else "texts"
    return found


def _holds_plain_numbers(values: Any) -> bool:
    """Whether NumPy's own type says so: tables may have a hundred thousand such columns."""
    return isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf"


def numbers_of(name: str, values: Any) -> NDArray[np.float64]:
    """Floating-point numbers, NaN where missing."""
    if _holds_plain_numbers(values):
        numbers: NDArray[np.float64] = values.to_numpy(dtype=np.float64)
    elif kind_of(values) not in ("numbers", "nothing"):
        raise ValueError(f"column {name!r} must hold numbers; got {_first_text(values)!r}")
    else:
        missing = values.isna().to_numpy(dtype=bool)
        numbers = np.full(len(values), np.nan)
        numbers[~missing] = values[~missing].astype(np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"column {name!r} must hold finite numbers; got infinity")
    return numbers


def texts_of(values: Any) -> list[str]:
    """Texts, "" where missing."""
    pairs = zip(values.tolist(), values.isna().tolist(), strict=True)
    return ["" if missing else str(value) for value, missing in pairs]


def dates_of(name: str, values: Any, *, day_first: bool) -> Any:
    """Dates without time zone, NaT where missing."""
    dates = _parsed(values, day_first=day_first)
    wrong = values.notna() & dates.isna()
    if wrong.any() or kind_of(values) == "numbers":
        wrong = wrong if wrong.any() else values.notna()
        raise ValueError(f"column {name!r} must hold dates; got {values[wrong].iloc[0]!r}")
    return dates


def days_since(start: Any, dates: Any) -> Any:
    """Elapsed days, with fractions."""
    return (dates - start) / import_pandas().Timedelta(days=1)


def _parsed(values: Any, *, day_first: bool) -> Any:
    pandas = import_pandas()
    if pandas.api.types.is_datetime64_any_dtype(values):
        return values.dt.tz_localize(None)
    texts = [_iso(text, day_first) for text in texts_of(values)]
    dates = pandas.to_datetime(
        pandas.Series(texts, index=values.index, dtype=object),
        format="mixed",
        errors="coerce",
        utc=True,
    )
    return dates.dt.tz_localize(None)


def _iso(text: str, day_first: bool) -> str | None:
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    first, _, second, third, rest = found.groups()
    year, month, day = (
        (first, second, third)
        if len(first) == 4
        else (third, second, first)
        if day_first
        else (third, first, second)
    )
    return f"{year}-{month:0>2}-{day:0>2}{rest or ''}" if len(year) == 4 else None


def day_comes_first(values: Any) -> bool | None:
    """Whether dates such as 3/4/2024 begin with the day; None if these do not tell.

    Dates with points are written with the day first everywhere.
    """
    found = [match for text in texts_of(values) if (match := _DATE.fullmatch(text)) is not None]
    if any(match[2] == "." or 12 < int(match[1]) < 32 for match in found):
        return True
    short_ones = [match for match in found if len(match[1]) < 4]
    return False if not short_ones or any(int(m[3]) > 12 for m in short_ones) else None


def word_among_numbers(values: Any) -> str | None:
    """The most frequent word, such as "?", in a text column that consists mostly of numbers."""
    words = Counter(text for text in texts_of(values) if text and not is_written_number(text))
    return words.most_common(1)[0][0] if 0 < 2 * words.total() < values.count() else None


def _first_text(values: Any) -> Any:
    """A value to show that is not a number, or any value if all of them look like numbers."""
    present = values.dropna()
    return next((value for value in present if not is_written_number(str(value))), present.iloc[0])
