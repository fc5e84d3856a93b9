"""What the commands share: usage errors, remarks, and the options for tables and models."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

#: Bytes of a file that takes some seconds to read, at least if it has many columns.
_TAKES_A_WHILE = 10_000_000


class UsageError(Exception):
    """A command line that is wrong whatever the data."""


def remark(options: argparse.Namespace, text: str) -> None:
    """Print a remark on standard error, unless --quiet is given."""
    if not options.quiet:
        print(text, file=sys.stderr)


def counted(number: int, thing: str) -> str:
    """ "1 unit", "2 units"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def shortened(text: str, most: int) -> str:
    """The text, with an ellipsis in place of what is beyond `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def listed(names: Iterable[str], most: int = 10) -> str:
    """The names in quotes, and how many more there are."""
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - most} more" if len(quoted) > most else ""
    return ", ".join(quoted[:most]) + more


def add_table_options(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Add the options for the data and how to read them."""
    parser.add_argument(
        "data",
        metavar="DATA",
        nargs="?" if optional else None,
        help="CSV, Parquet or Feather file, also compressed (gzip, bzip2, xz, zip); - is stdin",
    )
    group = parser.add_argument_group("reading CSV")
    group.add_argument(
        "--sep",
        "--separator",
        dest="separator",
        type=_one_character,
        help="one character, or \\t for a tab (default: comma, semicolon, tab or |, inferred from "
        "the first lines)",
    )
    group.add_argument(
        "--decimal",
        choices=(".", ","),
        metavar="SIGN",
        help="decimal point or comma: . or , (default: the one that the numbers show)",
    )
    group.add_argument(
        "--no-header",
        action="store_true",
        help="the first line holds data; the columns are called 1, 2, 3, …",
    )
    group.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="WORD",
        help="a word for missing values, in addition to the empty string, NA, NaN, null, …; "
        "repeatable",
    )
    group.add_argument("--encoding", help="default: UTF-8")
    parser.add_argument("--quiet", action="store_true", help="no progress and no remarks")


def _one_character(text: str) -> str:
    """A separator from the command line, where a tab is hard to type."""
    separator = "\t" if text == "\\t" else text
    if len(separator) != 1:
        raise argparse.ArgumentTypeError(f"must be one character, or \\t for a tab; got {text!r}")
    return separator


def read_data(
    options: argparse.Namespace,
    *,
    text: Collection[str] = (),
    missing: Collection[str] = (),
    usual_decimal: str | None = None,
) -> Any:
    """Read the table named by the options: a `Table`."""
    from stagenets.cli._table_files import CSVOptions, read_table
    from stagenets.fitting._progress import count_progress

    path = Path(options.data)
    long = path.is_file() and path.stat().st_size >= _TAKES_A_WHILE
    watched = int(long and not options.quiet)
    with count_progress(f"reading {options.data}", watched, unit="megabyte") as progress:
        return read_table(
            options.data,
            CSVOptions(options.separator, options.decimal, options.encoding, not options.no_header),
            missing=[*options.missing, *missing],
            text=text,
            usual_decimal=usual_decimal,
            progress=progress,
        )


def columns_named(words: Iterable[str], columns: Collection[str], data: str) -> list[str]:
    """Columns given as names or as lists of names with commas; ValueError for unknown ones."""
    names: list[str] = []
    for word in words:
        names += [word] if word in columns else word.split(",")
    for name in names:
        if name not in columns:
            hint = ""
            if any(column.replace(".", "").isdigit() for column in columns):
                hint = " (if its first line holds data, add --no-header)"
            elif len(columns) == 1:
                hint = " (if that is several columns, give their --sep)"
            raise ValueError(f"{name!r} is not a column of {data}; it has {listed(columns)}{hint}")
    return list(dict.fromkeys(names))


def check_output(path: str, *sources: str) -> None:
    """Refuse, before any work, a file that cannot be written or that is also read."""
    target = Path(path).absolute()
    if target.is_dir():
        raise ValueError(f"--out must be a file; {path!r} is a folder")
    if not target.parent.is_dir():
        raise ValueError(f"--out must be a file in a folder that exists; got {path!r}")
    if any(Path(source).absolute() == target for source in sources):
        raise ValueError(f"--out must be another file than those read; got {path!r}")


def load_table_model(path: str) -> Any:
    """The encoder and the network of a file that `stagenets fit` wrote."""
    from sklearn.pipeline import Pipeline

    model = load_model(path, hint="; the model comes first, then the data")
    if not isinstance(model, Pipeline):
        raise ValueError(
            f"{path} holds a bare {type(model).__name__}, which does not accept tables: use it in "
            "Python, with stagenets.load"
        )
    return model


def load_model(path: str, hint: str = "") -> Any:
    """What is in a model file; the hint says what may be wrong if it is none."""
    from stagenets import load

    if Path(path).is_file():
        with open(path, "rb") as file:
            if file.read(10)[8:] != b'{"':
                raise ValueError(f"{path} is not a model file{hint}")
    return load(path)
