"""What the commands share: errors of usage, remarks, and the options of tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection
from typing import Any


class UsageError(Exception):
    """A command that cannot mean anything, whatever the data."""


def remark(options: argparse.Namespace, text: str) -> None:
    """Tell the user something on standard error, unless with --quiet."""
    if not options.quiet:
        print(text, file=sys.stderr)


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """The data, and how to read them."""
    parser.add_argument("data", metavar="DATA", help="CSV or Parquet file; - is CSV on stdin")
    group = parser.add_argument_group("reading CSV")
    group.add_argument("--separator", help="default: , ; tab or | by the first line")
    group.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="WORD",
        help="a word for missing values, beside the empty one, NA, NaN, null, …; repeatable",
    )
    group.add_argument("--encoding", help="default: UTF-8")


def read_data(
    options: argparse.Namespace, *, text: Collection[str] = (), missing: Collection[str] = ()
) -> Any:
    """The table that the options name."""
    from residuum._table_files import read_table

    return read_table(
        options.data,
        separator=options.separator,
        missing=[*options.missing, *missing],
        encoding=options.encoding,
        text=text,
    )


def load_table_model(path: str) -> Any:
    """The encoder and the network of a file that `residuum fit` wrote."""
    from sklearn.pipeline import Pipeline

    from residuum import load

    model = load(path)
    if not isinstance(model, Pipeline):
        raise ValueError(
            f"{path} holds a bare {type(model).__name__}, which takes no tables: use it in "
            "Python, by residuum.load"
        )
    return model
