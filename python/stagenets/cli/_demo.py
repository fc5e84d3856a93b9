"""``stagenets demo``"""

from __future__ import annotations

import argparse
from typing import Any


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "demo", help="train guided and one-shot networks on scikit-learn's data and compare them"
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="random splits per data set (default: %(default)s)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train, compare and print."""
    from stagenets.cli._demo_table import run_demo

    run_demo(repeats=options.repeats)
    return 0
