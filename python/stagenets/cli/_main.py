"""The command line: ``stagenets COMMAND`` or ``python -m stagenets COMMAND``.

A command is a module with ``add_commands(commands)``, which adds a parser to argparse's subparsers.
The parser's default ``run`` is a function that takes the options and returns the exit code.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from stagenets.cli import _demo, _export, _fit, _info, _plot, _predict, _score
from stagenets.cli._usage import UsageError
from stagenets.study import _command as _study

_EXAMPLES = """examples:
  stagenets fit iris.csv --target species --out iris.model
  stagenets predict iris.model new.csv > predictions.csv
  stagenets score iris.model test.csv
  stagenets info iris.model
  stagenets plot iris.model test.csv --out pictures
  stagenets export iris.model --to onnx --out iris.onnx

exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted
"""

_FAILURE, _INTERRUPTED, _BROKEN_PIPE = 1, 130, 141  # the last two as shells report signals


def _parser() -> argparse.ArgumentParser:
    import stagenets

    parser = argparse.ArgumentParser(
        prog="stagenets",
        description="Randomized neural networks whose hidden units are chosen, not just drawn.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"stagenets {stagenets.__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks of errors")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (_fit, _predict, _score, _info, _plot, _export, _demo, _study):
        module.add_commands(commands)
    for command in commands.choices.values():
        command.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks"
        )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"stagenets {options.command}: warning: {message}", file=sys.stderr)

    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            code: int = options.run(options)
        sys.stdout.flush()
        return code
    except UsageError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print("stagenets: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone. Python would raise the same error again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except Exception as error:
        if options.debug:
            raise
        print(f"stagenets {options.command}: {_message(error)}", file=sys.stderr)
        return _FAILURE


def _message(error: Exception) -> str:
    text = str(error) or type(error).__name__
    return f"not enough memory: {text}" if isinstance(error, MemoryError) else text
