"""``residuum predict``: predictions for a table."""

from __future__ import annotations

import argparse
from typing import Any

from residuum._commands.usage import add_table_options, load_table_model, read_data

_EXAMPLES = """examples:
  residuum predict iris.model new.csv --out predictions.csv
  residuum predict iris.model new.csv --proba | head
  cat new.csv | residuum predict iris.model -

The table has the columns of the training table, in any order; others are ignored.
"""


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "predict",
        help="predict the target for the rows of a table",
        description="Predict the target for every row of a table: a CSV or Parquet table with the "
        "column prediction, a row for each.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="file written by residuum fit")
    add_table_options(parser)
    parser.add_argument("--out", metavar="FILE", help="CSV or Parquet (default: CSV on stdout)")
    parser.add_argument(
        "--proba", action="store_true", help="add a column probability_CLASS for each class"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Load, read, predict, write."""
    from residuum._table_files import import_pandas, write_table

    model = load_table_model(options.model)
    if options.proba and not hasattr(model, "predict_proba"):
        raise ValueError(f"--proba is for classifiers; {options.model} is a regressor")
    encoder = model["table"]
    table = read_data(options, text=encoder.category_columns, missing=encoder.missing)
    columns = {"prediction": model.predict(table)}
    if options.proba:
        probabilities = model.predict_proba(table)
        for label, column in zip(model.classes_, probabilities.T, strict=True):
            columns[f"probability_{label}"] = column
    write_table(import_pandas().DataFrame(columns), options.out)
    return 0
