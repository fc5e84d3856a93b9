"""Time ÷ ideal time of a fit and of its parts.

    python bench/roofline.py                     medium and large, float64 and float32
    python bench/roofline.py medium --threads 1

In one run, this measures the speed of the machine (`machine`), counts the flops and bytes of a fit
from its sizes, takes the core's own record of where its time went, and prints how far each part is
from the ideal. A part's ideal time is the longer of its flops at the BLAS's GEMM rate on pool
blocks and its bytes at the read bandwidth. Sums over threads are divided by the number of threads.
Writes roofline.md.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from cases import CASES, Case
from machine import draw_rate, gemm_rate, read_bandwidth
from report_tables import Row, add_output_option, markdown, write_markdown
from stagenets import _core

PARTS = ("draw", "map", "activation", "score", "project", "append")

# An exponential as a polynomial of degree 11 with its scaling, one addition, one division.
ACTIVATION_FLOPS = 20


@dataclass(frozen=True)
class Machine:
    """Rates with all threads at work: flops, bytes and random numbers per second."""

    flops: float
    bytes: float
    draws: float

    def seconds(self, flops: float, traffic: float) -> float:
        return max(flops / self.flops, traffic / self.bytes)


def pool_block(case: Case) -> tuple[int, int, int]:
    """Rows, units and inputs of the product that maps a piece of a block, as cut by the core."""
    most = int(np.clip(case.n // (4 if case.p > 256 else 16), 96, 512))
    block = -(-case.n // max(1, case.n // most))
    pieces = -(-block // max(96, 32 * 1024 // (case.M + case.q)))
    return -(-block // pieces), case.M, case.p


def measure_machine(case: Case, dtype: str, threads: int) -> Machine:
    return Machine(
        gemm_rate(dtype, pool_block(case), threads), read_bandwidth(threads), draw_rate(threads)
    )


def ideal(case: Case, dtype: str, machine: Machine) -> dict[str, float]:
    """Ideal seconds of every part of a guided primal fit, and of what comes before its stages."""
    size = np.dtype(dtype).itemsize
    n, p, q, M = case.n, case.p, case.q, case.M
    seconds = dict.fromkeys((*PARTS, "other"), 0.0)
    start = 1 + p
    # Gram matrix of the fixed columns and their triangular solve.
    seconds["other"] = machine.seconds(2 * n * start**2, 3 * n * start * size)
    width = start
    for stage in range(case.stages):
        k = min(case.k, case.h - stage * case.k)
        seconds["draw"] += M * start / machine.draws
        seconds["map"] += machine.seconds(2 * n * p * M, n * p * size)
        seconds["activation"] += machine.seconds(ACTIVATION_FLOPS * n * M, 0)
        seconds["score"] += machine.seconds(2 * n * M * (q + 1), n * q * size)
        # B = QᵀG and GᵀG, one sweep over Q and one to make G again from the inputs.
        flops = 2 * n * k * (width + k) + n * k * (2 * p + ACTIVATION_FLOPS)
        seconds["project"] += machine.seconds(flops, n * size * (width + p + k))
        # Q' = (G − QB) L⁻ᵀ and R, one sweep over Q, Q' written, R read and written.
        flops = 2 * n * k * (width + k + q)
        seconds["append"] += machine.seconds(flops, n * size * (width + 2 * k + 2 * q))
        width += k
    return seconds


def profiled_fit(case: Case, X: Any, y: Any, threads: int) -> dict[str, float]:
    """Seconds of the call ("wall"), of the core ("total") and, if it reports them, of its parts."""
    fits: list[_core.Fit] = []
    core_fit = _core.fit

    def keep(*arguments: Any, **options: Any) -> Any:
        fits.append(core_fit(*arguments, **options))
        return fits[-1]

    network = case.network(n_jobs=threads)
    with mock.patch.object(_core, "fit", keep):
        started = time.perf_counter()
        network.fit(X, y)
        wall = time.perf_counter() - started
    profile = fits[-1].profile
    parts = {name: profile[name] / threads for name in PARTS if name in profile}
    # The core's own wall time, if reported: the flop count excludes the estimator's checks.
    return {**parts, "total": profile.get("total", wall), "wall": wall}


def table(case: Case, dtype: str, threads: int, repeats: int) -> list[Row]:
    machine = measure_machine(case, dtype, threads)
    m, n, k = pool_block(case)
    print(
        f"{case.name} {dtype}, {threads} threads: GEMM {machine.flops / 1e9:.1f} GFLOP/s at "
        f"{m}×{k}×{n}, read {machine.bytes / 1e9:.1f} GB/s, {machine.draws / 1e6:.0f} M draws/s",
        flush=True,
    )
    best = ideal(case, dtype, machine)
    X, y = case.data(dtype)
    profiled_fit(case, X, y, threads)
    runs = [profiled_fit(case, X, y, threads) for _ in range(repeats)]
    measured = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    total = measured.pop("total")
    del measured["wall"]
    if measured:
        measured["other"] = total - sum(measured.values())
    else:
        print('the installed core gives no fit["profile"]: only the whole fit can be compared')
    rows: list[Row] = []
    for name in (*measured, "whole fit"):
        wanted = sum(best.values()) if name == "whole fit" else best[name]
        seconds = total if name == "whole fit" else measured[name]
        rows.append(
            {
                "case": f"{case.name} {dtype}",
                "part": name,
                "seconds": seconds,
                "of the fit": f"{100 * seconds / total:.1f} %",
                "ideal": wanted,
                "time ÷ ideal": seconds / wanted,
                "bar": "≤ 1.6" if name == "whole fit" else "",
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", default=["medium", "large"], help=", ".join(CASES))
    add_output_option(parser)
    parser.add_argument("--dtypes", nargs="+", default=["float64", "float32"])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rows: list[Row] = []
    for name in options.cases:
        if CASES[name].n < CASES[name].columns:
            parser.error(f"{name} is fitted in the dual form, which is not counted here")
        for dtype in options.dtypes:
            rows += table(CASES[name].dense, dtype, options.threads, options.repeats)
    print(markdown(rows))
    note = (
        f"{options.threads} threads, median of {options.repeats} fits; times of parts are averaged "
        "over the threads. The weights are dense, so that the map is a matrix product. Made by "
        "`bench/roofline.py`."
    )
    write_markdown(options.out / "roofline.md", "Time ÷ ideal time", note, rows)


if __name__ == "__main__":
    main()
