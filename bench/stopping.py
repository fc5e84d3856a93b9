"""The benefit of early stopping on small data sets, and how far leave-one-out can be trusted.

    python bench/stopping.py --data DIR

Guided RVFL networks of up to `--units` units on every data set of at most `--rows` rows, with five
stratified folds: test accuracy without early stopping and with each kind of it, and the
leave-one-out accuracy of the same fit. The units were chosen using all labels, so leave-one-out is
optimistic; pools of one, in which nothing is chosen, are the control. Writes stopping.md and
stopping.csv to docs/benchmarks/.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from report_tables import Row, add_output_option, markdown, write_csv, write_markdown
from stagenets import RVFLClassifier
from study_data import add_data_option

STOPPING = (False, "loo", "validation", "cv")


def folds(y: np.ndarray) -> StratifiedKFold | None:
    return StratifiedKFold(5, shuffle=True, random_state=0) if np.bincount(y).min() >= 5 else None


def one_set(path: Path, options: argparse.Namespace) -> Row | None:
    """Means over the folds of one data set, in points of accuracy; None if it is not suitable."""
    with np.load(path, allow_pickle=False) as file:
        X, y = np.asarray(file["X"], dtype=np.float64), file["y"]
    splitter = folds(y)
    if len(X) > options.rows or splitter is None:
        return None
    found: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        found.setdefault(name, []).append(100 * value)

    for seed, (train, test) in enumerate(splitter.split(X, y)):
        common = {"n_hidden": options.units, "alpha": options.alpha, "random_state": seed}
        for stopping in STOPPING:
            model = RVFLClassifier(early_stopping=stopping, **common).fit(X[train], y[train])
            score = model.score(X[test], y[test])
            note(f"test, {stopping or 'none'}", score)
            note(f"units, {stopping or 'none'}", model.n_hidden_ / 100)
            if not stopping:
                note("loo − test, chosen", model.loo_accuracy_path_[-1] - score)
        blind = RVFLClassifier(pool_size=1, **common).fit(X[train], y[train])
        note("loo − test, blind", blind.loo_accuracy_path_[-1] - blind.score(X[test], y[test]))
    means = {name: float(np.mean(values)) for name, values in found.items()}
    return {"dataset": path.stem, "n": len(X), **means}


def summary(rows: list[Row]) -> list[Row]:
    """Means over the data sets of each size."""
    groups = {
        "n < 300": [row for row in rows if row["n"] < 300],
        "300 ≤ n": [row for row in rows if row["n"] >= 300],
        "all": rows,
    }
    names = [name for name in rows[0] if name not in ("dataset", "n")]
    return [
        {"sets": label, "number": len(group)}
        | {name: round(float(np.mean([row[name] for row in group])), 2) for name in names}
        for label, group in groups.items()
        if group
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    add_output_option(parser)
    parser.add_argument("--rows", type=int, default=1100, help="largest set (1100)")
    parser.add_argument("--units", type=int, default=100, help="most hidden units (100)")
    parser.add_argument("--alpha", type=float, default=3.0, help="ridge penalty (3)")
    options = parser.parse_args()
    if options.data is None:
        raise SystemExit("needs the UCI data: --data DIR or STAGENETS_DATA")
    rows = []
    for path in sorted(options.data.glob("*.npz")):
        row = one_set(path, options)
        if row is not None:
            rows.append(row)
            print(row["dataset"], row["n"], flush=True)
    table = summary(rows)
    print(markdown(table))
    note = (
        f"Guided RVFL, M = 100, k = 1, at most {options.units} units, alpha = {options.alpha:g}, "
        f"data sets of at most {options.rows} rows, five stratified folds. Accuracies and "
        "differences are in points; `loo − test` is how far the full network's leave-one-out "
        "accuracy exceeds its test accuracy, with units chosen from pools of 100 and (blind) from "
        "pools of one. Made by `python bench/stopping.py --data DIR`."
    )
    write_csv(options.out / "stopping.csv", rows)
    write_markdown(options.out / "stopping.md", "Early stopping on small data sets", note, table)


if __name__ == "__main__":
    main()
