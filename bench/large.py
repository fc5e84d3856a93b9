"""Many rows: what a guided network takes and gains, beside one-shot, exact choice and LightGBM.

    python bench/large.py
    python bench/large.py --rows 500000 --repeats 1

Two classes of 50 inputs, which depend on a product of two inputs and a sine of a third. All
networks have 200 units and the same penalty. "exact" scores every candidate on all rows; "default"
as `score_fraction="auto"` says. Fits run in turn; ratios are of the best times. Writes large.md to
docs/benchmarks/.
"""

from __future__ import annotations

import argparse

import numpy as np
from lightgbm import LGBMClassifier

from report_tables import Row, add_output_option, markdown, write_markdown
from stagenets import RVFLClassifier
from timing import interleave

MODELS = {
    "one-shot": lambda: RVFLClassifier(n_hidden=200, selection="random", alpha=3, random_state=0),
    "default": lambda: RVFLClassifier(n_hidden=200, alpha=3, random_state=0),
    "exact": lambda: RVFLClassifier(n_hidden=200, alpha=3, score_fraction=1.0, random_state=0),
    "LightGBM": lambda: LGBMClassifier(n_jobs=-1, random_state=0, verbose=-1),
}


def data(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, and labels with a tenth of noise about the boundary."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 50))
    signal = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.1 * rng.standard_normal(rows)
    return X, (signal > 0).astype(int)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_output_option(parser)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    options = parser.parse_args()
    X, y = data(options.rows)
    X_test, y_test = data(100_000, seed=1)
    fitted = {}

    def fit(name: str) -> None:
        fitted[name] = MODELS[name]().fit(X, y)

    timings = interleave(
        {name: lambda name=name: fit(name) for name in options.models}, options.repeats
    )
    base = timings.best(options.models[0])
    table: list[Row] = [
        {
            "model": name,
            f"fit time / {options.models[0]}": timings.best(name) / base,
            "test accuracy": f"{100 * fitted[name].score(X_test, y_test):.2f} %",
        }
        for name in options.models
    ]
    print(markdown(table))
    note = (
        f"{options.rows:,} × 50, two classes, 200 units, `alpha=3`; LightGBM with its 100 rounds; "
        f"best of {options.repeats} interleaved fits, all threads. Made by `bench/large.py`."
    )
    write_markdown(options.out / "large.md", "Many rows", note, table)


if __name__ == "__main__":
    main()
