"""Units kept per stage and candidates drawn: what they take and gain where few inputs matter.

    python bench/blocks.py

Two classes that depend on a product and a sine of three of 50 inputs (`large.data`), 200 units,
`alpha=3`, all samples scored. Accuracy is the mean over seeds on 50,000 other samples, ± the
standard error of the difference from the first network; times are the best, relative to a one-shot
network. Writes blocks.md to docs/benchmarks/.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from large import data
from report_tables import Row, add_output_option, markdown, write_markdown
from stagenets import RVFLClassifier

ONE_SHOT = {"selection": "random"}
NETWORKS: list[dict[str, Any]] = [
    {"pool_size": 100, "block_size": 1},
    {"pool_size": 100, "block_size": 2},
    {"pool_size": 100, "block_size": 4},
    {"pool_size": 400, "block_size": 1},
    {"pool_size": 400, "block_size": 4},
    {"pool_size": 400, "block_size": 8},
    {"pool_size": 400, "block_size": 16},
]


def fit(settings: dict[str, Any], seed: int, X: Any, y: Any) -> tuple[float, RVFLClassifier]:
    model = RVFLClassifier(
        n_hidden=200, alpha=3, **({"score_fraction": 1.0} | settings), random_state=seed
    )
    started = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - started, model


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_output_option(parser)
    parser.add_argument("--rows", type=int, nargs="+", default=[3_000, 12_000, 48_000])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    X_test, y_test = data(50_000, seed=1)
    table: list[Row] = [dict(settings) for settings in NETWORKS]
    for rows in options.rows:
        X, y = data(rows)
        seconds = np.empty((options.seeds, 1 + len(NETWORKS)))
        accuracy = np.empty_like(seconds)
        for seed in range(options.seeds):
            for k, settings in enumerate([ONE_SHOT, *NETWORKS]):
                seconds[seed, k], model = fit(settings, seed, X, y)
                accuracy[seed, k] = 100 * model.score(X_test, y_test)
        times = seconds.min(axis=0) / seconds[:, 0].min()
        for k, row in enumerate(table, start=1):
            gains = accuracy[:, k] - accuracy[:, 1]
            error = f" ± {gains.std(ddof=1) / np.sqrt(len(gains)):.1f}" if k > 1 else ""
            row[f"{rows:,} samples"] = f"{accuracy[:, k].mean():.1f} %{error}"
            row[f"time, {rows:,}"] = f"{times[k]:.1f}"
        print(markdown(table), flush=True)
    note = (
        "Two classes that depend on three of 50 inputs, 200 units, `alpha=3`, all samples scored; "
        f"means of {options.seeds} seeds, ± the standard error of the difference from the first "
        "row; best times relative to a one-shot network. Made by `bench/blocks.py`."
    )
    write_markdown(options.out / "blocks.md", "Pools and blocks", note, table)


if __name__ == "__main__":
    main()
