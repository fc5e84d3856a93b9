"""``stagenets score``: how good a model's predictions for a table are."""

from __future__ import annotations

import argparse
import json
from typing import Any

from stagenets.cli._usage import add_table_options, load_table_model, remark

_EXAMPLES = """examples:
  stagenets score iris.model test.csv
  stagenets score iris.model test.csv --metrics accuracy,f1
  stagenets score iris.model test.csv --json | jq .scores.accuracy
"""


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "score",
        help="accuracy, R² and other measures of the predictions for a table",
        description="Print how good the predictions are for a table that contains the target.\n"
        "Measures for classes: accuracy, balanced_accuracy, log_loss, roc_auc, f1;\n"
        "for numbers: r2, rmse, mae.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="file written by stagenets fit")
    add_table_options(parser)
    parser.add_argument(
        "--metrics", metavar="NAMES", help="measures, with commas (default: all but f1)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Load, read, score, print."""
    from stagenets.cli._metrics import metrics_for, plain_scores, scores_of, shown
    from stagenets.cli._table_answers import answers_for, labelled_rows

    model = load_table_model(options.model)
    metrics = metrics_for(model, options.metrics.split(",") if options.metrics else ())
    table, y = labelled_rows(model, options)
    answers = answers_for(model, table, y, options)
    if answers.classes is not None:
        unknown = sum(label not in answers.classes for label in y.tolist())
        if unknown:
            remark(options, f"{unknown} rows are of a class that the model does not know")
    scores = scores_of(answers, metrics)
    if options.json:
        print(json.dumps({"rows": len(table), "scores": plain_scores(scores)}))
    else:
        print(f"{len(table)} rows")
        width = max(len(metric.title) for metric in metrics.values())
        for name, metric in metrics.items():
            print(f"{metric.title:{width}}  {shown(scores[name])}")
    return 0
