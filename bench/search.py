"""The one-pass search against scikit-learn's GridSearchCV over the same estimator.

    python bench/search.py

11 penalties × 21 sizes × k in {1, 2} × M in {50, 100}, 5 folds, 1,000 × 20, both on two cores.
Prints the ratio of the times (for the search, the median of its runs before and after) and whether
both give the same results.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from stagenets import RVFLClassifier, RVFLClassifierCV

GRID = {
    "alpha": [10.0**exponent for exponent in range(-5, 6)],
    "n_hidden": list(range(5, 206, 10)),
    "block_size": [1, 2],
    "pool_size": [50, 100],
}
FOLDS = StratifiedKFold(5)  # for both: of a number, the search would make shuffled folds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="runs before, and after (3)")
    parser.add_argument("--jobs", type=int, default=2, help="threads, and processes (2)")
    options = parser.parse_args()
    X, y = make_classification(1000, 20, n_informative=8, random_state=0)
    ours = RVFLClassifierCV(
        alphas=GRID["alpha"],
        n_hidden=GRID["n_hidden"],
        block_sizes=GRID["block_size"],
        pool_sizes=GRID["pool_size"],
        losses=["squared"],
        selections=["residual"],
        weight_inits=["sparse"],
        cv=FOLDS,
        random_state=0,
        n_jobs=options.jobs,
    )
    method = {"loss": "squared", "selection": "residual", "weight_init": "sparse"}
    network = RVFLClassifier(**method, random_state=0, n_jobs=1)
    plain = GridSearchCV(network, GRID, cv=FOLDS, n_jobs=options.jobs)

    def seconds(search: RVFLClassifierCV | GridSearchCV) -> float:
        started = time.perf_counter()
        search.fit(X, y)
        return time.perf_counter() - started

    times = [seconds(ours) for _ in range(options.runs)]
    grid_search = seconds(plain)
    times += [seconds(ours) for _ in range(options.runs)]
    print(f"GridSearchCV / one pass: {grid_search / np.median(times):.1f}")
    found, expected = ours.cv_results_, plain.cv_results_
    same = all(
        {name: a[name] for name in b} == b
        for a, b in zip(found["params"], expected["params"], strict=True)
    )
    difference = np.abs(found["mean_test_score"] - expected["mean_test_score"]).max()
    print(f"same candidates: {same}; largest difference of a mean score: {difference:.1e}")


if __name__ == "__main__":
    main()
