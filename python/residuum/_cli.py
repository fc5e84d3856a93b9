"""The command line: ``residuum COMMAND`` or ``python -m residuum COMMAND``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def _parser() -> argparse.ArgumentParser:
    import residuum

    parser = argparse.ArgumentParser(
        prog="residuum", description="Randomized neural networks with chosen hidden units."
    )
    parser.add_argument("--version", action="version", version=f"residuum {residuum.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo", help="train guided and one-shot networks on scikit-learn's data and compare them"
    )
    demo.add_argument("--repeats", type=int, default=5, help="random splits per data set (5)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    options = _parser().parse_args(arguments)
    from residuum._demo import run_demo

    run_demo(repeats=options.repeats)
    return 0
