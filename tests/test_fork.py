"""Children of a process that has fitted, or is fitting, fit with threads of their own."""

import os
import subprocess
import sys

import pytest

COMMON = """
import os, signal, sys, threading, time
import numpy as np
import stagenets

rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 5)), rng.integers(0, 3, 4000)

def fit(n_jobs, **params):
    params = {"n_hidden": 3, "alpha": 3.0, "pool_size": 20, "random_state": 0, **params}
    return stagenets.ELMClassifier(n_jobs=n_jobs, **params).fit(X, y).decision_function(X).tobytes()

def in_child(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(200)  # ends a child that hangs; a busy machine takes a while
        os._exit(0 if work() else 1)
    return pid

def check(pid):
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, status
"""

THOUSAND_FITS = """
expected = fit(2)
for child in range(10):
    check(in_child(lambda: all(fit(2 if i % 2 else None) == expected for i in range(100))))
    assert fit(2) == expected
"""

# Draws that see a helper beside the threads that were there before the fit.
THREADS_IN_A_CHILD = """
def threads():
    return len(os.listdir("/proc/self/task"))

def threads_at_rest():
    # The system lists a thread for a moment after it has been joined.
    for _ in range(500):
        count = threads()
        time.sleep(0.02)
        if threads() == count:
            return count

def fits_with_helpers():
    seen = []
    def draw(rng, pool_size, n_features):
        seen.append(threads())
        return rng.uniform(-1, 1, (n_features, pool_size)), rng.uniform(0, 1, pool_size)
    fit(1)  # the BLAS starts its own threads again after a fork
    before = threads_at_rest()
    fit(3, weight_init=draw, pool_size=200)
    return set(seen) == {before + 2} and threads_at_rest() == before

assert fits_with_helpers()
check(in_child(fits_with_helpers))
check(in_child(lambda: fits_with_helpers() and check(in_child(fits_with_helpers)) is None))
"""

WHILE_ANOTHER_THREAD_FITS = """
from stagenets.fitting import _threads

def blas():
    return [library.get_threads() for library in _threads._blas]

expected, before = fit(2), blas()
done = threading.Event()
def fit_until_done():
    while not done.is_set():
        fit(2)
others = [threading.Thread(target=fit_until_done) for _ in range(2)]
for other in others:
    other.start()
try:
    for child in range(40):
        check(in_child(lambda: blas() == before and fit(2) == expected and blas() == before))
finally:
    done.set()
    for other in others:
        other.join()
assert blas() == before
"""

# The child goes on with the fit in whose midst it was forked, without the helpers it had.
IN_THE_MIDST_OF_A_FIT = """
parent, pids = os.getpid(), []
def draw(rng, pool_size, n_features):
    if os.getpid() == parent and len(pids) < 3:
        pids.append(os.fork())
        if pids[-1] == 0:
            signal.alarm(200)
    return rng.uniform(-1, 1, (n_features, pool_size)), rng.uniform(0, 1, pool_size)
forked = fit(3, weight_init=draw)
pids_seen, pids = list(pids), [0] * 3
same = fit(3, weight_init=draw) == forked
if os.getpid() != parent:
    os._exit(0 if same else 1)
assert same and len(pids_seen) == 3
for pid in pids_seen:
    check(pid)
"""

# Several fits at once, whose helpers call the draws too. A child of the calling thread goes on if
# no other was at work, or raises; one of a helper has nobody to go on for: it ends with a message.
IN_THE_MIDST_OF_A_CROSS_VALIDATION = """
parent, pids = os.getpid(), []
def draw(rng, pool_size, n_features):
    if os.getpid() == parent and len(pids) < 4:
        pid = os.fork()
        if pid == 0:
            signal.alarm(200)
        else:
            pids.append(pid)
    return rng.uniform(-1, 1, (n_features, pool_size)), rng.uniform(0, 1, pool_size)
try:
    forked = fit(3, alpha="auto", weight_init=draw)
except RuntimeError as error:
    if os.getpid() == parent or "forked in the midst of a fit" not in str(error):
        raise
    os._exit(0)
if os.getpid() != parent:
    os._exit(0)
assert len(pids) == 4 and fit(3, alpha="auto", weight_init=draw) == forked
for pid in pids:
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 1), status
"""

AFTER_OPENMP = """
from sklearn.ensemble import HistGradientBoostingClassifier

expected = fit(2)
HistGradientBoostingClassifier(max_iter=2).fit(X, y)
for child in range(5):
    check(in_child(lambda: fit(2) == expected))
"""

PROCESSES = """
import multiprocessing
from joblib import Parallel, delayed

if __name__ == "__main__":
    model = stagenets.ELMClassifier(n_hidden=3, pool_size=20, random_state=0, n_jobs=2)
    expected = model.fit(X, y).readout_
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            for fitted in pool.starmap(model.fit, [(X, y)] * 3):
                assert (fitted.readout_ == expected).all(), method
    for fitted in Parallel(n_jobs=2)(delayed(model.fit)(X, y) for _ in range(3)):
        assert (fitted.readout_ == expected).all()
"""

SCRIPTS = {
    "thousand-fits": THOUSAND_FITS,
    "while-another-thread-fits": WHILE_ANOTHER_THREAD_FITS,
    "in-the-midst-of-a-fit": IN_THE_MIDST_OF_A_FIT,
    "in-the-midst-of-a-cross-validation": IN_THE_MIDST_OF_A_CROSS_VALIDATION,
    "after-openmp": AFTER_OPENMP,
    "processes": PROCESSES,
}
if sys.platform == "linux":
    SCRIPTS["threads-in-a-child"] = THREADS_IN_A_CHILD


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("name", SCRIPTS)
def test_fits_in_children_neither_hang_nor_differ(name, tmp_path):
    script = tmp_path / "script.py"  # spawned children import it
    script.write_text(COMMON + SCRIPTS[name])
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", script],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
