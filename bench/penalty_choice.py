"""Rules by which a fit could choose its penalty and its size, judged on rows that it has not seen.

    python bench/penalty_choice.py --data DIR [--task regression]

For every data set, a search records the scores of all penalties and sizes on five folds of the
training part, keeping four units per stage, and another one those on the test part. Every rule then
takes a network by the former and is judged by the latter: accuracy and log-loss, or R². The table
says what `alpha="auto"` would gain by each rule.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from stagenets import RVFLClassifierCV, RVFLRegressorCV
from stagenets.estimators._affine import automatic_units
from stagenets.study import _data, _regression_data

Scores = NDArray[np.float64]  # a row for each candidate
USUAL = 3.0
PENALTIES = {"Classifier": (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)}
PENALTIES["Regressor"] = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
FEW = {"Classifier": (0.3, 3.0, 30.0), "Regressor": (0.03, 3.0, 100.0)}
PARTS = (0.02, 0.04, 0.08, 0.14, 0.2, 0.3, 0.4, 0.55, 0.75, 1.0)  # of the automatic size


def scores_of(search: Any, X: Any, y: Any) -> tuple[NDArray[Any], Scores]:
    """Penalty and size of each candidate, and its scores on the splits."""
    search.fit(X, y)
    results = search.cv_results_
    names = np.array([(params["alpha"], params["n_hidden"]) for params in results["params"]])
    splits = [results[f"split{i}_test_score"] for i in range(search.n_splits_)]
    return names, np.stack(splits, axis=1)


def pick(
    names: NDArray[Any], folds: Scores, allowed: NDArray[np.bool_], errors: float | None
) -> int:
    """The best of the allowed candidates, if it beats the usual one by so many standard errors."""
    usual = int(np.flatnonzero((names[:, 0] == USUAL) & (names[:, 1] == names[:, 1].max()))[0])
    best = int(np.argmax(np.where(allowed, folds.mean(axis=1), -np.inf)))
    if errors is None:
        return best
    gains = folds[best] - folds[usual]
    return best if gains.mean() > errors * gains.std(ddof=1) / np.sqrt(len(gains)) else usual


def rules(kind: str, names: NDArray[Any], folds: Scores, test: Scores) -> dict[str, int]:
    """The candidate that each rule takes."""
    full, usual = names[:, 1] == names[:, 1].max(), names[:, 0] == USUAL
    few, every = np.isin(names[:, 0], FEW[kind]), np.ones(len(names), dtype=bool)
    return {
        "usual penalty, full size": pick(names, folds, full & usual, None),
        "size by folds, usual penalty": pick(names, folds, usual, None),
        "penalty by folds, full size": pick(names, folds, full, None),
        "both": pick(names, folds, every, None),
        "both, by one standard error": pick(names, folds, every, 1.0),
        "one of three penalties, and size": pick(names, folds, few, 1.0),
        "one of three penalties, full size": pick(names, folds, few & full, 1.0),
        "the same on two folds": pick(names, folds[:, :2], few, 1.0),
        "best on the test part": int(np.argmax(test[:, 0])),
    }


def classification(options: argparse.Namespace) -> Iterator[tuple[str, Any, Any, list[Any]]]:
    for name in _data.available(options.data):
        data = _data.load(options.data, name)
        if options.least <= len(data.y) <= options.most and np.bincount(data.y).min() >= 8:
            folds = StratifiedKFold(3, shuffle=True, random_state=0)
            yield name, data.X, data.y, list(folds.split(data.X, data.y))


def regression(options: argparse.Namespace) -> Iterator[tuple[str, Any, Any, list[Any]]]:
    for name in _regression_data.choose(options.data, None):
        data = _regression_data.load(options.data, name)
        yield name, data.X, data.y, data.splits(10, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of NAME.npz files")
    parser.add_argument("--task", choices=["classification", "regression"])
    parser.add_argument("--least", type=int, default=60, help="rows at least (%(default)s)")
    parser.add_argument("--most", type=int, default=1100, help="rows at most (%(default)s)")
    parser.add_argument("--folds", type=int, default=2, help="test folds (%(default)s)")
    options = parser.parse_args()
    kind = "Regressor" if options.task == "regression" else "Classifier"
    cls: Callable[..., Any] = RVFLRegressorCV if kind == "Regressor" else RVFLClassifierCV
    losses = ("squared",) if kind == "Regressor" else ("log",)
    measures = [None] if kind == "Regressor" else ["neg_log_loss", "accuracy"]
    inner = (KFold if kind == "Regressor" else StratifiedKFold)(5, shuffle=True, random_state=1)
    sets = regression(options) if kind == "Regressor" else classification(options)
    found: dict[str, dict[str, list[list[float]]]] = {}
    for name, X, y, splits in sets:
        for number, (train, test) in enumerate(splits[: options.folds]):
            if len(train) > 1000 and kind == "Regressor":
                train = np.random.default_rng(number).choice(train, 1000, replace=False)
            most = automatic_units(len(train))
            shared = {"losses": losses, "alphas": PENALTIES[kind], "refit": False}
            shared |= {"n_hidden": sorted({max(1, round(most * part)) for part in PARTS})}
            shared |= {"prefer_default": False, "random_state": 0}
            judged = {"cv": inner, "scoring": measures[0], "block_sizes": (4,)}
            names, folds = scores_of(cls(**shared, **judged), X[train], y[train])
            tests = [
                scores_of(cls(**shared, cv=[(train, test)], scoring=measure), X, y)[1]
                for measure in measures
            ]
            for rule, index in rules(kind, names, folds, tests[0]).items():
                scores = [max(float(scores[index, 0]), -1e9) for scores in tests]
                found.setdefault(rule, {}).setdefault(name, []).append(scores)
        print(name, flush=True)
    for rule, by_set in found.items():
        means = np.array([np.mean(scores, axis=0) for scores in by_set.values()])
        if kind == "Regressor":
            print(f"{rule:36}R² {np.maximum(means[:, 0], -1).mean():.4f}")
        else:
            print(f"{rule:36}log-loss {-means[:, 0].mean():.4f}, {100 * means[:, 1].mean():.2f} %")


if __name__ == "__main__":
    main()
