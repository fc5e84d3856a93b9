"""``residuum fit``: a model file from a table."""

from __future__ import annotations

import argparse
import ast
from pathlib import Path
from typing import Any

from residuum._commands.usage import UsageError, add_table_options, read_data, remark

_EXAMPLES = """examples:
  residuum fit iris.csv --target species --out iris.model
  residuum fit houses.parquet --target price --model elm --n-hidden 300 --out houses.model
  residuum fit iris.csv --target species --search --out iris.model
  residuum fit iris.csv --target species --set selection=joint --out iris.model
  gunzip -c flights.csv.gz | residuum fit - --target delay --missing '?' --out flights.model

Missing numbers are replaced by the column's median; true and false are 1 and 0. Texts become an
input for each category; missing ones are a category, and those never seen in training have zeros
only. Dates, identifiers and empty columns are left out, and so are rows without a target.
"""

# Options that are parameters of the estimator, and what --search makes of them.
_PARAMETERS = {
    "n_hidden": "max_hidden",
    "alpha": "alphas",
    "pool_size": "pool_sizes",
    "block_size": "block_sizes",
    "activation": "activations",
}


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "fit",
        help="fit a model to a table and write it to a file",
        description="Fit a network to a CSV or Parquet table and write both the network and the "
        "treatment of the table's columns to a file that holds data only, nothing executable.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_table_options(parser)
    parser.add_argument("--target", required=True, metavar="COL", help="column to predict")
    parser.add_argument("--out", required=True, metavar="MODEL", help="file to write")
    parser.add_argument("--model", choices=("rvfl", "elm", "bls"), default="rvfl", help="(rvfl)")
    parser.add_argument(
        "--task",
        choices=("auto", "classification", "regression"),
        default="auto",
        help="auto: classification of texts, flags and up to 20 different whole numbers",
    )
    parser.add_argument(
        "--search", action="store_true", help="choose size and penalty by cross-validation"
    )
    parser.add_argument(
        "--drop", action="append", default=[], metavar="COL", help="column to ignore; repeatable"
    )
    parser.add_argument(
        "--max-categories", type=int, default=50, metavar="N", help="inputs per column of text (50)"
    )
    group = parser.add_argument_group("the network")
    group.add_argument(
        "--n-hidden", type=int, metavar="N", help="hidden units; with --search, the most to try"
    )
    group.add_argument("--alpha", type=float, help="ridge penalty (1)")
    group.add_argument("--pool-size", type=int, metavar="M", help="candidates a stage (100)")
    group.add_argument("--block-size", type=int, metavar="K", help="units kept a stage (1)")
    group.add_argument("--activation", metavar="NAME", help="sigmoid, tanh, relu, …")
    group.add_argument("--seed", type=int, default=0, help="seed of the draws (0)")
    group.add_argument("--jobs", type=int, metavar="N", help="threads")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other parameter of the estimator; repeatable",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress and no remarks")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, fit, write."""
    from residuum._files import save_model
    from residuum._table_model import guess_task, targets_of

    parameters = _parameters(options)
    if not Path(options.out).absolute().parent.is_dir():  # found out now, not after the fit
        raise ValueError(f"--out must be a file in a folder that exists; got {options.out!r}")
    table = read_data(options)
    for name in (options.target, *options.drop):
        if name not in table.columns:
            raise ValueError(
                f"{name!r} is not a column of {options.data}; it has "
                f"{', '.join(map(repr, table.columns))}"
            )
    table = _with_target(options, table.drop(columns=options.drop))
    target = table[options.target].infer_objects()
    task = guess_task(target) if options.task == "auto" else options.task
    y = targets_of(target, task)
    encoder = _encoder(options, table)
    network = _estimator(options, task)(**parameters)
    remark(options, f"{task} of {options.target!r}: {len(table)} rows, {_inputs(encoder)}")

    network.fit(encoder.transform(table), y)
    score = network.score(encoder.transform(table), y)
    if options.search:
        remark(options, _search_result(network))
        network = network.best_estimator_
    save_model(network.set_params(verbose=0), options.out, table=encoder.to_plain())
    measure = "accuracy" if task == "classification" else "R²"
    remark(
        options,
        f"{options.out}: {type(network).__name__} of {network.n_hidden_} units, "
        f"{measure} {score:.4f} on the training rows",
    )
    return 0


def _estimator(options: argparse.Namespace, task: str) -> Any:
    import residuum

    kind = "Classifier" if task == "classification" else "Regressor"
    return getattr(residuum, options.model.upper() + kind + ("CV" if options.search else ""))


def _parameters(options: argparse.Namespace) -> dict[str, Any]:
    """Parameters of the estimator, by name; every name is known to it."""
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
    defaults = {"random_state": options.seed, "n_jobs": options.jobs, "verbose": verbose}
    return {**defaults, **parameters}


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _with_target(options: argparse.Namespace, table: Any) -> Any:
    """The rows whose target is known."""
    known = table[options.target].notna()
    if not known.any():
        raise ValueError(f"column {options.target!r} has no values")
    if not known.all():
        remark(options, f"{len(table) - known.sum()} rows without {options.target!r} are left out")
    return table[known]


def _encoder(options: argparse.Namespace, table: Any) -> Any:
    from residuum._table_encoder import TableEncoder, word_among_numbers

    encoder = TableEncoder(
        target=options.target, max_categories=options.max_categories, missing=options.missing
    ).fit(table)
    for name, reason in encoder.left_out_.items():
        remark(options, f"column {name!r} is left out: it {reason}")
    for name in [*encoder.category_columns, *encoder.left_out_]:
        word = word_among_numbers(table[name])
        if word is not None:
            remark(
                options,
                f"column {name!r} is read as text because of {word!r}; if that stands for a "
                f"missing number, add --missing {word!r}",
            )
    return encoder


def _inputs(encoder: Any) -> str:
    columns, texts = len(encoder.columns_), len(encoder.category_columns)
    return (
        f"{columns} columns ({columns - texts} of numbers, {texts} of text), "
        f"{len(encoder.get_feature_names_out())} inputs"
    )


def _search_result(search: Any) -> str:
    best = ", ".join(f"{name} = {value}" for name, value in sorted(search.best_params_.items()))
    return f"cross-validated score {search.best_score_:.4f} with {best}"
