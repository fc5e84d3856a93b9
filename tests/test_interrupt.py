"""Ctrl-C in a long fit: KeyboardInterrupt within half a second, and the estimator lives on."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import stagenets

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="SIGINT to a child needs POSIX")

SCRIPT = """
import signal, time
import numpy as np
import stagenets

signal.signal(signal.SIGINT, signal.default_int_handler)  # even if the parent ignored it
rng = np.random.default_rng(0)
X, y = rng.normal(size=({n}, {p})), rng.integers(0, 3, {n})
model = stagenets.{cls}(random_state=0, n_jobs=2, {params})
for _ in range({attempts}):
    print("fitting", flush=True)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        print(time.monotonic(), flush=True)
    else:
        print("finished", flush=True)
assert not hasattr(model, "readout_")
model.set_params({small})
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
    # A kernel that is singular but for the penalty: its factor comes from a QR factorisation.
    "tiny-penalty-dual": (
        "RVFLClassifier",
        3000,
        1500,
        "n_hidden=2000, solver='dual', alpha=1e-8, block_size=20",
    ),
    # More inputs than rows: the start is orthogonalised twice or, without a penalty, loses columns.
    "twice-orthogonalized-start": (
        "RVFLClassifier",
        2500,
        4000,
        "n_hidden=2000, solver='primal', alpha=1e-4",
    ),
    "dropped-columns": ("RVFLClassifier", 2500, 4000, "n_hidden=2000, alpha=0.0"),
    "bls": (
        "BLSClassifier",
        20_000,
        30,
        "n_windows=20, n_feature_nodes=50, n_enhancement=2000, pool_size=500",
    ),
    # Many fits at once, each on one thread: all of them must stop, not only the caller's.
    "search": ("RVFLClassifierCV", 20_000, 30, "max_hidden=2000, pool_sizes=[300]"),
    "search-one-shot": (
        "ELMClassifierCV",
        20_000,
        30,
        "selections=['random'], n_hidden=[1000, 3000], scoring='neg_log_loss'",
    ),
    "early-stopping-cv": ("RVFLClassifier", 20_000, 30, "n_hidden=2000, early_stopping='cv'"),
}
DELAYS = [0.2, 0.7, 1.6]  # seconds into the fit: setting up, then in the midst of it


def seconds_to_interrupt(name):
    """Delay from each SIGINT to its KeyboardInterrupt (the monotonic clock is the machine's)."""
    cls, n, p, params = LONG_FITS[name]
    small = "selection='residual', block_size=1, pool_size=20, solver='auto', " + (
        "n_windows=1, n_feature_nodes=3, n_enhancement=3" if "BLS" in cls else "n_hidden=5"
    )
    if cls.endswith("CV"):
        small = "n_hidden=[3, 5], pool_sizes=[20]"
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


class Failing:
    """Uniform draws of which one, some way into the fit, raises an error."""

    def __init__(self, fails_at):
        self.fails_at = fails_at
        self.calls = 0
        self.raised = None

    def __call__(self, rng, pool_size, n_features):
        self.calls += 1
        if self.calls == self.fails_at:
            self.raised = time.monotonic()
            raise RuntimeError("no weights today")
        return rng.uniform(-1, 1, (n_features, pool_size)), rng.uniform(0, 1, pool_size)


@pytest.mark.parametrize(
    ("cls", "params"),
    [
        (stagenets.RVFLClassifierCV, {"max_hidden": 2000}),
        (stagenets.RVFLClassifier, {"n_hidden": 2000, "early_stopping": "cv"}),
    ],
    ids=["search", "early-stopping-cv"],
)
@pytest.mark.parametrize("fails_at", [1, 2, 75])
def test_an_error_in_one_of_many_fits_ends_them_all_within_half_a_second(cls, params, fails_at):
    """The promise is 0.5 s; as much again is allowed, since a busy machine may not run us."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 30)), rng.integers(0, 3, 20_000)
    draws = Failing(fails_at)
    searched = cls is stagenets.RVFLClassifierCV
    weights = {"weight_inits": [draws]} if searched else {"weight_init": draws}
    model = cls(**weights, random_state=0, n_jobs=2, **params)
    with pytest.raises(RuntimeError, match="no weights today"):
        model.fit(X, y)
    assert time.monotonic() - draws.raised < 1.0
    assert not hasattr(model, "classes_")
    model.set_params(**{name: 5 for name in params if "hidden" in name})
    assert model.fit(X[:200], y[:200]).predict(X[:3]).shape == (3,)
