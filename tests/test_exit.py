"""The process ends while daemon threads are fitting: cleanly, every time."""

import os
import subprocess
import sys

import pytest

# Forked children save the imports; each of them ends as any Python does.
SCRIPT = """
import os, signal, sys, threading, time
import numpy as np
import stagenets

rng = np.random.default_rng(0)
# Not numbers: np.unique, of NumPy 2.3 and later, ends the process itself if it looks at some then.
y = np.array(["a", "b", "c"], dtype=object)[rng.integers(0, 3, 5000)]
X = rng.normal(size=(5000, 20))

def weights(rng, pool_size, n_features):
    return rng.uniform(-1, 1, (n_features, pool_size)), rng.uniform(0, 1, pool_size)

def told(*_):
    return sum(range(1000)) > 0

small = stagenets.RVFLClassifier(n_hidden=20, pool_size=20, random_state=0, n_jobs=2).fit(X, y)
MODELS = [
    stagenets.RVFLClassifier(n_hidden=500, random_state=0, n_jobs=2),
    stagenets.ELMClassifier(n_hidden=500, weight_init=weights, random_state=0, n_jobs=2),
    stagenets.RVFLClassifierCV(max_hidden=200, weight_inits=[weights], random_state=0, n_jobs=2),
    stagenets.ELMClassifier(n_hidden=900, selection="random", random_state=0, n_jobs=2),
]

def fit_for_ever(model):
    while True:
        model.fit(X, y)

def predict_for_ever():
    while True:
        small.predict(X)

for child in range({children}):
    pid = os.fork()
    if pid == 0:
        signal.alarm(200)  # ends a child that hangs
        if child % 5 == 4:
            threading.Thread(target=predict_for_ever, daemon=True).start()
        for model in (MODELS * 2)[child % 5 : child % 5 + 1 + child % 2]:
            threading.Thread(target=fit_for_ever, args=(model,), daemon=True).start()
        time.sleep(0.03 + 0.013 * child)
        sys.exit(7)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 7, (child, status)
print("clean")
"""


def run(script):
    return subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script],
        capture_output=True,
        text=True,
        timeout=900,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_exit_with_daemon_threads_in_fits_is_clean():
    done = run(SCRIPT.replace("{children}", "20"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "clean\n"
    assert done.stderr == ""


def test_exit_of_a_fresh_process_with_a_daemon_thread_in_a_fit_is_clean():
    done = run("""
import threading, time
import numpy as np
import stagenets

X = np.random.default_rng(0).normal(size=(20_000, 30))
model = stagenets.RVFLRegressor(n_hidden=2000, random_state=0, n_jobs=2)
threading.Thread(target=model.fit, args=(X, X[:, 0]), daemon=True).start()
time.sleep(0.3)
print("bye")
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "bye\n", "")
