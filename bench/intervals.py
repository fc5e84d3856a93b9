"""Coverage and width of intervals and of prediction sets, beside split conformal and LightGBM.

    python bench/intervals.py --data DIR --classes DIR

Every set of the first folder (NAME.npz with X and y) is split at random several times. Intervals of
RVFLRegressor from leave-one-out and from cross-fitted errors; the same network with a quarter of
the training rows set aside for errors (split conformal); and the quantiles of LightGBM. Then sets
of classes on some sets of the second folder: RVFLClassifier, and LightGBM with a quarter of the
rows set aside. Writes intervals.md, intervals.csv and prediction_sets.csv to docs/benchmarks/.
"""

from __future__ import annotations

import argparse
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from report_tables import Row, add_output_option, markdown, write_csv
from stagenets import RVFLClassifier, RVFLRegressor
from stagenets.study._regression_data import available, load

COVERAGES = (0.8, 0.9, 0.95)
CLASSES = (
    "abalone",
    "cardiotocography_3clases",
    "contrac",
    "mammographic",
    "pima",
    "statlog_german_credit",
)
CLASSES += ("statlog_landsat", "statlog_vehicle", "vertebral_column_3clases")
Array = NDArray[Any]
Parts = tuple[Array, Array, Array, Array]


def conformal(errors: Array, coverage: float) -> float:
    """The quantile of split conformal prediction."""
    rank = int(np.ceil(coverage * (len(errors) + 1)))
    return float(np.sort(errors)[rank - 1]) if rank <= len(errors) else np.inf


def network(kind: str) -> Callable[..., Iterator[Array]]:
    def intervals(X: Array, y: Array, X_test: Array, seed: int) -> Iterator[Array]:
        model = RVFLRegressor(intervals=kind, random_state=seed).fit(X, y)
        for coverage in COVERAGES:
            yield model.predict_interval(X_test, coverage)

    return intervals


def split_conformal(X: Array, y: Array, X_test: Array, seed: int) -> Iterator[Array]:
    X, X_apart, y, y_apart = train_test_split(X, y, test_size=0.25, random_state=seed)
    model = RVFLRegressor(random_state=seed).fit(X, y)
    errors = np.abs(y_apart - model.predict(X_apart))
    found = model.predict(X_test)
    for coverage in COVERAGES:
        half = conformal(errors, coverage)
        yield np.column_stack([found - half, found + half])


def quantiles(X: Array, y: Array, X_test: Array, seed: int) -> Iterator[Array]:
    for coverage in COVERAGES:
        ends = []
        for level in ((1 - coverage) / 2, (1 + coverage) / 2):
            model = lightgbm.LGBMRegressor(
                objective="quantile", alpha=level, random_state=seed, n_jobs=1, verbose=-1
            )
            ends.append(model.fit(X, y).predict(X_test))
        yield np.sort(np.column_stack(ends), axis=1)


REGRESSORS = {
    'intervals="cv"': network("cv"),
    'intervals="loo"': network("loo"),
    "split conformal": split_conformal,
    "LightGBM quantiles": quantiles,
}


def parts_of(X: Array, y: Array, seed: int, rows: int, stratify: Any = None) -> Parts:
    """Training and test parts of at most this many rows each, test rows last."""
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.3, random_state=seed, stratify=stratify
    )
    return X[:rows], y[:rows], X_test[:rows], y_test[:rows]


