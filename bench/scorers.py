"""Searches by other measures than accuracy, against the same search by accuracy.

    python bench/scorers.py

8 penalties, sizes up to 50, 5 folds, 1,000 × 20 with three classes, log-loss and squared error.
Searches take turns; the processor time of each is held against that of the search by accuracy in
the same round, on one thread, so that other work on the machine hardly matters. The last measure is
a scorer that the package does not know, so that scikit-learn's own code judges every network.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import cohen_kappa_score, make_scorer

import stagenets
from report_tables import add_output_option, markdown, write_markdown
from stagenets import RVFLClassifierCV

SCORERS: dict[str, Any] = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "neg_log_loss": "neg_log_loss",
    "roc_auc_ovr": "roc_auc_ovr",
    "f1_macro": "f1_macro",
    "make_scorer(cohen_kappa_score)": make_scorer(cohen_kappa_score),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_output_option(parser)
    parser.add_argument("--runs", type=int, default=3, help="rounds (3)")
    parser.add_argument("--rows", type=int, default=1000, help="samples (1,000)")
    parser.add_argument("--sizes", type=int, default=50, help="largest network (50)")
    options = parser.parse_args()
    X, y = make_classification(
        options.rows, 20, n_informative=8, n_classes=3, weights=[0.6, 0.3], random_state=0
    )
    judged = 0

    def seconds(scoring: Any, loss: str) -> float:
        nonlocal judged
        search = RVFLClassifierCV(
            max_hidden=options.sizes,
            losses=[loss],
            scoring=scoring,
            random_state=0,
            n_jobs=1,
        )
        started = time.process_time()
        search.fit(X, y)
        took = time.process_time() - started
        judged = len(search.cv_results_["params"]) * search.n_splits_
        return took

    ratios: dict[tuple[str, str], list[float]] = {}
    for _ in range(options.runs):
        for loss in ("log", "squared"):
            times = {name: seconds(scoring, loss) for name, scoring in SCORERS.items()}
            for name, took in times.items():
                ratios.setdefault((name, loss), []).append(took / times["accuracy"])
    table = [
        {
            "scoring": f"`{name}`",
            "log-loss": float(np.median(ratios[name, "log"])),
            "squared error": float(np.median(ratios[name, "squared"])),
        }
        for name in SCORERS
    ]
    print(markdown(table))
    note = (
        f"Processor time of a search divided by that of the same search by accuracy, for networks "
        f"fitted by log-loss (the default) and by squared error: medians of {options.runs} rounds "
        f"in which the searches take turns. RVFL, {options.rows:,} × 20 samples of three classes, "
        f"up to {judged:,} networks judged on a fold, one thread. The package computes the "
        "usual measures itself; for any other scorer, as in the last row, scikit-learn judges each "
        f"network. Made by `python bench/scorers.py` with version {stagenets.__version__}."
    )
    write_markdown(options.out / "scorers.md", "Searches by other measures", note, table)


if __name__ == "__main__":
    main()
