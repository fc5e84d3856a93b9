"""Fits in forked children of a process that has fitted with two threads do not hang."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os
import numpy as np
import residuum

rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 5)), rng.integers(0, 3, 4000)

def fit(n_jobs):
    model = residuum.ELMClassifier(n_hidden=3, pool_size=20, random_state=0, n_jobs=n_jobs)
    return model.fit(X, y).decision_function(X).tobytes()

expected = fit(2)
for child in range(10):
    pid = os.fork()
    if pid == 0:
        same = all(fit(2 if i % 2 else None) == expected for i in range(100))
        os._exit(0 if same else 1)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, (child, status)
    assert fit(2) == expected
print("1000 fits in forked children")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_thousand_fits_in_forked_children_neither_hang_nor_differ():
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", SCRIPT],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert "1000 fits" in done.stdout
