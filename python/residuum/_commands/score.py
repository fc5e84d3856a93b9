"""``residuum score``: how good a model's predictions for a table are."""

from __future__ import annotations

import argparse
import json
from typing import Any

from residuum._commands.usage import add_table_options, load_table_model, read_data

_EXAMPLES = """examples:
  residuum score iris.model test.csv
  residuum score iris.model test.csv --json | jq .score
"""


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "score",
        help="accuracy or R² of the predictions for a table",
        description="Accuracy (classifiers) or R² (regressors) of the predictions for a table that "
        "has the target's column.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="file written by residuum fit")
    add_table_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Load, read, score, print."""
    from sklearn.base import is_classifier

    from residuum._table_model import targets_of

    model = load_table_model(options.model)
    encoder = model["table"]
    name = encoder.target
    classifies = is_classifier(model)
    texts = [name] if classifies and model.classes_.dtype == object else []
    table = read_data(options, text=[*encoder.category_columns, *texts], missing=encoder.missing)
    if name not in table.columns:
        raise ValueError(f"the table must have the target's column {name!r}")
    table = table[table[name].notna()]
    if len(table) == 0:
        raise ValueError(f"column {name!r} has no values")
    y = targets_of(table[name].infer_objects(), "classification" if classifies else "regression")
    result = {
        "metric": "accuracy" if classifies else "r2",
        "score": float(model.score(table, y)),
        "rows": len(table),
    }
    if options.json:
        print(json.dumps(result))
    else:
        metric = "accuracy" if classifies else "R²"
        print(f"{metric} {result['score']:.4f} on {result['rows']} rows")
    return 0
