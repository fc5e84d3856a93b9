"""Which preparation of the inputs comes closest to the published one-shot accuracies, set by set.

    python bench/paper_choices.py --data DIR --published CSV --out OUT

The published study does not say how its inputs were scaled. This script runs the baselines of
protocol `paper` (one-shot RVFL and ELM, never the guided networks) with inputs scaled by row, by
column or not at all, and with both codings of the inputs if a data set has two. It prints each
choice's mean absolute distance to the published figures, and the closest choice for every data set.
Rows are kept in OUT, so an interrupted run can be resumed and `--sets` can be extended.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from report_tables import Row, markdown, write_csv
from stagenets.study._data import choose, load
from stagenets.study._preparation import SCALINGS
from stagenets.study._protocols import PaperProtocol
from stagenets.study._records import read_rows
from stagenets.study._results import Published, read_published
from stagenets.study._runner import run_study

BASELINES = ["RVFL", "ELM"]
DEFAULT = "X, rows"


def alternatives(folder: Path, names: list[str], seed: int) -> dict[str, tuple]:
    """Label of a choice, its protocol, and the data sets it applies to."""
    twofold = [name for name in choose(folder, None) if load(folder, name).collection is not None]
    choices = {}
    for scaling in SCALINGS:
        shared = {"seed": seed, "scaling": scaling}
        choices[f"X, {scaling}"] = PaperProtocol(**shared, from_collection=()), names
        choices[f"X_collection, {scaling}"] = (
            PaperProtocol(**shared, from_collection=tuple(twofold)),
            [name for name in names if name in twofold],
        )
    return choices


def distances(folder: Path, published: Published) -> dict[str, float]:
    """Mean absolute distance of the baselines on every data set that was run."""
    apart: dict[str, list[float]] = {}
    for row in read_rows(folder / "rows.csv"):
        theirs = published.get(row.dataset, {}).get(row.model)
        if theirs is not None:
            apart.setdefault(row.dataset, []).append(abs(row.accuracy - theirs))
    return {name: float(np.mean(values)) for name, values in apart.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--published", type=Path, required=True, metavar="CSV")
    parser.add_argument("--out", type=Path, required=True, metavar="OUT")
    parser.add_argument("--sets", help="comma-separated names (default: all)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = choose(options.data, options.sets.split(",") if options.sets else None)
    published = read_published(options.published)
    found = {}
    for label, (protocol, sets) in alternatives(options.data, names, options.seed).items():
        folder = options.out / label.replace(", ", "-")
        if sets:
            print(label)
            run_study(protocol, options.data, sets, BASELINES, folder, jobs=options.jobs)
            found[label] = distances(folder, published)
    table: list[Row] = []
    for name in names:
        apart = {label: by_set[name] for label, by_set in found.items() if name in by_set}
        if apart:
            closest = min(apart, key=lambda label: apart[label])
            gain = apart[DEFAULT] - apart[closest] if DEFAULT in apart else None
            shown = {label: apart.get(label) for label in found}
            table.append({"dataset": name, **shown, "closest": closest, "closer by": gain})
    print(markdown(table))
    for label in found:
        values = [row[label] for row in table if row[label] is not None]
        print(f"{label}: {np.mean(values):.2f} points apart on {len(values)} sets")
    best = [row[row["closest"]] for row in table]
    print(f"closest for every set: {np.mean(best):.2f} points apart on {len(best)} sets")
    write_csv(options.out / "choices.csv", table)


if __name__ == "__main__":
    main()
