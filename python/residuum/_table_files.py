"""Reading and writing tables: CSV and Parquet, by pandas."""

from __future__ import annotations

import io
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

_PARQUET = (".parquet", ".pq")
_SEPARATORS = (",", ";", "\t", "|")


def import_pandas() -> Any:
    """pandas, or an ImportError that says how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tables are read by pandas: pip install 'residuum[cli]'") from error
    return pandas


def read_table(
    source: str,
    *,
    separator: str | None = None,
    missing: Collection[str] = (),
    encoding: str | None = None,
    text: Collection[str] = (),
) -> Any:
    """The DataFrame in a CSV or Parquet file; "-" is CSV on standard input.

    The separator of CSV is taken from its first line unless given. `missing` are words for missing
    values, beside pandas' own; `text` are columns of CSV to read as text whatever they look like.
    """
    pandas = import_pandas()
    try:
        if source.lower().endswith(_PARQUET):
            table = _parquet(pandas.read_parquet, source)
        else:
            # Standard input is read twice, once for its header.
            data = sys.stdin.buffer.read() if source == "-" else None

            def read_csv(separator: str, **options: Any) -> Any:
                return pandas.read_csv(
                    source if data is None else io.BytesIO(data),
                    sep=separator,
                    encoding=encoding or "utf-8-sig",
                    skipinitialspace=True,
                    **options,
                )

            separator = separator or _separator(read_csv)
            table = read_csv(
                separator,
                na_values=list(missing),
                dtype=dict.fromkeys(text, str),
                low_memory=False,  # or the types of a column could differ from chunk to chunk
            )
    except UnicodeDecodeError as error:
        raise ValueError(f"{source} is not in UTF-8 ({error}): name its --encoding") from error
    except ValueError as error:  # pandas' own are among them
        raise ValueError(f"{source} cannot be read: {error}") from error
    if len(table) == 0:
        raise ValueError(f"{source} has no rows")
    return table.rename(columns=str)


def _separator(read_csv: Any) -> str:
    """The first separator that cuts the header into several columns."""
    for separator in _SEPARATORS:
        if len(read_csv(separator, nrows=0).columns) > 1:
            return separator
    return ","


def write_table(table: Any, target: str | None) -> None:
    """Write a DataFrame to a CSV or Parquet file, or as CSV to standard output."""
    if target is not None and target.lower().endswith(_PARQUET):
        _parquet(table.to_parquet, target, index=False)
    else:
        table.to_csv(sys.stdout if target is None else Path(target), index=False)


def _parquet(call: Any, *args: Any, **kwargs: Any) -> Any:
    try:
        return call(*args, **kwargs)
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install 'residuum[cli]'") from error
