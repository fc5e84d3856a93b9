"""Reading and writing tables: CSV, Parquet and Feather, by pandas."""

from __future__ import annotations

import csv
import io
import sys
import warnings
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stagenets.cli._table_source import DAMAGES, PARQUET, Progress, TableError, TableSource
from stagenets.cli._written_numbers import (
    COMMA,
    POINT,
    AmbiguousNumbers,
    decimal_evidence,
    written_numbers,
)

#: Words for missing values in all kinds of files.
MISSING = ("", "#N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null")

# Text and code are often separated by commas inside fields; the others rarely occur there.
_SEPARATORS = ("\t", ";", "|", ",")
_LINES_TO_LOOK_AT = 20
_CHARACTERS_TO_LOOK_AT = 1 << 16
_TEXTS_TO_LOOK_AT = 1000

_CSV, _TAB_SEPARATED = (".csv", ".txt", ""), (".tsv",)


def import_pandas() -> Any:
    """pandas, or an ImportError that says how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("reading tables needs pandas: pip install 'stagenets[cli]'") from error
    return pandas


@dataclass(frozen=True)
class CSVOptions:
    """How a CSV file is written; None means: see for yourself."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool = True


_SEE_FOR_YOURSELF = CSVOptions()


@dataclass
class Table:
    """A table, the decimal sign of its numbers if they show one, and what to tell about it."""

    frame: Any
    decimal: str | None = None
    remarks: list[str] = field(default_factory=list)


def read_table(
    source: str,
    csv_options: CSVOptions = _SEE_FOR_YOURSELF,
    *,
    missing: Collection[str] = (),
    text: Collection[str] = (),
    usual_decimal: str | None = None,
    progress: Progress | None = None,
) -> Table:
    """The table in a CSV, Parquet or Feather file, perhaps compressed; "-" is standard input.

    `missing` lists words for missing values in addition to `MISSING`; `text` lists columns to read
    as text even if they look like numbers. `usual_decimal` applies where numbers such as 1,234 are
    all that a file shows. `progress` is told how much of it has been read.
    """
    words = [*MISSING, *missing]
    try:
        file = TableSource(source, progress)
        if file.kind == "csv":
            table = _read_csv(file, csv_options, words, text)
        else:
            table = Table(_read_columnar(file))
            _blank(table.frame, words)
        _check_columns(source, table.frame)
        table.frame = table.frame.rename(columns=str)
        _read_numbers(table, table.decimal or csv_options.decimal or usual_decimal, text)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{source} is not in UTF-8 ({error}): give its --encoding, such as latin-1"
        ) from error
    except TableError:
        raise
    except import_pandas().errors.ParserWarning as error:
        raise ValueError(
            f"the rows of {source} have more fields than its header: check --sep, and put numbers "
            "with a decimal comma in quotes where commas separate fields"
        ) from error
    except DAMAGES as error:
        raise ValueError(f"{source} is damaged: {error}") from error
    except ValueError as error:  # includes pandas' own errors
        raise ValueError(f"{source} cannot be read: {error}") from error
    if len(table.frame) == 0:
        raise ValueError(f"{source} has no rows")
    return table


def _read_columnar(file: TableSource) -> Any:
    pandas = import_pandas()
    read = pandas.read_parquet if file.kind == "parquet" else pandas.read_feather
    with file.open() as stream:
        return _by_pyarrow(read, io.BytesIO(stream.read()))


def _read_csv(
    file: TableSource, options: CSVOptions, missing: list[str], text: Collection[str]
) -> Table:
    pandas = import_pandas()
    wide = file.head.startswith((b"\xff\xfe", b"\xfe\xff"))
    encoding = options.encoding or ("utf-16" if wide else "utf-8-sig")
    separator = options.separator or _separator(_first_lines(file, encoding))

    def read(decimal: str, **more: Any) -> Any:
        with file.open() as stream, warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)  # fields beyond the header
            return pandas.read_csv(
                stream,
                **{
                    "sep": separator,
                    "decimal": decimal,
                    "encoding": encoding,
                    "skipinitialspace": True,
                    "header": 0 if options.header else None,
                    "index_col": False,
                    "keep_default_na": False,
                    "na_values": missing,
                    "dtype": dict.fromkeys(text, str),
                    "low_memory": False,  # otherwise a column's type could change between chunks
                    **more,
                },
            )

    if options.header:
        first = read(POINT, header=None, nrows=1, dtype=str)
        _check_names(file.source, first.iloc[0].dropna().tolist())
    frame = read(options.decimal or POINT)
    decimal = options.decimal
    if decimal is None and COMMA in _evidence(frame):
        with_commas = read(COMMA)
        # Where other columns have a point, those with a comma are the exception.
        decimal = POINT if POINT in _evidence(with_commas) else COMMA
        frame = with_commas if decimal == COMMA else frame
    elif decimal is None and (separator == "," or _shows_a_point(frame)):
        decimal = POINT
    if not options.header:
        frame.columns = [str(number + 1) for number in range(frame.shape[1])]
    told = options.decimal is None and decimal == COMMA
    return Table(frame, decimal, ["numbers are read with a decimal comma"] if told else [])


