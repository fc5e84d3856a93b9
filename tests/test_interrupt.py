"""Ctrl-C in a long fit: KeyboardInterrupt within half a second, and the estimator lives on."""

import signal
import subprocess
import sys
import threading
import time

import pytest

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="SIGINT to a child needs POSIX")

SCRIPT = """
import signal, time
import numpy as np
import residuum

signal.signal(signal.SIGINT, signal.default_int_handler)  # even if the parent ignored it
rng = np.random.default_rng(0)
X, y = rng.normal(size=({n}, {p})), rng.integers(0, 3, {n})
model = residuum.{cls}(random_state=0, n_jobs=2, {params})
for _ in range({attempts}):
    print("fitting", flush=True)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        print(time.monotonic(), flush=True)
    else:
        print("finished", flush=True)
assert not hasattr(model, "coef_")
model.set_params({small}, selection="residual", block_size=1, pool_size=20, solver="auto")
assert model.fit(X[:200, :5], y[:200]).predict(X[:3, :5]).shape == (3,)
print("usable", flush=True)
"""

# Each of these fits takes ten seconds or more on two cores when left alone.
LONG_FITS = {
    "guided": ("RVFLClassifier", 20_000, 30, "n_hidden=4000, pool_size=500"),
    "large-pool": ("ELMClassifier", 100_000, 20, "n_hidden=100, pool_size=20_000"),
    "one-shot": ("ELMClassifier", 12_000, 20, "n_hidden=8000, selection='random'"),
    "many-inputs": ("RVFLClassifier", 12_000, 6000, "n_hidden=500, solver='primal'"),
    "dual": ("RVFLClassifier", 8000, 9000, "n_hidden=500, solver='dual'"),
    "bls": (
        "BLSClassifier",
        20_000,
        30,
        "n_windows=20, n_feature_nodes=50, n_enhancement=2000, pool_size=500",
    ),
}
DELAYS = [0.2, 0.7, 1.6]  # seconds into the fit: setting up, then in the midst of it


def seconds_to_interrupt(name):
    """Delay from each SIGINT to its KeyboardInterrupt (the monotonic clock is the machine's)."""
    cls, n, p, params = LONG_FITS[name]
    small = "n_windows=1, n_feature_nodes=3, n_enhancement=3" if "BLS" in cls else "n_hidden=5"
    script = SCRIPT.format(cls=cls, n=n, p=p, params=params, small=small, attempts=len(DELAYS))
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    watchdog = threading.Timer(120, child.kill)
    watchdog.start()
    waits = []
    try:
        for delay in DELAYS:
            assert child.stdout.readline() == "fitting\n"
            time.sleep(delay)
            sent = time.monotonic()
            child.send_signal(signal.SIGINT)
            reply = child.stdout.readline()
            assert reply not in ("", "finished\n"), f"the fit was not interrupted: {reply!r}"
            waits.append(float(reply) - sent)
        assert child.stdout.readline() == "usable\n"
        assert child.wait() == 0
    finally:
        watchdog.cancel()
        child.kill()
        child.stdout.close()
        child.wait()
    return waits


@posix_only
@pytest.mark.parametrize("name", LONG_FITS)
def test_long_fit_is_interrupted_within_half_a_second(name):
    """The promise is 0.5 s; as much again is allowed, since a busy machine may not run us."""
    waits = seconds_to_interrupt(name)
    assert max(waits) < 1.0, waits
    assert sorted(waits)[1] < 0.5, waits
