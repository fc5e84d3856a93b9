"""Where guided networks are ahead of other models, and where behind: the study's rows, grouped.

    python bench/when.py

Reads docs/study/sound/rows.csv, which `stagenets study --protocol sound` has written, and writes
docs/benchmarks/when.md: mean differences in test accuracy by the number of samples, the number of
inputs, and how well the best model of all does on a data set, as a stand-in for how noisy it is.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from report_tables import Row, add_output_option, markdown

STUDY = Path(__file__).resolve().parent.parent / "docs" / "study" / "sound"
OURS = "RG-RVFL default"
ONE_SHOT = "RVFL default"
RIVALS = (
    "LightGBM",
    "HistGradientBoosting",
    "MLP",
    "LogisticRegression",
    "Nystroem+Ridge",
    ONE_SHOT,
)


@dataclass
class Set:
    """A data set of the study: its sizes, and the accuracy of every model in percent."""

    n: int
    p: int
    accuracy: dict[str, float]


def read_sets(path: Path) -> list[Set]:
    sets: dict[str, Set] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found = sets.setdefault(row["dataset"], Set(int(row["n"]), int(row["p"]), {}))
            found.accuracy[row["model"]] = float(row["accuracy"])
    return list(sets.values())


def by_samples(data: Set) -> str:
    return "n < 300" if data.n < 300 else "300 ≤ n < 1,000" if data.n < 1000 else "n ≥ 1,000"


def by_inputs(data: Set) -> str:
    return "p < 10" if data.p < 10 else "10 ≤ p < 30" if data.p < 30 else "p ≥ 30"


def by_noise(data: Set) -> str:
    best = max(data.accuracy.values())
    return "best > 95 %" if best > 95 else "80 to 95 %" if best >= 80 else "best < 80 %"


def table(sets: list[Set], group_of: Callable[[Set], str]) -> list[Row]:
    groups: dict[str, list[Set]] = defaultdict(list)
    for data in sorted(sets, key=lambda data: data.n if group_of is by_samples else data.p):
        groups[group_of(data)].append(data)
    order = sorted(groups, key=lambda g: -max(max(d.accuracy.values()) for d in groups[g]))
    rows = []
    for group in order if group_of is by_noise else groups:
        members = groups[group]
        row: Row = {"data sets": f"{group} ({len(members)})"}
        row["guided RVFL"] = f"{sum(d.accuracy[OURS] for d in members) / len(members):.1f}"
        for rival in RIVALS:
            gains = [d.accuracy[OURS] - d.accuracy[rival] for d in members if rival in d.accuracy]
            wins = sum(gain > 0 for gain in gains)
            mean = f"{sum(gains) / len(gains):+.1f} ({wins}/{len(gains)})" if gains else None
            row["− one-shot" if rival == ONE_SHOT else f"− {rival}"] = mean
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_output_option(parser)
    options = parser.parse_args()
    sets = read_sets(STUDY / "rows.csv")
    text = "# Where guided networks are ahead\n\nMade by `bench/when.py` from the rows of "
    text += (
        "[the study](../study/sound/report.md), whose settings are on that page. Accuracy of the "
    )
    text += (
        "guided RVFL in percent, then how many points it is ahead of each other model, with the "
    )
    text += "number of data sets on which it is ahead. All models have their defaults.\n"
    for group_of in (by_samples, by_inputs, by_noise):
        text += "\n" + markdown(table(sets, group_of))
    path = options.out / "when.md"
    path.write_text(text, encoding="utf-8")
    print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
