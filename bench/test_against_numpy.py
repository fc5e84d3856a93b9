"""RVFLClassifier against Algorithm 1 in NumPy, float64 and float32, same draws, same choices.

Sparse weights are the package's default; classic networks have dense ones.

Compares fit times with the best incremental NumPy (whole arrays, and row blocks on Python threads)
and with a refit from scratch at every stage. NumPy may use all cores, and its pools are drawn
beforehand. The targets are printed, not asserted: `pytest bench/test_against_numpy.py --long`.
"""

import numpy as np
import pytest

from cases import CASES, LARGE, MEDIUM
from numpy_rivals import draw_pools, fit_incremental, fit_refit

SHORT = ["small-float64", "medium-float64", "wide-float64", "medium, dense-float64"]


def parameters():
    """Every case in both types; all but a few with --long only."""
    chosen = []
    for base in CASES.values():
        # Half an hour of NumPy is enough: dense weights run on the smaller cases only, in float64.
        kinds = [(base, "float64"), (base, "float32")]
        if base.n <= 50_000:
            kinds.append((base.dense, "float64"))
        for case, dtype in kinds:
            name = f"{case.name}-{dtype}"
            marks = [] if name in SHORT else [pytest.mark.long]
            chosen.append(pytest.param(case, dtype, id=name, marks=marks))
    return chosen


@pytest.mark.parametrize(("case", "dtype"), parameters())
def test_fit_time_against_numpy(race, report, long, case, dtype):
    X, y = case.data(dtype)
    pools = draw_pools(case, X.dtype)
    network = case.network()
    rivals = {
        "stagenets": lambda: network.fit(X, y),
        "incremental": lambda: fit_incremental(X, y, pools, case),
        "incremental, blocked": lambda: fit_incremental(X, y, pools, case, blocked=True),
    }
    if case.refit_bar:
        rivals["refit"] = lambda: fit_refit(X, y, pools, case)
    repeats = 5 if long else 3
    small = case.n * case.h < 1_000_000
    large = case.n * case.h > 10_000_000
    # The slow ones differ enough without a median.
    most = {"refit": 1, "incremental": 1 if large else 2}
    if large:
        most["incremental, blocked"] = 3
    bars = {"refit": case.refit_bar}
    what = f"{case.name} {dtype}"
    timings = race(
        what, rivals, repeats, bars=bars, most=most, warm_up=small, calls=3 if small else 1
    )
    best = min(("incremental", "incremental, blocked"), key=timings.median)
    report(
        what,
        "the better incremental",
        f"{timings.ratio(best, 'stagenets'):.2f}×",
        bar=f"≥ {case.incremental_bar:g}×",
    )


@pytest.mark.parametrize(
    "case", [MEDIUM, pytest.param(LARGE, marks=pytest.mark.long)], ids=lambda case: case.name
)
def test_float32_against_float64(race, long, case):
    X, y = case.data()
    single = X.astype(np.float32)
    network = case.network()
    rivals = {
        "stagenets, float32": lambda: network.fit(single, y),
        "stagenets, float64": lambda: network.fit(X, y),
    }
    race(f"{case.name}, float32", rivals, 5 if long else 3, bars={"stagenets, float64": 1.7})
