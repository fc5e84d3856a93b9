"""Wrong labels and gross outliers in targets: losses side by side, and beside other libraries.

    python bench/outliers.py --data DIR --regression DIR

DIR holds sets as NAME.npz with X and y. Every set is split at random several times, a third for
testing. Classification: a share of the training labels is replaced by other classes. Regression: a
tenth of the training targets, or none, is moved by 5 to 20 deviations up or down. Test samples
are as they are. Writes outliers.md, outliers.csv and wrong_labels.csv to docs/benchmarks/.
"""

from __future__ import annotations

import argparse
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from numpy.typing import NDArray
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_friedman1
from sklearn.linear_model import HuberRegressor
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

from report_tables import Row, add_output_option, markdown, write_csv
from stagenets import RVFLClassifier, RVFLRegressor

CLASSES = (
    "breast_cancer_wisc_diag",
    "ionosphere",
    "pima",
    "statlog_vehicle",
    "wall_following",
)
NUMBERS = ("friedman1", "airfoil", "autompg", "concrete", "energy", "housing", "stock", "yacht")
WRONG = (0.0, 0.1, 0.2, 0.4)
OUTLIERS = (0.0, 0.1)
Array = NDArray[Any]
Models = dict[str, Any]


def classifiers(seed: int) -> Models:
    def network(loss: str, **params: Any) -> RVFLClassifier:
        return RVFLClassifier(loss=loss, random_state=seed, n_jobs=1, **params)

    return {
        **{f"RVFL, {loss}": network(loss) for loss in ("log", "bounded", "squared")},
        **{f"RVFL, {loss}, alpha=3": network(loss, alpha=3.0) for loss in ("log", "bounded")},
        "LightGBM": LGBMClassifier(n_jobs=1, random_state=seed, verbose=-1),
    }


def regressors(seed: int) -> Models:
    boosted = {"n_jobs": 1, "random_state": seed, "verbose": -1}
    return {
        **{f"RVFL, {loss}": RVFLRegressor(loss=loss, random_state=seed, n_jobs=1)
           for loss in ("squared", "huber", "bounded")},
        "LightGBM": LGBMRegressor(**boosted),
        # Its threshold is 0.9 in the unit of the targets.
        "LightGBM, huber": TransformedTargetRegressor(
            LGBMRegressor(objective="huber", **boosted),
            transformer=RobustScaler(unit_variance=True),
        ),
        "HuberRegressor": make_pipeline(StandardScaler(), HuberRegressor(max_iter=5000)),
    }  # fmt: skip


def with_wrong_labels(y: Array, share: float, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    classes, codes = np.unique(y, return_inverse=True)
    others = (codes + rng.integers(1, len(classes), len(y))) % len(classes)
    wrong: Array = classes[np.where(rng.random(len(y)) < share, others, codes)]
    return wrong


def with_outliers(y: Array, share: float, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    shift = rng.choice([-1, 1], len(y)) * rng.uniform(5, 20, len(y)) * y.std()
    return np.where(rng.random(len(y)) < share, y + shift, y)


def rows_of(name: str, folder: Path, most: int, seed: int) -> tuple[Array, Array]:
    """Some of the rows of a set; Friedman's function is made."""
    if name == "friedman1":
        X, y = make_friedman1(most, noise=1.0, random_state=seed)
        return X, y
    with np.load(folder / f"{name}.npz", allow_pickle=False) as data:
        X, y = data["X"], data["y"]
    some = np.random.default_rng(seed).permutation(len(y))[:most]
    return X[some], y[some]


def scores(
    names: tuple[str, ...],
    shares: tuple[float, ...],
    models: Callable[[int], Models],
    spoil: Callable[[Array, float, int], Array],
    folder: Path,
    options: argparse.Namespace,
) -> list[Row]:
    rows: list[Row] = []
    for name in names:
        for seed in range(options.splits):
            X, y = rows_of(name, folder, options.rows, seed)
            labels = y if models is classifiers else None
            X, X_test, y, y_test = train_test_split(
                X, y, test_size=1 / 3, random_state=seed, stratify=labels
            )
            for share in shares:
                spoilt = spoil(y, share, seed)
                for model_name, model in models(seed).items():
                    score = model.fit(X, spoilt).score(X_test, y_test)
                    row = {"set": name, "n": len(y), "share": share, "split": seed}
                    rows.append({**row, "model": model_name, "score": score})
        print(name, flush=True)
    return rows


def mean(rows: list[Row], **wanted: Any) -> float:
    return float(np.mean([r["score"] for r in rows if all(r[k] == v for k, v in wanted.items())]))


def tables(rows: list[Row], what: str, unit: float, digits: int) -> str:
    methods = list(dict.fromkeys(row["model"] for row in rows))
    shares = list(dict.fromkeys(row["share"] for row in rows))
    names = list(dict.fromkeys(row["set"] for row in rows))

    def shown(**wanted: Any) -> str:
        return f"{unit * mean(rows, **wanted):.{digits}f}"

    overall: list[Row] = [
        {"": m, **{f"{100 * s:g} % {what}": shown(model=m, share=s) for s in shares}}
        for m in methods
    ]
    by_set: list[Row] = [
        {"set": n, what: f"{100 * s:g} %", **{m: shown(set=n, share=s, model=m) for m in methods}}
        for n in names
        for s in shares
    ]
    return markdown(overall) + "\nSet by set:\n\n" + markdown(by_set)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--regression", type=Path, required=True, metavar="DIR")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=600, help="of each set, at most")
    add_output_option(parser)
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LightGBM on names of columns
        numbers = scores(NUMBERS, OUTLIERS, regressors, with_outliers, options.regression, options)
        labels = scores(CLASSES, WRONG, classifiers, with_wrong_labels, options.data, options)
    write_csv(options.out / "outliers.csv", numbers)
    write_csv(options.out / "wrong_labels.csv", labels)
    write_report(numbers, labels, options)


def write_report(numbers: list[Row], labels: list[Row], options: argparse.Namespace) -> None:
    note = f"""`python bench/outliers.py`: means over {options.splits} random splits of each set,
    of up to {options.rows} samples, of which a third tests. All models have their defaults; only
    the targets of LightGBM's Huber loss are scaled by median and quartiles first, since its
    threshold is in their unit. Test samples are not spoilt."""
    first = """R² on the test samples, averaged over the sets. Outliers are off by 5 to 20
    deviations of the targets, up or down."""
    second = """Accuracy in per cent on the test samples, averaged over the sets. Wrong labels are
    those of any other class. By default the penalty is chosen by folds, which have wrong labels
    too; two lines are with one that is given."""
    parts = [
        "# Outliers and wrong labels",
        _filled(note),
        "## Outliers in the targets",
        _filled(first),
        tables(numbers, "outliers", 1, 3),
        "## Wrong labels",
        _filled(second),
        tables(labels, "wrong labels", 100, 1),
    ]
    (options.out / "outliers.md").write_text("\n\n".join(parts), encoding="utf-8")
    print("wrote outliers.md")


def _filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 118)


if __name__ == "__main__":
    main()
