"""``stagenets predict``: predictions for a table."""

from __future__ import annotations

import argparse
from typing import Any

from stagenets.cli._usage import (
    add_table_options,
    check_output,
    columns_named,
    load_table_model,
)

_EXAMPLES = """examples:
  stagenets predict iris.model new.csv --out predictions.csv
  stagenets predict iris.model new.csv --keep id,name --proba | head
  cat new.csv | stagenets predict iris.model -
  stagenets predict prices.model new.csv --interval 0.9

The table must have the columns of the training table, in any order; other columns are ignored.
"""


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "predict",
        help="predict the target for the rows of a table",
        description="Predict the target for every row of a table. The result is a CSV or Parquet "
        "table\nwith the same rows and the column prediction.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="file written by stagenets fit")
    add_table_options(parser)
    parser.add_argument("--out", metavar="FILE", help="CSV or Parquet (default: CSV on stdout)")
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="COLS",
        help="columns of the table to put before the predictions, with commas; repeatable",
    )
    parser.add_argument(
        "--proba", action="store_true", help="add one column probability_CLASS per class"
    )
    parser.add_argument(
        "--interval",
        type=float,
        metavar="COVERAGE",
        help="add the columns lower and upper: an interval that holds the target with this "
        "probability, such as 0.9; for models fitted with --set intervals=cv",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Load, read, predict, write."""
    from stagenets.cli._table_answers import in_parts, rows_for
    from stagenets.cli._table_files import check_table_target, import_pandas, write_table

    if options.out is not None:
        check_table_target(options.out)
        check_output(options.out, options.model, options.data)
    model = load_table_model(options.model)
    if options.proba and not hasattr(model, "predict_proba"):
        raise ValueError(f"--proba is for classifiers; {options.model} is a regressor")
    if options.interval is not None and not hasattr(model[-1], "predict_interval"):
        raise ValueError(f"--interval is for regressors; {options.model} is a classifier")
    if options.interval is not None and model[-1].network_.uncertainty is None:
        raise ValueError(
            f"{options.model} does not know its errors: fit it with --set intervals=cv"
        )
    numbers = {c.name for c in model["table"].columns_} - {*model["table"].text_columns}
    wanted = {*options.keep, *",".join(options.keep).split(",")}
    table = rows_for(model, options, text=[*(wanted - numbers)])  # 007 is to stay 007
    kept = columns_named(options.keep, list(table.columns), options.data)
    targets = model["table"].targets
    names = [f"prediction_{name}" for name in targets] if len(targets) > 1 else ["prediction"]
    predictions = in_parts(model.predict, table, options, "predicting")
    columns = dict(zip(names, predictions.reshape(len(table), -1).T, strict=True))
    if options.proba:
        found = in_parts(model.predict_proba, table, options, "predicting probabilities")
        labels = [f"probability_{label}" for label in model.classes_]
        columns |= dict(zip(labels, found.T, strict=True))
    if options.interval is not None:

        def interval(rows: Any) -> Any:
            return model[-1].predict_interval(model[:-1].transform(rows), options.interval)

        ends = in_parts(interval, table, options, "predicting intervals")
        ends = ends.reshape(len(table), 2, -1)
        for number, name in enumerate(names):
            for end, title in enumerate(("lower", "upper")):
                columns[name.replace("prediction", title, 1)] = ends[:, end, number]
    result = import_pandas().DataFrame(columns, index=table.index)
    write_table(table[kept].join(result) if kept else result, options.out)
    return 0
