"""Penalty, number of units and scale of the weights for regressors, on the sets of the study.

    python bench/regression_defaults.py --data DIR

One search per data set gives R² on the test folds of the regression study for every scale of the
weights, every penalty and every number of units. Writes regression_defaults.md and two CSV files
to docs/benchmarks/: the mean over the data sets of R² (not below 0), of the distance to the best
combination of the set, and of the rank. Sizes are relative to `"auto"`.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from report_tables import Row, add_output_option, write_csv, write_markdown
from stagenets import RVFLRegressorCV
from stagenets.estimators._affine import automatic_units
from stagenets.study._regression_data import RegressionSet, choose, load

ALPHAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
SIZES = (1.0, 2.0)  # times the default number of units
SCALES = (1.0, 2.0, 4.0, 8.0)
COMBINATIONS = list(product(SCALES, SIZES, ALPHAS))


def splits(data: RegressionSet, options: argparse.Namespace) -> list[tuple[np.ndarray, np.ndarray]]:
    found = []
    for number, (train, test) in enumerate(data.splits(10, 0)[: options.folds]):
        if len(train) > options.rows:
            train = np.random.default_rng(number).choice(train, options.rows, replace=False)
        found.append((train, test[: options.rows]))
    return found


def one_set(data: RegressionSet, options: argparse.Namespace) -> np.ndarray:
    """R² of every combination, averaged over the folds."""
    parts = splits(data, options)
    sizes = [round(factor * automatic_units(len(parts[0][0]))) for factor in SIZES]
    search = RVFLRegressorCV(
        alphas=ALPHAS,
        n_hidden=sizes,
        weight_scales=SCALES,
        cv=parts,
        refit=False,
        random_state=0,
        n_jobs=options.jobs,
    ).fit(data.X, data.y)
    scores = {
        (params["weight_scale"], params["n_hidden"], params["alpha"]): score
        for params, score in zip(
            search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
        )
    }
    return np.array([scores[combination] for combination in product(SCALES, sizes, ALPHAS)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of NAME.npz files with X, y and fold")
    parser.add_argument("--folds", type=int, default=3, help="test folds (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=1000, help="most rows (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=None, help="threads")
    add_output_option(parser)
    options = parser.parse_args()
    by_set: list[Row] = []
    table = []
    for name in choose(options.data, None):
        scores = one_set(load(options.data, name), options)
        table.append(scores)
        best = COMBINATIONS[int(scores.argmax())]
        line: Row = {"set": name, "best R²": f"{scores.max():.4f}"}
        line |= dict(zip(("weight_scale", "size", "alpha"), map(str, best), strict=True))
        by_set.append(line)
        print(line, flush=True)
    values = np.maximum(np.array(table), 0.0)
    ranks = rankdata(-values, axis=1).mean(axis=0)
    behind = (values.max(axis=1, keepdims=True) - values).mean(axis=0)
    lines: list[Row] = [
        {
            "weight_scale": str(scale),
            "size": f"{size} × auto",
            "alpha": str(alpha),
            "mean R²": f"{values[:, i].mean():.4f}",
            "behind the best": f"{behind[i]:.4f}",
            "rank": f"{ranks[i]:.1f}",
        }
        for i, (scale, size, alpha) in enumerate(COMBINATIONS)
    ]
    write_csv(options.out / "regression_defaults.csv", lines)
    write_csv(options.out / "regression_defaults_sets.csv", by_set)
    write_markdown(
        options.out / "regression_defaults.md",
        "Penalty, size and weight scale of regressors",
        f"RVFL regressors on {len(table)} data sets, {options.folds} test folds, at most "
        f"{options.rows:,} rows (`python bench/regression_defaults.py`). The twenty combinations "
        "of best rank; R² below 0 counts as 0. The CSV files have all of them, and the best of "
        "every set.",
        sorted(lines, key=lambda line: float(line["rank"]))[:20],
    )


if __name__ == "__main__":
    main()
