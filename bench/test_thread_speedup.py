"""Two threads against one: on an idle machine, beside a busy process, and for a tiny fit.

Also the overhead of an estimator over a bare call of the core and over a trivial scikit-learn fit:
`pytest bench/test_thread_speedup.py --long`.
"""

import subprocess
import sys
from contextlib import contextmanager

import numpy as np
from sklearn.linear_model import RidgeClassifier

from cases import LARGE, MEDIUM, TINY
from stagenets import _core
from stagenets.fitting._threads import single_threaded_blas


def on_threads(case, X, y):
    """Fits of one case, two threads first."""
    one, two = case.network(n_jobs=1), case.network(n_jobs=2)
    return {"two threads": lambda: two.fit(X, y), "one thread": lambda: one.fit(X, y)}


@contextmanager
def busy_process():
    """A process that never rests, for as long as the block runs."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def test_two_threads_on_large(race, long):
    rivals = on_threads(LARGE, *LARGE.data())
    race("large, 2 threads", rivals, 5 if long else 2, bars={"one thread": 1.8}, warm_up=long)


def test_two_threads_beside_a_busy_process(race, long):
    rivals = on_threads(MEDIUM, *MEDIUM.data())
    with busy_process():
        # Two threads may take at most 1.2 times as long as one.
        bars = {"one thread": 0.83}
        race("medium, 2 threads, a core busy", rivals, 9 if long else 5, bars=bars)


def test_two_threads_on_a_tiny_fit(race, long):
    rivals = on_threads(TINY, *TINY.data())
    race("tiny, 2 threads", rivals, 50 if long else 20, bars={"one thread": 0.83})


def test_what_the_estimator_costs_on_a_tiny_fit(race, report, long):
    X, y = TINY.data()
    network, ridge = TINY.network(), RidgeClassifier()
    targets = _core.Targets.labels(y.astype(np.int64), TINY.q)
    settings = network._settings(X.shape)

    def bare_core():
        with single_threaded_blas():
            return _core.fit(X, targets, settings)

    rivals = {
        "estimator": lambda: network.fit(X, y),
        "bare core": bare_core,
        "RidgeClassifier": lambda: ridge.fit(X, y),
    }
    timings = race("tiny, estimator", rivals, 50 if long else 20)
    extra = timings.median("estimator") - timings.median("bare core")
    report("tiny, estimator", "over the bare core", f"{extra * 1e3:.2f} ms", bar="< 10 ms")
