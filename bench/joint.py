"""`selection="joint"` against `selection="residual"`: objective and test accuracy at equal units.

    python bench/joint.py --data DIR

Over several seeds, on letter, optical, pendigits and statlog_landsat, with h = 400, k = 1, M = 100.
Pools do not depend on earlier choices, so both choose from the same candidates at every stage. The
objective of the joint selection must not be higher on average. Prints a table and writes joint.md
and joint.csv to docs/benchmarks/.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from report_tables import Row, add_output_option, markdown, write_csv, write_markdown
from stagenets import RVFLClassifier
from study_data import add_data_option, load

DATASETS = ("letter", "optical", "pendigits", "statlog_landsat")
SELECTIONS = ("residual", "joint")


def one_run(name: str, seed: int, options: argparse.Namespace) -> list[Row]:
    """Both selections on one split, with one seed."""
    data = load(name, options.data, split=seed)
    rows = []
    for selection in SELECTIONS:
        model = RVFLClassifier(
            n_hidden=options.units,
            pool_size=options.pool,
            block_size=options.block,
            selection=selection,
            loss="squared",
            alpha=1.0,
            weight_init="uniform",
            random_state=seed,
        )
        started = time.perf_counter()
        model.fit(data.X, data.y)
        rows.append(
            {
                "dataset": name,
                "seed": seed,
                "selection": selection,
                "objective": float(model.objective_path_[-1]),
                "test accuracy": float(model.score(data.X_test, data.y_test)),
                "fit (s)": time.perf_counter() - started,
            }
        )
    return rows


def compared(name: str, rows: list[Row]) -> Row:
    """Means over the seeds, and their paired differences with standard errors."""

    def column(selection: str, key: str) -> np.ndarray:
        chosen = [r[key] for r in rows if r["dataset"] == name and r["selection"] == selection]
        return np.array(chosen)

    lower = 1 - column("joint", "objective") / column("residual", "objective")
    gain = 100 * (column("joint", "test accuracy") - column("residual", "test accuracy"))
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else float("nan")
    return {
        "dataset": name,
        "objective, residual": float(column("residual", "objective").mean()),
        "objective, joint": float(column("joint", "objective").mean()),
        "joint lower by": f"{100 * lower.mean():.2f} %",
        "lower for": f"{np.sum(lower > 0)} of {len(lower)} seeds",
        "accuracy, residual": float(column("residual", "test accuracy").mean()),
        "accuracy, joint": float(column("joint", "test accuracy").mean()),
        "points gained": f"{gain.mean():+.2f} ± {error:.2f}",
        "fit time, joint / residual": float(
            np.median(column("joint", "fit (s)") / column("residual", "fit (s)"))
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="*", default=DATASETS, help=", ".join(DATASETS))
    add_data_option(parser)
    add_output_option(parser)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--units", type=int, default=400)
    parser.add_argument("--pool", type=int, default=100)
    parser.add_argument("--block", type=int, default=1)
    options = parser.parse_args()
    rows: list[Row] = []
    for name in options.datasets:
        for seed in range(options.seeds):
            rows += one_run(name, seed, options)
        print(compared(name, rows), flush=True)
    table = [compared(name, rows) for name in options.datasets]
    print(markdown(table))
    note = (
        f"h = {options.units}, M = {options.pool}, k = {options.block}, λ = 1, dense weights; "
        f"means over {options.seeds} seeds (draws and splits), ± the standard error of the paired "
        "difference. "
        "Made by `bench/joint.py`."
    )
    write_csv(options.out / "joint.csv", rows)
    write_markdown(options.out / "joint.md", "Joint selection of units", note, table)


if __name__ == "__main__":
    main()
