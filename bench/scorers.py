"""Searches by other measures than accuracy, against the same search by accuracy.

    python bench/scorers.py

8 penalties × 100 sizes, 5 folds, 2,000 × 20 with three classes. The core measures accuracy itself;
every other scorer is called by Python for each network and fold. Prints, for each scorer, the time
of its search over that by accuracy (medians of runs that alternate), and how many calls that are.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification

from stagenets import RVFLClassifierCV

SCORERS = ("balanced_accuracy", "neg_log_loss", "roc_auc_ovr", "f1_macro")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="runs of every search (3)")
    parser.add_argument("--jobs", type=int, default=2, help="threads (2)")
    parser.add_argument("--rows", type=int, default=2000, help="samples (2,000)")
    parser.add_argument("--sizes", type=int, default=100, help="largest network (100)")
    options = parser.parse_args()
    X, y = make_classification(
        options.rows, 20, n_informative=8, n_classes=3, weights=[0.6, 0.3], random_state=0
    )

    def seconds(scoring: str) -> tuple[float, int]:
        search = RVFLClassifierCV(
            max_hidden=options.sizes, scoring=scoring, random_state=0, n_jobs=options.jobs
        )
        started = time.perf_counter()
        search.fit(X, y)
        return time.perf_counter() - started, len(search.cv_results_["params"]) * search.n_splits_

    times: dict[str, list[float]] = {name: [] for name in ("accuracy", *SCORERS)}
    calls = 0
    for _ in range(options.runs):
        for name, found in times.items():
            took, calls = seconds(name)
            found.append(took)
    base = np.median(times["accuracy"])
    print(f"accuracy: {base:.2f} s; {calls} networks judged on a fold")
    for name in SCORERS:
        took = np.median(times[name])
        each = (took - base) / calls
        print(f"{name} / accuracy: {took / base:.2f} ({1e6 * each:.0f} µs per call)")


if __name__ == "__main__":
    main()
