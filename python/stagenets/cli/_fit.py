"""``stagenets fit``: a model file from a table."""

from __future__ import annotations

import argparse
import ast
import inspect
import json
from typing import Any

from stagenets.cli._usage import (
    UsageError,
    add_table_options,
    check_output,
    columns_named,
    counted,
    read_data,
    remark,
)

_EXAMPLES = """examples:
  stagenets fit iris.csv --target species --out iris.model
  stagenets fit houses.parquet --target price --model elm --n-hidden 300 --out houses.model
  stagenets fit iris.csv --target species --search --out iris.model
  stagenets fit iris.csv --target species --set early_stopping=cv --out iris.model
  stagenets fit survey.csv --target income --weights households --out survey.model
  stagenets fit fraud.csv --target fraud --class-weight balanced --out fraud.model
  gunzip -c flights.csv.gz | stagenets fit - --target delay --missing '?' --out flights.model

Missing numbers are replaced by the column's median, and a further input says where they were
missing; true and false become 1 and 0. A column of text becomes one input per category. Missing
text is a category of its own; text never seen in training is encoded as zeros. Dates become year,
month, day of the week and elapsed days. Likely identifiers (texts or rising whole numbers that are
all different), empty columns and rows without a target are left out. Scores are means over folds
held out from fits of the same size and penalty, ± their standard deviation.
"""

_MODELS = ("rvfl", "elm", "bls")
_MAX_CATEGORIES = 50  # fewer than by default in Python: nobody has chosen the columns

# Of fewer than these nobody waits to hear.
_MANY_COLUMNS = 10_000

# Options that set parameters of the estimator, and their names with --search.
_PARAMETERS = {
    "n_hidden": "max_hidden",
    "loss": "losses",
    "alpha": "alphas",
    "pool_size": "pool_sizes",
    "block_size": "block_sizes",
    "activation": "activations",
}


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Register the command."""
    from stagenets.cli._table_model import MOST_CLASSES
    from stagenets.fitting._parameters import ACTIVATIONS

    parser = commands.add_parser(
        "fit",
        help="fit a model to a table and write it to a file",
        description="Fit a network to a CSV or Parquet table. The model file holds the network and "
        "the\ntreatment of the table's columns as plain data, nothing executable.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_table_options(parser)
    parser.add_argument(
        "--target",
        required=True,
        action="append",
        metavar="COL",
        help="column to predict; repeatable if all of them hold numbers",
    )
    parser.add_argument("--out", required=True, metavar="MODEL", help="file to write")
    parser.add_argument(
        "--model", choices=_MODELS, default=_MODELS[0], help="network to fit (default: %(default)s)"
    )
    parser.add_argument(
        "--task",
        choices=("auto", "classification", "regression"),
        default="auto",
        help="default: %(default)s, which is classification for texts, flags and up to "
        f"{MOST_CLASSES} different whole numbers, and regression otherwise",
    )
    parser.add_argument(
        "--search", action="store_true", help="choose size and penalty by cross-validation"
    )
    parser.add_argument(
        "--folds",
        type=int,
        default=5,
        metavar="N",
        help="folds for the held-out scores, which take a fit each; 0 for none (default: "
        "%(default)s)",
    )
    parser.add_argument(
        "--drop", action="append", default=[], metavar="COL", help="column to ignore; repeatable"
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="COL",
        help="column to use even if it looks like an identifier; repeatable",
    )
    parser.add_argument(
        "--weights",
        metavar="COL",
        help="column of weights: a row of weight 3 counts as three rows, in fits and in scores",
    )
    parser.add_argument(
        "--class-weight",
        choices=("balanced",),
        help="balanced: all classes count the same in the fit, however rare they are",
    )
    parser.add_argument(
        "--day-first", action="store_true", help="dates such as 3/4/2024 begin with the day"
    )
    parser.add_argument(
        "--max-categories",
        type=int,
        default=_MAX_CATEGORIES,
        metavar="N",
        help="most inputs per text column (default: %(default)s)",
    )
    group = parser.add_argument_group(
        "the network",
        "Defaults apply without --search, which tries several penalties and all sizes.",
    )
    group.add_argument(
        "--n-hidden",
        type=int,
        metavar="N",
        help=f"hidden units; with --search, the most to try {_defaults('n_hidden')}",
    )
    group.add_argument(
        "--loss",
        metavar="NAME",
        help="squared; log (classes), huber (numbers) or bounded (either), for wrong labels and "
        f"outliers {_defaults('loss')}",
    )
    group.add_argument("--alpha", type=float, help=f"ridge penalty {_defaults('alpha')}")
    group.add_argument(
        "--pool-size", type=int, metavar="M", help=f"candidates per stage {_defaults('pool_size')}"
    )
    group.add_argument(
        "--block-size",
        type=int,
        metavar="K",
        help=f"units kept per stage {_defaults('block_size')}",
    )
    group.add_argument(
        "--activation",
        metavar="NAME",
        help=f"{', '.join(ACTIVATIONS[:-1])} or {ACTIVATIONS[-1]} {_defaults('activation')}",
    )
    group.add_argument(
        "--seed", type=int, default=0, help="seed of the random draws (default: %(default)s)"
    )
    group.add_argument("--jobs", type=int, metavar="N", help="threads")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other parameter of the estimator; repeatable",
    )
    parser.add_argument("--json", action="store_true", help="print the scores as JSON")
    parser.set_defaults(run=run)


def _signature_default(cls: type, name: str) -> Any:
    return inspect.signature(cls).parameters[name].default


def _defaults(name: str) -> str:
    """A parameter's defaults for a help text: "(default: 3; bls: 1, in regression 0.01)"."""
    shown = {model: _default(model, name) for model in _MODELS}
    usual = shown[_MODELS[0]]
    others = [f"{model}: {text}" for model, text in shown.items() if text != usual]
    return f"(default: {'; '.join([usual, *others])})"