def regression_rows(options: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    for name in available(options.data):
        data = load(options.data, name)
        y = data.y if data.y.ndim == 1 else data.y[:, 0]
        for seed in range(options.splits):
            X_train, y_train, X_test, y_test = parts_of(data.X, y, seed, options.rows)
            for method, intervals in REGRESSORS.items():
                found = intervals(X_train, y_train, X_test, seed)
                for coverage, (low, high) in zip(COVERAGES, (i.T for i in found), strict=True):
                    held = np.mean((low <= y_test) & (y_test <= high))
                    width = np.mean(high - low) / np.std(y)
                    row = {"set": name, "n": len(y_train), "split": seed, "method": method}
                    rows.append({**row, "nominal": coverage, "coverage": held, "width": width})
        print(name, flush=True)
    return rows


def means(rows: list[Row], **wanted: Any) -> dict[str, Array]:
    """Mean coverage and width of each data set, over its splits."""
    kept = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    names = sorted({row["set"] for row in kept})
    return {
        column: np.array([np.mean([r[column] for r in kept if r["set"] == n]) for n in names])
        for column in ("coverage", "width")
    }


def summary(rows: list[Row], methods: list[str], size: str) -> list[Row]:
    """Coverage on average and where it is worst, and width in units of the first method's."""
    lines = []
    for method in methods:
        line: Row = {"": method}
        for nominal in COVERAGES:
            found = means(rows, method=method, nominal=nominal)
            first = means(rows, method=methods[0], nominal=nominal)
            percent = f"{100 * nominal:.0f} %"
            line[percent] = f"{100 * found['coverage'].mean():.1f}"
            line[f"least, {percent}"] = f"{100 * found['coverage'].min():.1f}"
            finite = np.isfinite(found["width"]) & np.isfinite(first["width"])
            ratio = np.exp(np.mean(np.log(found["width"][finite] / first["width"][finite])))
            line[f"{size}, {percent}"] = f"{ratio:.2f}"
        lines.append(line)
    return lines


def calibration_error(probabilities: Array, right: Array, bins: int = 15) -> float:
    """Expected calibration error of the likeliest class, in bins of equal width."""
    confidence = probabilities.max(axis=1)
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = [
        abs(np.mean(right[place == b]) - np.mean(confidence[place == b])) * np.mean(place == b)
        for b in range(bins)
        if np.any(place == b)
    ]
    return float(np.sum(gaps))


def class_rows(options: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    for name in CLASSES:
        with np.load(options.classes / f"{name}.npz", allow_pickle=False) as file:
            X, y = np.asarray(file["X"], dtype=np.float64), file["y"]
        y = np.unique(y, return_inverse=True)[1]
        for seed in range(options.splits):
            X_train, y_train, X_test, y_test = parts_of(X, y, seed, options.rows, y)
            model = RVFLClassifier(intervals="cv", random_state=seed).fit(X_train, y_train)
            ours = [model.predict_set(X_test, coverage) for coverage in COVERAGES]
            X_fit, X_apart, y_fit, y_apart = train_test_split(
                X_train, y_train, test_size=0.25, random_state=seed
            )
            boosted = lightgbm.LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)
            boosted.fit(X_fit, y_fit)
            position = np.searchsorted(boosted.classes_, y_apart)
            known = np.isin(y_apart, boosted.classes_)
            apart = boosted.predict_proba(X_apart)[known, position[known]]
            theirs = boosted.predict_proba(X_test)
            others = [1 - theirs <= conformal(1 - apart, coverage) for coverage in COVERAGES]
            for method, classes, sets, probabilities in (
                ("RVFLClassifier", model.classes_, ours, model.predict_proba(X_test)),
                ("LightGBM, split conformal", boosted.classes_, others, theirs),
            ):
                hit = classes[None, :] == y_test[:, None]
                error = calibration_error(
                    probabilities, classes[probabilities.argmax(axis=1)] == y_test
                )
                for coverage, found in zip(COVERAGES, sets, strict=True):
                    row = {"set": name, "split": seed, "method": method, "nominal": coverage}
                    row |= {"coverage": (found & hit).any(axis=1).mean()}
                    rows.append({**row, "width": found.sum(axis=1).mean(), "ECE": error})
        print(name, flush=True)
    return rows


def _paragraph(*lines: str) -> str:
    return textwrap.fill(" ".join(lines), 118)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of regression sets")
    parser.add_argument("--classes", type=Path, required=True, help="folder of UCI sets")
    parser.add_argument("--splits", type=int, default=3, help="splits of each set")
    parser.add_argument("--rows", type=int, default=1000, help="most rows of a part")
    add_output_option(parser)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    numbers, classes = regression_rows(options), class_rows(options)
    write_csv(options.out / "intervals.csv", numbers)
    write_csv(options.out / "prediction_sets.csv", classes)
    sets = sorted({row["set"] for row in numbers})
    by_set: list[Row] = []
    for name in sets:
        line: Row = {"set": name, "n": next(r["n"] for r in numbers if r["set"] == name)}
        for method in REGRESSORS:
            found = means([r for r in numbers if r["set"] == name], method=method, nominal=0.9)
            line[method] = f"{100 * found['coverage'][0]:.1f} ({found['width'][0]:.2f})"
        by_set.append(line)
    errors = {
        method: np.mean([r["ECE"] for r in classes if r["method"] == method])
        for method in ("RVFLClassifier", "LightGBM, split conformal")
    }
    parts = [
        "# Intervals and prediction sets",
        _paragraph(
            f"`python bench/intervals.py`: {len(sets)} regression sets, {options.splits} random",
            f"splits of each, at most {options.rows:,} training rows, all models at their",
            "defaults. Percentages are of test rows inside their interval: the mean over the sets,",
            "and the lowest of any set. Widths are relative to the first line, as geometric",
            "means over the sets.",
        ),
        markdown(summary(numbers, list(REGRESSORS), "width")),
        _paragraph(
            "At 90 %, set by set, with the mean width in standard deviations of the target in",
            "parentheses:",
        ),
        markdown(by_set),
        _paragraph(
            f"Prediction sets on {len(CLASSES)} sets of the study, with the mean number of",
            "classes in place of the width. A set of RVFLClassifier always contains the likeliest",
            "class, so if that alone is right more often than asked for, so is the set. The",
            "expected calibration error of `predict_proba` (15 bins) is",
            f"{errors['RVFLClassifier']:.3f} on average, that of LightGBM fitted on three",
            f"quarters of the rows {errors['LightGBM, split conformal']:.3f}.",
        ),
        markdown(summary(classes, ["RVFLClassifier", "LightGBM, split conformal"], "classes")),
    ]
    text = "\n\n".join(part.strip() for part in parts) + "\n"
    (options.out / "intervals.md").write_text(text)


if __name__ == "__main__":
    main()
