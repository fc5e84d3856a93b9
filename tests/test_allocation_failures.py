"""Every allocation of the core refused in turn: a MemoryError, or the same result without it.

The suite takes a sample of the allocations; ``STAGENETS_FAULTS=all`` refuses each of them, once
alone and once with all that follow (``nox -s faults``).
"""

import os
import pathlib
import platform
import shutil
import subprocess
import sys

import pytest

SCRIPT = """
import ctypes, os, sys
import numpy as np
import stagenets
from stagenets import _core

allocator = ctypes.CDLL(sys.argv[1])
allocator.requests_seen.restype = ctypes.c_long
for line in open("/proc/self/maps"):
    span, mode, *_, path = line.split(None, 5)
    name = os.path.basename(path.strip())
    if "x" in mode and (name == os.path.basename(_core.__file__) or "libstdc++" in name):
        begin, end = (ctypes.c_size_t(int(place, 16)) for place in span.split("-"))
        allocator.watch_code(begin, end)

rng = np.random.default_rng(0)
X = rng.normal(size=(240, 4))
y = np.sin(2 * X[:, 0]) + X[:, 1]
labels = np.digitize(y, [-0.5, 0.5])
small = {"random_state": 0, "n_jobs": 2, "pool_size": 8}
units = {**small, "n_hidden": 6}
broad = {**small, "n_windows": 2, "n_feature_nodes": 3, "n_enhancement": 4}
sn = stagenets


def fit(cls, params, X, target):
    model = cls(**params).fit(X, target)
    return getattr(model, "decision_function", model.predict)(X)


def fit_batches():
    model = sn.RVFLRegressor(alpha=1.0, **units)
    for rows in (slice(0, 120), slice(120, 240)):
        model.partial_fit(X[rows], y[rows])
    return model.predict(X)


ready = sn.RVFLClassifier(alpha=1.0, **units).fit(X, labels)
CASES = {
    "guided": lambda: fit(sn.RVFLRegressor, {**units, "alpha": 1.0}, X, y),
    "log-loss": lambda: fit(sn.RVFLClassifier, {**units, "alpha": 1.0}, X, labels),
    "float32": lambda: fit(sn.ELMRegressor, {**units, "alpha": 1.0}, X.astype("float32"), y),
    "one-shot": lambda: fit(
        sn.ELMClassifier, {**units, "alpha": 1.0, "selection": "random"}, X, labels
    ),
    "dual": lambda: fit(
        sn.RVFLRegressor, {**units, "alpha": 1.0, "solver": "dual"}, X[:20], y[:20]
    ),
    "no-penalty": lambda: fit(sn.RVFLRegressor, {**units, "alpha": 0.0}, np.c_[X, X], y),
    "broad": lambda: fit(sn.BLSClassifier, {**broad, "alpha": 1.0}, X, labels),
    "automatic": lambda: fit(sn.RVFLRegressor, units, X, y),
    "stopped": lambda: fit(
        sn.ELMClassifier, {**units, "alpha": 1.0, "early_stopping": "cv"}, X, labels
    ),
    "search": lambda: fit(
        sn.RVFLClassifierCV, {"max_hidden": 4, "cv": 2, "random_state": 0, "n_jobs": 2}, X, labels
    ),
    "broad-search": lambda: fit(
        sn.BLSRegressorCV,
        {"n_windows": [2], "n_feature_nodes": [3], "n_enhancement": [2, 4], "cv": 2,
         "pool_sizes": [8], "random_state": 0, "n_jobs": 2},
        X, y,
    ),
    "candidates": lambda: sn.fit_stagewise(
        lambda stage, size: np.random.default_rng(stage).normal(size=(240, size)),
        y, n_hidden=4, pool_size=8, n_jobs=2,
    ).readout,
    "batches": fit_batches,
    "predict": lambda: ready.predict_proba(X),
    "staged": lambda: np.stack(list(ready.staged_predict(X))),
    "transform": lambda: ready.transform(X),
    "draws": lambda: sn.draw_candidates(0, 3, 8, 4, weight_init="sparse")[0],
}


def attempt(case, expected, first, last):
    allocator.refuse_requests(ctypes.c_long(first), ctypes.c_long(last))
    try:
        found = case()
    except MemoryError:
        return True
    finally:
        allocator.refuse_requests(ctypes.c_long(0), ctypes.c_long(-1))
    np.testing.assert_array_equal(found, expected)
    return False


limit = None if sys.argv[2] == "all" else int(sys.argv[2])
for name in sys.argv[3:] or CASES:
    case = CASES[name]
    expected = case()
    allocator.refuse_requests(ctypes.c_long(0), ctypes.c_long(-1))
    case()
    count = allocator.requests_seen()
    if limit is None or count <= limit:
        numbers = range(count)
    else:
        numbers = sorted({int(number) for number in np.geomspace(1, count, limit) - 1})
    print(name, count, end=" ", flush=True)
    errors = 0
    for number in numbers:
        print(name, number, file=sys.stderr, flush=True)  # whose turn it was, if this is the end
        errors += attempt(case, expected, number, number)
        if limit is None or number % 2:
            errors += attempt(case, expected, number, 2**62)
    np.testing.assert_array_equal(case(), expected)
    print(errors, flush=True)
    assert errors or not count
"""
SAMPLE = os.environ.get("STAGENETS_FAULTS", "30")


@pytest.fixture(scope="module")
def allocator(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or platform.libc_ver()[0] != "glibc":
        pytest.skip("needs a C compiler and glibc")
    library = tmp_path_factory.mktemp("allocator") / "failing_allocator.so"
    source = pathlib.Path(__file__).with_name("failing_allocator.c")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def test_a_refused_allocation_is_a_memory_error_or_no_matter(allocator):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(allocator), SAMPLE],
        env={**os.environ, "LD_PRELOAD": str(allocator)},
        capture_output=True,
        text=True,
        timeout=None if SAMPLE == "all" else 600,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