def _default(model: str, name: str) -> str:
    import stagenets

    classifier, regressor, search = (
        getattr(stagenets, model.upper() + kind)
        for kind in ("Classifier", "Regressor", "ClassifierCV")
    )
    if name in inspect.signature(classifier).parameters:
        values = [_signature_default(cls, name) for cls in (classifier, regressor)]
        shown = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
        return ", in regression ".join(dict.fromkeys(shown))
    searched = _PARAMETERS[name] in inspect.signature(search).parameters
    return "with --search only" if searched else "not available"


def run(options: argparse.Namespace) -> int:
    """Read, fit, judge, write."""
    from stagenets.cli._table_model import guess_task, targets_of
    from stagenets.export._files import save_model

    parameters = _parameters(options)
    check_output(options.out, options.data)
    if options.max_categories < 1:
        raise UsageError(f"--max-categories must be at least 1; got {options.max_categories}")
    if options.folds < 0 or options.folds == 1:
        raise UsageError(f"--folds must be 0 or at least 2; got {options.folds}")
    read = read_data(options)
    for text in read.remarks:
        remark(options, text)
    columns = list(read.frame.columns)
    targets, dropped, kept = (
        columns_named(words, columns, options.data)
        for words in (options.target, options.drop, options.keep)
    )
    table = _with_targets(options, read.frame.drop(columns=set(dropped) - {*targets}), targets)
    table, weights = _with_weights(options, table, columns)
    task = guess_task(table[targets]) if options.task == "auto" else options.task
    if options.class_weight and task == "regression":
        raise UsageError("--class-weight is for classes; this is a regression")
    y = targets_of(table[targets], task)
    types = _column_types(options, table, targets, kept, read.decimal)
    X = types.transform(table)
    remark(options, f"{_task(options, task, targets, y)}: {len(table)} rows, {_columns(types)}")

    if options.class_weight:
        parameters["class_weight"] = options.class_weight
    network = _estimator(options, task)(**parameters).fit(X, y, sample_weight=weights)
    notes: dict[str, Any] = {"rows": len(table)}
    if options.search:
        from stagenets.cli._search_note import note_of

        remark(options, _search_result(network))
        notes["search"] = note_of(network)
        network = network.best_estimator_
    for name, rare in types.unlisted(table, network.network_).items():
        remark(
            options,
            f"column {name!r}: {rare.total()} rows hold one of {len(rare)} rarer texts, which get "
            "no input (--max-categories)",
        )
    report = _report(options, network, X, y, weights)
    notes["scores"] = report.plain()
    network.set_params(verbose=0)
    save_model(network, options.out, table=types.to_plain(), notes=notes)
    inputs = counted(network.network_.n_inputs, "input")
    units = counted(network.n_hidden_, "unit")
    remark(options, f"{options.out}: {type(network).__name__} of {inputs} and {units}")
    if options.json:
        facts = {"model": options.out, "task": task, "rows": len(table)}
        print(json.dumps({**facts, **report.plain()}))
    else:
        for line in report.lines():
            remark(options, line)
    return 0


def _estimator(options: argparse.Namespace, task: str) -> Any:
    import stagenets

    kind = "Classifier" if task == "classification" else "Regressor"
    return getattr(stagenets, options.model.upper() + kind + ("CV" if options.search else ""))


