"""Weights that look at the training rows: pairs of rows and copulas, beside the built-in families.

    python bench/weight_families.py --data DIR

Two distributions from the literature, written as functions for `weight_init`. "pairs": the weights
of a unit point from one random training row to another, and its middle lies between them, as in
sampled networks (Bolager et al., NeurIPS 2023), here without targets. "copula": weights are uniform
on [-1, 1] with the dependence that the inputs have, by the correlation of their normal scores; or
by a t copula of 4 degrees of freedom. RVFL networks of 100 units with squared errors, guided and
one-shot, on every set of the folder (NAME.npz with X and y), at most 1,000 rows each, two folds.
Writes weight_families.md and weight_families.csv to docs/benchmarks/.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata, t, wilcoxon
from sklearn.model_selection import StratifiedKFold

from report_tables import Row, add_output_option, markdown, write_csv
from stagenets import RVFLClassifier

MOST_ROWS = 1000
UNITS = 100
SELECTIONS = {"guided": "joint", "one-shot": "random"}
Array = NDArray[Any]
Draw = Callable[[np.random.Generator, int, int], tuple[Array, Array]]


def standardised(X: Array) -> Array:
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, np.inf)


def pairs(X: Array) -> Draw:
    """A sigmoid passes from 1/4 to 3/4, or three times as steeply, between two rows."""
    rows = standardised(X)

    def draw(rng: np.random.Generator, units: int, _: int) -> tuple[Array, Array]:
        start, end = rows[rng.integers(len(rows), size=(2, units))]
        way = end - start
        lengths = np.maximum((way**2).sum(axis=1), 1e-12)
        steepness = 2 * np.log(3) * 3 ** rng.uniform(size=units)
        weights = way * (steepness / lengths)[:, None]
        middle = start + rng.uniform(size=units)[:, None] * way
        return weights.T, -(weights * middle).sum(axis=1)

    return draw


def copula(X: Array, freedom: float | None = None) -> Draw:
    """A Gaussian copula, or a t copula with degrees of freedom."""
    ranks = rankdata(X, axis=0) / (len(X) + 1)
    scores = standardised(norm.ppf(ranks))
    correlation = scores.T @ scores / len(X) + 1e-3 * np.eye(X.shape[1])
    root = np.linalg.cholesky(correlation)

    def draw(rng: np.random.Generator, units: int, inputs: int) -> tuple[Array, Array]:
        normal = root @ rng.normal(size=(inputs, units))
        if freedom is None:
            levels = norm.cdf(normal / np.sqrt(1 + 1e-3))
        else:
            levels = t.cdf(normal / np.sqrt(rng.chisquare(freedom, size=units) / freedom), freedom)
        return 2 * levels - 1, rng.uniform(size=units)

    return draw


def half_and_half(one: Draw, other: Draw) -> Draw:
    def draw(rng: np.random.Generator, units: int, inputs: int) -> tuple[Array, Array]:
        parts = one(rng, units, inputs), other(rng, units, inputs)
        first = rng.uniform(size=units) < 0.5
        return (
            np.where(first, parts[0][0], parts[1][0]),
            np.where(first, parts[0][1], parts[1][1]),
        )

    return draw


def sparse(rng: np.random.Generator, units: int, inputs: int) -> tuple[Array, Array]:
    """The built-in family "sparse"."""
    most = min(6, inputs)
    seen = rng.integers(1, most + 1, size=units)
    order = rng.permuted(np.tile(np.arange(inputs)[:, None], units), axis=0)
    weights = np.where(order < seen, rng.normal(size=(inputs, units)) * 1.5 / np.sqrt(seen), 0)
    return weights, rng.uniform(-1.5, 1.5, size=units)


def families(X: Array) -> dict[str, Any]:
    return {
        "mixed": "mixed",
        "sparse": "sparse",
        "normal": "normal",
        "uniform": "uniform",
        "pairs": pairs(X),
        "half sparse, half pairs": half_and_half(sparse, pairs(X)),
        "copula": copula(X),
        "t copula": copula(X, 4),
    }


def accuracies(folder: Path) -> list[Row]:
    rows: list[Row] = []
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as data:
            X, y = data["X"], data["y"]
        few = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        X, y = X[few], y[few]
        folds = StratifiedKFold(2, shuffle=True, random_state=0)
        with np.errstate(all="ignore"):
            splits = list(folds.split(X, y)) if np.bincount(y).max() > 1 else []
        for kind, selection in SELECTIONS.items():
            found: dict[str, list[float]] = {}
            for train, test in splits:
                for name, family in families(X[train]).items():
                    model = RVFLClassifier(
                        n_hidden=UNITS,
                        loss="squared",
                        selection=selection,
                        weight_init=family,
                        random_state=0,
                    )
                    score = model.fit(X[train], y[train]).score(X[test], y[test])
                    found.setdefault(name, []).append(score)
            rows += [
                {"set": path.stem, "kind": kind, "family": name, "accuracy": np.mean(scores)}
                for name, scores in found.items()
            ]
        print(path.stem, flush=True)
    return rows


def table(rows: list[Row], kind: str) -> str:
    sets = sorted({row["set"] for row in rows})
    scores = {
        name: np.array(
            [
                next(
                    100 * r["accuracy"]
                    for r in rows
                    if (r["set"], r["kind"], r["family"]) == (s, kind, name)
                )
                for s in sets
            ]
        )
        for name in dict.fromkeys(row["family"] for row in rows)
    }
    lines: list[Row] = []
    for name, found in scores.items():
        line: Row = {"weights": name, "accuracy": f"{found.mean():.2f}"}
        for rival in ("mixed", "uniform"):
            gain = found - scores[rival]
            shown = "" if name == rival else f"{gain.mean():+.2f}"
            wins = "" if name == rival else f"{(gain > 0).sum()}/{(gain < 0).sum()}"
            p = "" if name == rival else f"{wilcoxon(gain).pvalue:.1g}"
            line |= {f"over {rival}": shown, f"wins/losses, {rival}": wins, f"p, {rival}": p}
        lines.append(line)
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    add_output_option(parser)
    options = parser.parse_args()
    rows = accuracies(options.data)
    count = len({row["set"] for row in rows})
    note = f"""`python bench/weight_families.py`: mean accuracy in per cent over {count} data sets
    of the study (at most {MOST_ROWS:,} rows of each, two folds) of RVFL networks with {UNITS}
    units, squared errors and defaults otherwise; p is that of Wilcoxon's signed-rank test over the
    data sets."""
    text = "# Weights that look at the rows\n\n" + textwrap.fill(" ".join(note.split()), 118)
    for kind in SELECTIONS:
        text += f"\n\n{kind.capitalize()} networks:\n\n" + table(rows, kind)
    write_csv(options.out / "weight_families.csv", rows)
    (options.out / "weight_families.md").write_text(text)


if __name__ == "__main__":
    main()
