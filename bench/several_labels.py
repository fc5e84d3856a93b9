"""Samples with several labels: one network for all, beside LightGBM with one model per label.

    python bench/several_labels.py

Two sets: ten labels made by `make_multilabel_classification`, and the digits, where a label is a
property of the digit that the picture shows (even, prime, has a loop, at least 5, a square): these
depend on each other, and none of them is made for a linear model. Over several splits. Prints a
table and writes several_labels.md and several_labels.csv to docs/benchmarks/.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier

from report_tables import Row, add_output_option, markdown, write_csv, write_markdown
from stagenets import RVFLClassifier
from timing import Timings

PROPERTIES = {
    "even": (0, 2, 4, 6, 8),
    "prime": (2, 3, 5, 7),
    "has a loop": (0, 6, 8, 9),
    "at least 5": (5, 6, 7, 8, 9),
    "a square": (0, 1, 4, 9),
}


def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X, np.column_stack([np.isin(y, digits) for digits in PROPERTIES.values()]).astype(int)


def made() -> tuple[np.ndarray, np.ndarray]:
    X, Y = make_multilabel_classification(2000, 30, n_classes=10, n_labels=3, random_state=0)
    return X, Y


DATASETS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "made, 10 labels": made,
    "digits, 5 labels": digits,
}


def models(seed: int) -> dict[str, Any]:
    def boosted() -> LGBMClassifier:
        return LGBMClassifier(n_jobs=1, random_state=seed, verbose=-1)

    return {
        "RVFL, log-loss": RVFLClassifier(random_state=seed, n_jobs=1),
        "RVFL, squared error": RVFLClassifier(loss="squared", random_state=seed, n_jobs=1),
        "LightGBM per label": MultiOutputClassifier(boosted()),
        "chain of LightGBM": ClassifierChain(boosted(), random_state=seed),
    }


def probabilities(model: Any, X: np.ndarray) -> np.ndarray:
    """The probability of every label; scikit-learn's wrapper of single labels gives a list."""
    found = model.predict_proba(X)
    return np.column_stack([each[:, 1] for each in found]) if isinstance(found, list) else found


def one_run(name: str, seed: int) -> list[Row]:
    X, Y = DATASETS[name]()
    X, X_test, Y, Y_test = train_test_split(X, Y, test_size=0.3, random_state=seed)
    rows = []
    for label, model in models(seed).items():
        timings = Timings()
        timings.run(label, lambda model=model: model.fit(X, Y))
        predicted = model.predict(X_test)
        chances = probabilities(model, X_test).clip(1e-15, 1 - 1e-15)
        likelihood = np.where(Y_test, np.log(chances), np.log1p(-chances))
        rows.append(
            {
                "data": name,
                "model": label,
                "seed": seed,
                "subset accuracy": float((predicted == Y_test).all(axis=1).mean()),
                "micro F1": f1_score(Y_test, predicted, average="micro"),
                "macro F1": f1_score(Y_test, predicted, average="macro", zero_division=0),
                "log-loss": float(-likelihood.mean()),
                "fit (s)": timings.seconds[label][0],
            }
        )
    return rows


def averaged(rows: list[Row]) -> list[Row]:
    table = []
    for data, model in dict.fromkeys((row["data"], row["model"]) for row in rows):
        own = [row for row in rows if (row["data"], row["model"]) == (data, model)]
        first = [row for row in rows if row["data"] == data and row["model"] == rows[0]["model"]]
        means = {
            name: float(np.mean([row[name] for row in own]))
            for name in ("subset accuracy", "micro F1", "macro F1", "log-loss")
        }
        times = [a["fit (s)"] / b["fit (s)"] for a, b in zip(own, first, strict=True)]
        table.append({"data": data, "model": model, **means, "fit time": float(np.median(times))})
    return table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_output_option(parser)
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args()
    rows = [
        row for name in DATASETS for seed in range(options.splits) for row in one_run(name, seed)
    ]
    table = averaged(rows)
    print(markdown(table))
    note = (
        f"Means over {options.splits} random splits, 30 % of the samples for testing, all models "
        "with their defaults, on one thread. The log-loss is the mean over samples and labels; fit "
        "times are in units of the first model's, which takes its turn with the others (on a busy "
        "machine). Made by `bench/several_labels.py`."
    )
    write_csv(options.out / "several_labels.csv", rows)
    write_markdown(options.out / "several_labels.md", "Several labels", note, table)


if __name__ == "__main__":
    main()
