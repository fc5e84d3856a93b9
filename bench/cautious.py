"""How sure a search must be before it leaves the default network.

``python bench/cautious.py --data DIR`` fits, on small data sets, the default RVFLClassifier and the
networks that a search would choose from the same cross-validated scores by several rules: the best
mean score, or the best only if it beats the default network's by more than so many standard errors
of their differences over the splits. Prints mean test accuracies.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from stagenets import RVFLClassifier, RVFLClassifierCV
from stagenets.study._data import available, load

RULES = (0.0, 1.0, 2.0, 3.0)


def chosen(scores: NDArray[np.float64], default: int, errors: float) -> int:
    """Index of the candidate (a row of scores) that a rule takes."""
    best = int(np.argmax(scores.mean(axis=1)))
    gains = scores[best] - scores[default]
    sure = gains.mean() > errors * gains.std(ddof=1) / np.sqrt(len(gains))
    return best if sure else default


def on_split(X: Any, y: Any, train: Any, test: Any, search: Any) -> list[float]:
    """Test accuracies of the default network, then by each rule."""

    def score(params: dict[str, Any]) -> float:
        model = RVFLClassifier(random_state=0, **params).fit(X[train], y[train])
        return float(model.score(X[test], y[test]))

    search.fit(X[train], y[train])
    results = search.cv_results_
    own = RVFLClassifier()
    size = max(params["n_hidden"] for params in results["params"])
    wanted = {"alpha": own.alpha, "loss": own.loss, "weight_init": own.weight_init}
    default = results["params"].index(
        next(p for p in results["params"] if {**p, **wanted, "n_hidden": size} == p)
    )
    splits = [results[f"split{i}_test_score"] for i in range(search.n_splits_)]
    scores = np.stack(splits, axis=1)
    found: dict[int, float] = {}
    figures = [score({})]
    for errors in RULES:
        index = chosen(scores, default, errors)
        if index not in found:
            found[index] = figures[0] if index == default else score(results["params"][index])
        figures.append(found[index])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of NAME.npz files")
    parser.add_argument("--most", type=int, default=500, help="rows of a data set at most (500)")
    parser.add_argument("--least", type=int, default=0, help="rows of a data set at least (0)")
    parser.add_argument("--folds", type=int, default=3, help="test folds (3)")
    parser.add_argument("--cv", type=int, default=5, help="folds of the search (5)")
    options = parser.parse_args()
    names = ["default", *(f"> {errors:g} errors" for errors in RULES)]
    print(f"{'':24}", *(f"{name:>11}" for name in names))
    table = []
    for name in available(options.data):
        data = load(options.data, name)
        if not options.least <= len(data.y) <= options.most or np.bincount(data.y).min() < 6:
            continue
        folds = StratifiedKFold(options.folds, shuffle=True, random_state=0)
        search = RVFLClassifierCV(
            alphas=(0.3, 1.0, 3.0, 10.0, 30.0),
            weight_inits=("mixed", "sparse"),
            cv=options.cv,
            refit=False,
            random_state=0,
        )
        rows = [on_split(data.X, data.y, *split, search) for split in folds.split(data.X, data.y)]
        table.append(100 * np.mean(rows, axis=0))
        print(f"{name:24}", *(f"{value:11.1f}" for value in table[-1]), flush=True)
    print(f"{f'mean of {len(table)}':24}", *(f"{value:11.2f}" for value in np.mean(table, axis=0)))


if __name__ == "__main__":
    main()
