"""Tables as Markdown and CSV, and the folder that the benchmarks write them to."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def add_output_option(parser: argparse.ArgumentParser) -> None:
    """--out DIR, by default docs/benchmarks."""
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=Path(__file__).resolve().parent.parent / "docs" / "benchmarks",
        help="folder to write to (default: docs/benchmarks)",
    )


def cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def markdown(rows: Sequence[Row]) -> str:
    """A Markdown table; the keys of the first row are its header."""
    names = list(rows[0])
    lines = [names, ["---"] * len(names)]
    lines += [[cell(row.get(name)) for name in names] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def write_csv(path: Path, rows: Iterable[Row]) -> None:
    rows = list(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"wrote {path.name}")


def write_markdown(path: Path, title: str, note: str, rows: Sequence[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {title}\n\n{note}\n\n{markdown(rows)}", encoding="utf-8")
    print(f"wrote {path.name}")
