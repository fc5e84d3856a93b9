"""``stagenets study`` and ``stagenets fetch``."""

from __future__ import annotations

import argparse
import ast
import shlex
import sys
from pathlib import Path
from typing import Any


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Register both commands; each parser's ``run`` default takes the options."""
    _add_study(commands)
    _add_fetch(commands)


def _add_study(commands: argparse._SubParsersAction[Any]) -> None:
    from stagenets.study._protocols import SoundProtocol

    parser = commands.add_parser(
        "study",
        help="compare guided and one-shot networks on a folder of data sets",
        description="Evaluate models on data sets and write tables, statistical tests and plots to "
        "OUT/PROTOCOL. Rows are written as they are computed; the same command resumes an "
        "interrupted run.",
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder of NAME.npz files with X and y"
    )
    parser.add_argument("--out", type=Path, metavar="OUT", required=True, help="folder of results")
    parser.add_argument(
        "--task",
        choices=("classification", "regression"),
        default="classification",
        help="regression has a protocol of its own, and generated data sets beside those in DIR "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--protocol",
        default="paper",
        help="paper or sound, for classification (default: %(default)s)",
    )
    parser.add_argument("--sets", metavar="A,B,…", help="data sets (default: all in DIR)")
    parser.add_argument(
        "--models",
        metavar="A,B,…",
        help="models, such as RVFL,RG-RVFL,'RG-RVFL default' or 'ELMClassifier(alpha=0.1)' "
        "(default: all models of the protocol)",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        help=f"repeats of the outer folds (sound only; default: {SoundProtocol.repeats}, or "
        f"{SoundProtocol.large_repeats} with more than {SoundProtocol.large} rows)",
    )
    parser.add_argument(
        "--seed", type=int, help=f"seed of draws and shuffles (default: {SoundProtocol.seed})"
    )
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="NAME=V1,V2,…",
        help="override a setting of the protocol, such as activations=sigmoid,relu; repeatable",
    )
    parser.add_argument(
        "--published", type=Path, metavar="CSV", help="published accuracies for comparison"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="processes (default: %(default)s)"
    )
    parser.add_argument(
        "--report-only",
        action="store_true",
        help="only rebuild the tables and plots from the existing rows",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run_study_command)


def _add_fetch(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser(
        "fetch",
        help="fetch classification data sets from OpenML in the format of the study",
        description="Fetch classification data sets from openml.org and write NAME.npz files with "
        "X, y and the names of the classes and inputs.",
    )
    parser.add_argument(
        "names",
        nargs="+",
        metavar="NAME",
        help="a name, NAME:VERSION, or the number of a data set",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="folder to write to")
    parser.add_argument(
        "--one-hot", action="store_true", help="one column per category instead of codes"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run_fetch_command)


def _names(text: str | None) -> list[str] | None:
    from stagenets.study._models import split_names

    return None if text is None else split_names(text)


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _changes(options: argparse.Namespace) -> dict[str, list[Any]]:
    changes: dict[str, list[Any]] = {}
    for setting in options.setting:
        name, equals, values = setting.partition("=")
        if not equals:
            raise ValueError(f"--setting must be NAME=VALUE or NAME=V1,V2,…; got {setting!r}")
        changes[name] = [_value(value) for value in values.split(",") if value]
    for name in ("repeats", "seed"):
        if getattr(options, name) is not None:
            changes[name] = [getattr(options, name)]
    return changes


def _which(options: argparse.Namespace) -> list[str]:
    """The options that name the protocol, its name last."""
    if options.task == "regression":
        return ["--task", "regression"]
    return ["--protocol", options.protocol]


def _command_line(options: argparse.Namespace) -> str:
    """The command without folder names, which mean nothing elsewhere."""
    parts = ["stagenets", "study", "--data", "DIR", *_which(options)]
    for name in ("sets", "models", "repeats", "seed"):
        if getattr(options, name) is not None:
            parts += [f"--{name}", str(getattr(options, name))]
    for setting in options.setting:
        parts += ["--setting", setting]
    if options.published is not None:
        parts += ["--published", options.published.name]
    parts += ["--jobs", str(options.jobs), "--out", "OUT"]
    return shlex.join(parts)


def run_study_command(options: argparse.Namespace) -> int:
    """Run the remaining tasks, then write the report; 1 if anything failed."""
    try:
        return _study(options)
    except KeyboardInterrupt:
        print("\nstagenets study: stopped; the same command resumes from here", file=sys.stderr)
        return 130


def _study(options: argparse.Namespace) -> int:
    from stagenets.study._models import check_models
    from stagenets.study._protocols import make_protocol
    from stagenets.study._records import read_rows
    from stagenets.study._regression_report import write_regression_report
    from stagenets.study._report import write_report
    from stagenets.study._results import read_published
    from stagenets.study._runner import run_study

    protocol = make_protocol(_which(options)[-1], _changes(options))
    published = None if options.published is None else read_published(options.published)
    out = options.out / protocol.name
    failed = False
    if not options.report_only:
        if options.jobs < 1:
            raise ValueError(f"--jobs must be at least 1; got {options.jobs}")
        run = run_study(
            protocol,
            options.data,
            protocol.choose(options.data, _names(options.sets)),
            check_models(_names(options.models) or protocol.models(), protocol.find),
            out,
            jobs=options.jobs,
            quiet=options.quiet,
            command=_command_line(options),
        )
        failed = bool(run.failures)
        print(f"{run.added} rows in {run.seconds:.1f} s, {len(run.failures)} failures")
        for failure in run.failures:
            task = failure.task
            print(f"FAILED {task.dataset} {task.model}: {failure.message}", file=sys.stderr)
        if failed:
            print(f"details in {out / 'failures.csv'}", file=sys.stderr)
    if options.report_only or read_rows(out / "rows.csv"):
        if protocol.name == "regression":
            path, remark = write_regression_report(out)
        else:
            path, remark = write_report(out, published, options.data)
        print(f"report: {path}")
        if remark:
            print(remark, file=sys.stderr)
    return int(failed)


def run_fetch_command(options: argparse.Namespace) -> int:
    """Fetch one data set after another; 1 if any of them failed."""
    from stagenets.study._fetch import fetch
    from stagenets.study._progress import Progress

    failed = 0
    with Progress(len(options.names), 0, options.quiet, unit="set") as progress:
        for name in options.names:
            try:
                fetched = fetch(name, options.out, one_hot=options.one_hot)
            except (ValueError, OSError) as error:
                failed += 1
                progress.tell(f"stagenets fetch: {name}: {error}", file=sys.stderr)
            else:
                progress.tell(str(fetched))
            progress.advance(name)
    return 1 if failed else 0
