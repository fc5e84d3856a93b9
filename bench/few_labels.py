"""Accuracy with few labels: the term for neighbours, beside other ways to use unlabelled samples.

    python bench/few_labels.py --data DIR

Every set (NAME.npz with X and y) is split at random several times: a third of some hundred samples
are for testing, and of the others 5, 10 or 20 in each class have labels. Compared are the network
fitted to these alone; with `manifold`; the same network in scikit-learn's SelfTrainingClassifier;
and LabelSpreading on a graph of as many neighbours. Writes few_labels.md and few_labels.csv to
docs/benchmarks/.
"""

from __future__ import annotations

import argparse
import textwrap
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from report_tables import Row, add_output_option, markdown, write_csv
from stagenets import RVFLClassifier

SETS = ("breast_cancer_wisc_diag", "image_segmentation", "statlog_landsat", "wall_following")
LABELS = (5, 10, 20)
UNITS = 50
Array = NDArray[Any]


def models(gammas: list[float], seed: int) -> dict[str, Any]:
    def network(**params: Any) -> RVFLClassifier:
        return RVFLClassifier(n_hidden=UNITS, random_state=seed, n_jobs=1, **params)

    spread = LabelSpreading(kernel="knn", n_neighbors=7)
    return {
        "labels only": network(unlabeled=-1),
        **{f"manifold={g:g}": network(unlabeled=-1, manifold=g) for g in gammas},
        "SelfTrainingClassifier": SelfTrainingClassifier(network()),
        "LabelSpreading": make_pipeline(StandardScaler(), spread),
    }


def hidden(y: Array, labels: int, seed: int) -> Array:
    """The classes of so many samples of each class, and -1 for all others."""
    rng = np.random.default_rng(seed)
    some = np.full_like(y, -1)
    for c in np.unique(y):
        of_class = rng.permutation(np.flatnonzero(y == c))[:labels]
        some[of_class] = c
    return some


def accuracies(options: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    for name in SETS:
        with np.load(options.data / f"{name}.npz") as data:
            X, y = data["X"], data["y"]
        for seed in range(options.splits):
            few = np.random.default_rng(seed).permutation(len(y))[: options.rows]
            X_train, X_test, y_train, y_test = train_test_split(
                X[few], y[few], test_size=1 / 3, random_state=seed, stratify=y[few]
            )
            for labels in LABELS:
                some = hidden(y_train, labels, seed)
                row = {"set": name, "n": len(y_train), "labels": labels, "split": seed}
                for method, model in models(options.gammas, seed).items():
                    score = model.fit(X_train, some).score(X_test, y_test)
                    rows.append({**row, "method": method, "accuracy": score})
        print(name, flush=True)
    return rows


def mean(rows: list[Row], **wanted: Any) -> float:
    kept = [r["accuracy"] for r in rows if all(r[k] == v for k, v in wanted.items())]
    return 100 * float(np.mean(kept))


def tables(rows: list[Row]) -> str:
    methods = list(dict.fromkeys(row["method"] for row in rows))
    overall: list[Row] = []
    for method in methods:
        line: Row = {"": method}
        for labels in LABELS:
            found = mean(rows, method=method, labels=labels)
            gain = found - mean(rows, method=methods[0], labels=labels)
            line[f"{labels} labels per class"] = f"{found:.1f}"
            line[f"gain, {labels}"] = "" if method == methods[0] else f"{gain:+.1f}"
        overall.append(line)
    by_set: list[Row] = [
        {
            "set": name,
            "labels per class": labels,
            **{m: f"{mean(rows, set=name, labels=labels, method=m):.1f}" for m in methods},
        }
        for name in SETS
        for labels in LABELS
    ]
    return markdown(overall) + "\nSet by set:\n\n" + markdown(by_set)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--gammas", type=float, nargs="+", default=[0.01])
    parser.add_argument("--rows", type=int, default=450, help="of each set, at most")
    add_output_option(parser)
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # self-training and spreading tell of iterations
        rows = accuracies(options)
    write(rows, options)


def write(rows: list[Row], options: argparse.Namespace) -> None:
    note = f"""`python bench/few_labels.py`: mean test accuracy in per cent over {len(SETS)} sets
    and {options.splits} random splits of each, with 5, 10 and 20 labels per class; the other
    training samples (at most {options.rows * 2 // 3} in all) have no label. Networks have {UNITS}
    units and otherwise their defaults. LabelSpreading also uses a graph of 7 neighbours, on
    standardised inputs. SelfTrainingClassifier wraps the network of the first line. The default of
    `--gammas` was picked on single splits that include three of these sets, so the gains are
    slightly optimistic."""
    text = "# Few labels\n\n" + textwrap.fill(" ".join(note.split()), 118) + "\n\n" + tables(rows)
    write_csv(options.out / "few_labels.csv", rows)
    (options.out / "few_labels.md").write_text(text)


if __name__ == "__main__":
    main()
