"""Short of memory, a fit ends with a MemoryError or succeeds; it never hangs or crashes."""

import subprocess
import sys

import pytest

# Forked children save the imports. Their BLAS has no threads until it is asked for several, and its
# buffers are as their parent has them: none but what the import made.
SCRIPT = """
import os, resource, signal, sys
import numpy as np
import stagenets

rng = np.random.default_rng(0)
X, y = rng.normal(size=(20_000, 20)), rng.integers(0, 3, 20_000)
MODELS = {
    "guided": stagenets.RVFLClassifier(n_hidden=25, random_state=0, n_jobs=4),
    "search": stagenets.RVFLClassifierCV(max_hidden=10, cv=3, random_state=0, n_jobs=4),
    "one-shot": stagenets.ELMClassifier(n_hidden=200, selection="random", n_jobs=2),
}

def fit_short_of_memory(model, megabytes):
    pages = int(open("/proc/self/statm").read().split()[0])
    limit = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        model.fit(X, y)
    except MemoryError:
        return "MemoryError"
    return "fitted"

outcomes = set()
for megabytes in (1, 2, 4, 8, 16, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256):
    for name, model in MODELS.items():
        pid = os.fork()
        if pid == 0:
            signal.alarm(200)  # ends a child that hangs
            outcome = fit_short_of_memory(model, megabytes)
            os._exit({"MemoryError": 3, "fitted": 4}[outcome])
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        assert code in (3, 4), (name, megabytes, status)
        outcomes.add(code)
assert outcomes == {3, 4}
"""

FRESH = """
import resource, signal
import numpy as np
import stagenets

X = np.random.default_rng(0).normal(size=(20_000, 20))
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 64 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
signal.alarm(200)
for n_jobs in (4, 1):
    try:
        stagenets.RVFLRegressor(n_hidden=100, random_state=0, n_jobs=n_jobs).fit(X, X[:, 0])
    except MemoryError:
        pass
print("alive")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is enforced on Linux")
@pytest.mark.parametrize("script", [SCRIPT, FRESH], ids=["many-limits", "fresh-process"])
def test_short_of_memory_is_a_memory_error_or_no_matter(script):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
