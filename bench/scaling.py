"""How fit time grows with n, p, h, M, q and the number of threads: curves and exponents.

    python bench/scaling.py
    python bench/scaling.py n h --repeats 9

One size is varied at a time around n = 20,000, p = 50, q = 5, h = 200, M = 100, k = 2. All fits of
a sweep run in turn; a time is the median of the rounds. The exponent is the slope of log time over
log size by least squares, over the whole sweep and over its upper half, where fixed costs matter
less. Writes scaling.csv, scaling.md and scaling.png to docs/benchmarks/.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cases import MEDIUM, Case
from report_tables import Row, add_output_option, markdown, write_csv
from timing import interleave

BASE = replace(MEDIUM, name="base", incremental_bar=None, refit_bar=None)

SWEEPS: dict[str, tuple[int, ...]] = {
    "n": (2_500, 5_000, 10_000, 20_000, 40_000, 80_000),
    "p": (10, 20, 50, 100, 200, 400),
    "h": (50, 100, 200, 400, 800),
    "M": (25, 50, 100, 200, 400, 800),
    "q": (2, 5, 10, 20, 40, 80),
    "threads": tuple(range(1, len(os.sched_getaffinity(0)) + 1)),
}


def variant(base: Case, name: str, value: int) -> tuple[Case, dict[str, Any]]:
    """The base case with one size changed, and the parameters of the network."""
    if name == "threads":
        return base, {"n_jobs": value}
    size: dict[str, Any] = {name: value}
    return replace(base, **size), {}


def sweep(base: Case, name: str, values: tuple[int, ...], repeats: int) -> list[Row]:
    """Median fit times over the values of one size."""
    fits = {}
    for value in values:
        case, params = variant(base, name, value)
        X, y = case.data()
        network = case.network(**params)
        fits[str(value)] = lambda network=network, X=X, y=y: network.fit(X, y)
    timings = interleave(fits, repeats)
    return [
        {"size": name, "value": value, "fit (s)": timings.median(str(value))} for value in values
    ]


def exponent(rows: list[Row]) -> float:
    """Slope of log time over log size."""
    sizes = np.log([row["value"] for row in rows])
    return float(np.polyfit(sizes, np.log([row["fit (s)"] for row in rows]), 1)[0])


def exponents(name: str, rows: list[Row]) -> Row:
    upper = rows[len(rows) // 2 - 1 :] if len(rows) > 3 else rows
    enough = len(rows) > 1
    return {
        "size": name,
        "from": rows[0]["value"],
        "to": rows[-1]["value"],
        "exponent": exponent(rows) if enough else None,
        "exponent, upper half": exponent(upper) if enough else None,
    }


def draw(sweeps: dict[str, list[Row]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    columns = min(3, len(sweeps))
    lines = -(-len(sweeps) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(4 * columns, 3.2 * lines), squeeze=False, layout="constrained"
    )
    for axis, (name, rows) in zip(axes.flat, sweeps.items(), strict=False):
        values, seconds = ([row[key] for row in rows] for key in ("value", "fit (s)"))
        axis.loglog(values, seconds, marker="o")
        slope = -1 if name == "threads" else 1
        line = [seconds[-1] * (value / values[-1]) ** slope for value in values]
        axis.loglog(values, line, color="gray", linestyle=":", label=f"slope {slope}")
        axis.xaxis.set_minor_formatter("")
        axis.set_xticks(values, [f"{value:,}" for value in values], fontsize=8)
        axis.set_xlabel(name)
        axis.set_ylabel("fit time (s)")
        axis.legend(fontsize=8)
        axis.grid(alpha=0.3, which="both")
    for axis in axes.flat[len(sweeps) :]:
        axis.set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"wrote {path.name}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", nargs="*", default=list(SWEEPS), help=", ".join(SWEEPS))
    add_output_option(parser)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--shrink", type=int, default=1, help="divide the base n and h, and their sweeps, by this"
    )
    options = parser.parse_args()
    base = replace(BASE, n=BASE.n // options.shrink, h=BASE.h // options.shrink)
    options.out.mkdir(parents=True, exist_ok=True)
    sweeps: dict[str, list[Row]] = {}
    for name in options.sizes:
        by = options.shrink if name in ("n", "h") else 1
        sweeps[name] = sweep(base, name, tuple(v // by for v in SWEEPS[name]), options.repeats)
        print(exponents(name, sweeps[name]), flush=True)
    slopes = [exponents(name, rows) for name, rows in sweeps.items()]
    rows = [row for rows in sweeps.values() for row in rows]
    text = (
        "# How fit time grows\n\n"
        f"Around n = {base.n}, p = {base.p}, q = {base.q}, h = {base.h}, M = {base.M}, "
        f"k = {base.k}, float64; medians of {options.repeats} interleaved fits. Made by "
        f"`bench/scaling.py`.\n\n{markdown(slopes)}\n{markdown(rows)}\n![scaling](scaling.png)\n"
    )
    print(text)
    write_csv(options.out / "scaling.csv", rows)
    (options.out / "scaling.md").write_text(text, encoding="utf-8")
    draw(sweeps, options.out / "scaling.png")


if __name__ == "__main__":
    main()