def _parameters(options: argparse.Namespace) -> dict[str, Any]:
    """Parameters of the estimator by name; unknown names are refused."""
    given = {name: getattr(options, name) for name in _PARAMETERS}
    if options.search:
        given = {
            search_name: given[name] if name == "n_hidden" or given[name] is None else [given[name]]
            for name, search_name in _PARAMETERS.items()
        }
    parameters = {name: value for name, value in given.items() if value is not None}
    for setting in options.set:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--set must be NAME=VALUE; got {setting!r}")
        parameters[name] = _value(value)
    known = _estimator(options, "classification")().get_params()
    for name in parameters:
        if name not in known:
            search = " --search" if options.search else ""
            raise UsageError(
                f"--model {options.model}{search} has no parameter {name}; it has "
                f"{', '.join(sorted(known))} (--set NAME=VALUE)"
            )
    verbose = 0 if options.quiet else 1
    defaults = {
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "verbose": verbose,
        "max_categories": options.max_categories,
    }
    return {**defaults, **parameters}


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _with_targets(options: argparse.Namespace, table: Any, targets: list[str]) -> Any:
    """The rows whose targets are known."""
    for name in targets:
        known = table[name].notna()
        if not known.any():
            raise ValueError(f"column {name!r} has no values")
        if not known.all():
            remark(options, f"rows without {name!r} left out: {len(table) - known.sum()}")
        table = table[known]
    return table


def _with_weights(options: argparse.Namespace, table: Any, columns: list[str]) -> tuple[Any, Any]:
    """The rows with a weight and without the column of weights, and the weights, if any."""
    from stagenets.cli._table_columns import numbers_of
    from stagenets.fitting._weights import checked_weights, with_weight

    if options.weights is None:
        return table, None
    (name,) = columns_named([options.weights], columns, options.data)
    if name not in table.columns or name in options.target:
        raise UsageError(f"--weights must not be a --target or in --drop; got {name!r}")
    missing = int(table[name].isna().sum())
    if missing:
        raise ValueError(
            f"column {name!r} of weights must have a number in every row; {missing} rows have none"
        )
    try:
        weights = checked_weights(numbers_of(name, table[name]), len(table))
    except ValueError as error:
        raise ValueError(f"column {name!r} of weights: {error}") from error
    weights, table = with_weight(weights, table)
    return table.drop(columns=name), weights


def _task(options: argparse.Namespace, task: str, targets: list[str], y: Any) -> str:
    names = ", ".join(map(repr, targets))
    if task == "regression":
        return f"regression of {names}"
    classes = len(set(y.tolist()))
    guessed = options.task == "auto" and y.dtype.kind == "i" and classes > 2
    hint = ", --task regression if they are quantities" if guessed else ""
    return f"classification of {names} ({classes} classes{hint})"


def _column_types(
    options: argparse.Namespace, table: Any, targets: list[str], kept: list[str], decimal: Any
) -> Any:
    from stagenets.cli._column_types import ColumnTypes
    from stagenets.fitting._progress import count_progress

    types = ColumnTypes(
        target=targets[0] if len(targets) == 1 else targets,
        keep=kept,
        day_first=options.day_first,
        missing=options.missing,
        decimal=decimal,
    )
    watched = not options.quiet and table.shape[1] >= _MANY_COLUMNS
    with count_progress("reading", int(watched), unit="column") as progress:
        types.fit(table, progress=progress)
    for name, reason in types.left_out_.items():
        remark(options, f"column {name!r} is left out: it {reason}")
    for text in types.remarks_:
        remark(options, text)
    return types


def _report(options: argparse.Namespace, network: Any, X: Any, y: Any, weights: Any) -> Any:
    from stagenets.cli._fit_report import FitReport
    from stagenets.cli._held_out import held_out_scores
    from stagenets.cli._metrics import Answers, metrics_for, scores_of

    metrics = metrics_for(network)
    held_out = held_out_scores(
        network, X, y, metrics, weights, folds=options.folds, verbose=int(not options.quiet)
    )
    training = scores_of(Answers.of(network, X, y, weights), metrics)
    return FitReport(metrics, training, held_out, _chosen(options, network))


def _chosen(options: argparse.Namespace, network: Any) -> str:
    """What the training rows chose, in words."""
    from stagenets.fitting._parameters import is_auto

    penalty = options.search or is_auto(network.alpha)
    size = options.search or network.early_stopping or len(getattr(network, "cv_sizes_", ())) > 1
    return " and ".join(["the size"] * bool(size) + ["the penalty"] * penalty)


def _columns(types: Any) -> str:
    from stagenets.cli._table_columns import DateColumn, NumberColumn, TextColumn

    def count(kind: type) -> int:
        return sum(isinstance(column, kind) for column in types.columns_)

    kinds = f"{count(NumberColumn)} of numbers, {count(TextColumn)} of text"
    if count(DateColumn):
        kinds += f", {count(DateColumn)} of dates"
    return f"{counted(len(types.columns_), 'column')} ({kinds})"


def _search_result(search: Any) -> str:
    best = ", ".join(f"{name} = {value}" for name, value in sorted(search.best_params_.items()))
    return f"cross-validated score {search.best_score_:.4f} with {best}"
