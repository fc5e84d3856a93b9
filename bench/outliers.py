"""Gross outliers in targets and wrong labels: losses side by side, and beside other libraries.

    python bench/outliers.py

Regression: Friedman's function with noise; a tenth of the training targets, or none, are moved by 5
to 20 of their deviations, to either side or to one. R² is on clean test samples. Classification:
the digits, and synthetic classes; a share of the training labels is replaced by random ones.
Accuracy is on clean test samples. Prints tables and writes outliers.md, outliers.csv and
wrong_labels.csv to docs/benchmarks/.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.datasets import load_digits, make_classification, make_friedman1
from sklearn.linear_model import HuberRegressor
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from report_tables import Row, add_output_option, markdown, write_csv
from stagenets import RVFLClassifier, RVFLRegressor

SIDES = {"no outliers": None, "10 % outliers, both sides": (-1, 1), "10 % outliers, above": (1,)}
SHARES = (0.0, 0.1, 0.2, 0.4)


def regressors(seed: int) -> dict[str, Any]:
    boosted = {"n_jobs": 2, "random_state": seed, "verbose": -1}
    return {
        **{f"RVFL, {loss}": RVFLRegressor(loss=loss, random_state=seed)
           for loss in ("squared", "huber", "bounded")},
        "LightGBM, squared": LGBMRegressor(**boosted),
        "LightGBM, huber": LGBMRegressor(objective="huber", **boosted),
        "HuberRegressor": make_pipeline(StandardScaler(), HuberRegressor(max_iter=2000)),
    }  # fmt: skip


def classifiers(seed: int) -> dict[str, Any]:
    return {
        **{f"RVFL, {loss}": RVFLClassifier(loss=loss, random_state=seed)
           for loss in ("squared", "log", "bounded")},
        "LightGBM": LGBMClassifier(n_jobs=2, random_state=seed, verbose=-1),
    }  # fmt: skip


def regression_run(case: str, seed: int) -> list[Row]:
    rng = np.random.default_rng(seed)
    X, y = make_friedman1(1000, noise=1.0, random_state=seed)
    X_test, y_test = make_friedman1(5000, noise=0.0, random_state=1000 + seed)
    if SIDES[case]:
        wild = rng.random(len(y)) < 0.1
        shifts = rng.choice(SIDES[case], len(y)) * rng.uniform(5, 20, len(y)) * y.std()
        y = np.where(wild, y + shifts, y)
    return [
        {"data": case, "model": name, "seed": seed, "score": model.fit(X, y).score(X_test, y_test)}
        for name, model in regressors(seed).items()
    ]


def classes(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    if name == "digits":
        return load_digits(return_X_y=True)
    return make_classification(
        3000, 20, n_informative=10, n_classes=4, class_sep=1.5, flip_y=0, random_state=seed
    )


def classification_run(name: str, share: float, seed: int) -> list[Row]:
    rng = np.random.default_rng(seed)
    X, X_test, y, y_test = train_test_split(*classes(name, seed), random_state=seed)
    wrong = rng.random(len(y)) < share
    y = np.where(wrong, rng.integers(0, y.max() + 1, len(y)), y)
    return [
        {
            "data": name,
            "wrong labels": share,
            "model": model_name,
            "seed": seed,
            "score": model.fit(X, y).score(X_test, y_test),
        }
        for model_name, model in classifiers(seed).items()
    ]


def table(rows: list[Row], across: str) -> list[Row]:
    """Mean scores, a row for each model (and data set) and a column for each case."""
    rest = ["data", "model"] if across != "data" else ["model"]
    found: dict[tuple[Any, ...], Row] = {}
    for key in dict.fromkeys(tuple(row[name] for name in rest) for row in rows):
        own = [row for row in rows if tuple(row[name] for name in rest) == key]
        found[key] = dict(zip(rest, key, strict=True))
        for case in dict.fromkeys(row[across] for row in rows):
            scores = [row["score"] for row in own if row[across] == case]
            name = case if isinstance(case, str) else f"{case:.0%} random labels"
            found[key][name] = float(np.mean(scores))
    return list(found.values())


NOTE = """# Outliers and wrong labels

Means over {seeds} seeds, all models with their defaults. Made by `bench/outliers.py`.

## R² on clean test samples

Friedman's function, 1,000 training samples with noise of deviation 1.

{regression}
## Accuracy on clean test samples

A share of the training labels is replaced by random ones, which are right by chance one time in ten (digits) or four.

{classification}"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_output_option(parser)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    seeds = range(options.seeds)
    numbers = [row for case in SIDES for seed in seeds for row in regression_run(case, seed)]
    print(markdown(table(numbers, "data")), flush=True)
    labels = [
        row
        for name in ("digits", "synthetic")
        for share in SHARES
        for seed in seeds
        for row in classification_run(name, share, seed)
    ]
    print(markdown(table(labels, "wrong labels")))
    write_csv(options.out / "outliers.csv", numbers)
    write_csv(options.out / "wrong_labels.csv", labels)
    text = NOTE.format(
        seeds=options.seeds,
        regression=markdown(table(numbers, "data")),
        classification=markdown(table(labels, "wrong labels")),
    )
    (options.out / "outliers.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