def _first_lines(file: TableSource, encoding: str) -> list[str]:
    with file.open() as stream, io.TextIOWrapper(stream, encoding, errors="replace") as text:
        lines = text.read(_CHARACTERS_TO_LOOK_AT).splitlines()
    return [line for line in lines if line.strip()][:_LINES_TO_LOOK_AT]


def _separator(lines: list[str]) -> str:
    """The separator that cuts all lines into the same number of fields, or at least the first."""

    def fields(separator: str) -> list[int]:
        return [len(row) for row in csv.reader(lines, delimiter=separator)]

    counts = {separator: fields(separator) for separator in _SEPARATORS}
    several = [separator for separator, found in counts.items() if found and found[0] > 1]
    even = [separator for separator in several if len(set(counts[separator])) == 1]
    return next(iter([*even, *reversed(several)]), ",")


def _evidence(frame: Any) -> set[str | None]:
    """The decimal signs that the columns read as text show."""
    return {
        decimal_evidence(frame[name].dropna()[:_TEXTS_TO_LOOK_AT])
        for name in frame.columns
        if _is_text(frame[name])
    }


def _shows_a_point(frame: Any) -> bool:
    def fractions(values: Any) -> bool:
        return values.dtype.kind == "f" and bool((values.dropna() % 1 != 0).any())

    return POINT in _evidence(frame) or any(fractions(frame[name]) for name in frame.columns)


def _is_text(values: Any) -> bool:
    kind = import_pandas().api.types.infer_dtype(values, skipna=True)
    return kind in ("string", "categorical") and all(isinstance(v, str) for v in values.dropna())


def _blank(frame: Any, words: Collection[str]) -> None:
    """Replace words for missing values, as reading CSV does."""
    for name in frame.columns[~frame.columns.duplicated()]:
        if _is_text(frame[name]) and frame[name].isin(words).any():
            frame[name] = frame[name].astype(object).where(~frame[name].isin(words), None)


def _read_numbers(table: Table, decimal: str | None, text: Collection[str]) -> None:
    """Turn columns of texts such as $1,234.50 into numbers. Bare numerals are left as they are."""
    frame, pandas = table.frame, import_pandas()
    for name in frame.columns:
        if name in text or not _is_text(frame[name]):
            continue
        known = frame[name].notna()
        texts = frame[name][known].astype(str).tolist()
        if all(word.isdigit() for word in texts):
            continue
        try:
            numbers = written_numbers(texts, decimal)
        except AmbiguousNumbers as error:
            raise ValueError(f"in column {name!r}, {error}") from error
        if numbers is None:
            continue
        frame[name] = pandas.Series(numbers, index=frame.index[known]).reindex(frame.index)
        table.remarks.append(
            f"column {name!r} is read as numbers: {texts[0]!r} is {numbers[0]:.15g}"
        )


def _check_names(source: str, names: list[str]) -> None:
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise TableError(
            f"the columns of {source} must have different names; there are several "
            f"{', '.join(map(repr, twice))} (if the first line holds data, add --no-header)"
        )


def _check_columns(source: str, frame: Any) -> None:
    _check_names(source, list(map(str, frame.columns)))


def check_table_target(target: str) -> None:
    """Refuse names of files that `write_table` cannot write."""
    suffix = Path(target.lower().removesuffix(".gz")).suffix
    if suffix not in (*PARQUET, *_CSV, *_TAB_SEPARATED):
        raise ValueError(f"--out must end in .csv, .tsv or .parquet; got {target!r}")


def write_table(table: Any, target: str | None) -> None:
    """Write a DataFrame to a CSV or Parquet file, or as CSV to standard output."""
    if target is None:
        table.to_csv(sys.stdout, index=False)
    elif target.lower().endswith(PARQUET):
        _by_pyarrow(table.to_parquet, target, index=False)
    else:
        tabs = Path(target.lower().removesuffix(".gz")).suffix in _TAB_SEPARATED
        table.to_csv(Path(target), index=False, sep="\t" if tabs else ",")


def _by_pyarrow(call: Any, *args: Any, **kwargs: Any) -> Any:
    try:
        return call(*args, **kwargs)
    except ImportError as error:
        raise ImportError(
            "Parquet and Feather need pyarrow: pip install 'stagenets[cli]'"
        ) from error
