"""``residuum study`` and ``residuum fetch``."""

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
    parser = commands.add_parser(
        "study",
        help="compare guided and one-shot networks on a folder of data sets",
        description="Judge models on data sets and write tables, tests and pictures to "
        "OUT/PROTOCOL. Rows are written as they come; the same command goes on where a run was "
        "cut off.",
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder of NAME.npz files with X and y"
    )
    parser.add_argument("--out", type=Path, metavar="OUT", required=True, help="folder of results")
    parser.add_argument("--protocol", default="paper", help="paper (default) or sound")
    parser.add_argument("--sets", metavar="A,B,…", help="data sets (default: all in DIR)")
    parser.add_argument(
        "--models",
        metavar="A,B,…",
        help="models, such as RVFL,RG-RVFL,'RG-RVFL default' or 'ELMClassifier(alpha=0.1)' "
        "(default: all of the protocol's)",
    )
    parser.add_argument("--repeats", type=int, help="repeats of the outer folds (sound only)")
    parser.add_argument("--seed", type=int, help="seed of draws and shuffles (0)")
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="NAME=V1,V2,…",
        help="replace a setting of the protocol, such as activations=sigmoid,relu; repeatable",
    )
    parser.add_argument(
        "--published", type=Path, metavar="CSV", help="published accuracies, to compare with"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (1)")
    parser.add_argument(
        "--report-only", action="store_true", help="make tables and pictures of the rows there are"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run_study_command)


def _add_fetch(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser(
        "fetch",
        help="fetch classification sets from OpenML into the study's format",
        description="Fetch classification sets from openml.org and write NAME.npz files with X, y "
        "and the names of classes and inputs.",
    )
    parser.add_argument(
        "names",
        nargs="+",
        metavar="NAME",
        help="a name, NAME:VERSION, or the number of a data set",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="folder to write to")
    parser.add_argument(
        "--one-hot", action="store_true", help="a column for each category instead of codes"
    )
    parser.set_defaults(run=run_fetch_command)


def _names(text: str | None) -> list[str] | None:
    from residuum._study.models import split_names

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


def _command_line(options: argparse.Namespace) -> str:
    """The command without the names of folders, which mean nothing elsewhere."""
    parts = ["residuum", "study", "--data", "DIR", "--protocol", options.protocol]
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
    """Run what is left to run, then write the report; 1 if anything failed."""
    try:
        return _study(options)
    except KeyboardInterrupt:
        print("\nresiduum study: stopped; the same command goes on from here", file=sys.stderr)
        return 130


def _study(options: argparse.Namespace) -> int:
    from residuum._study.data import choose
    from residuum._study.models import check_models
    from residuum._study.protocols import make_protocol
    from residuum._study.records import read_rows
    from residuum._study.report import write_report
    from residuum._study.results import read_published
    from residuum._study.runner import run_study

    protocol = make_protocol(options.protocol, _changes(options))
    published = None if options.published is None else read_published(options.published)
    out = options.out / protocol.name
    failed = False
    if not options.report_only:
        if options.data is None:
            raise ValueError("--data must name a folder of NAME.npz files")
        if options.jobs < 1:
            raise ValueError(f"--jobs must be at least 1; got {options.jobs}")
        run = run_study(
            protocol,
            options.data,
            choose(options.data, _names(options.sets)),
            check_models(_names(options.models) or protocol.models()),
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
        path, remark = write_report(out, published, options.data)
        print(f"report: {path}")
        if remark:
            print(remark, file=sys.stderr)
    return int(failed)


def run_fetch_command(options: argparse.Namespace) -> int:
    """Fetch one set after another; 1 if any could not be had."""
    from residuum._study.fetch import fetch

    failed = 0
    for name in options.names:
        try:
            fetched = fetch(name, options.out, one_hot=options.one_hot)
        except (ValueError, OSError) as error:
            failed += 1
            print(f"residuum fetch: {name}: {error}", file=sys.stderr)
        else:
            print(fetched)
    return 1 if failed else 0
