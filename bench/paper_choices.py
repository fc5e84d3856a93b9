"""Which preparation of the inputs comes closest to the published one-shot accuracies, set by set.

    python bench/paper_choices.py --data DIR --published CSV --out OUT

The published study does not say how its inputs were scaled. Runs the baselines (RVFL and ELM, units
drawn once; never the guided networks) of protocol `paper` with inputs scaled by row, by column or
not at all, and with both codes of the inputs where a set has two; prints the mean absolute distance
to the published figures of each choice, and the closest choice for every set. Rows are kept in OUT,
so a run that was cut off goes on, and `--sets` can be added to.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from report_tables import Row, markdown, write_csv
from residuum._study.data import choose, load
from residuum._study.preparation import SCALINGS
from residuum._study.protocols import PaperProtocol
from residuum._study.records import read_rows
from residuum._study.results import Published, read_published
from residuum._study.runner import run_study

BASELINES = ["RVFL", "ELM"]
DEFAULT = "X, rows"


def alternatives(folder: Path, names: list[str], seed: int) -> dict[str, tuple]:
    """Label of a choice, its protocol, and the sets it can be tried on."""
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
    """Mean absolute distance of the baselines on every set that was run."""
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
