"""A request that no machine can serve gets a MemoryError, and the process lives on."""

import subprocess
import sys

import pytest

REQUESTS = {
    "pool": "residuum.RVFLClassifier(n_hidden=5, pool_size=10**12).fit(X, y)",
    "one-shot-units": "residuum.RVFLClassifier(n_hidden=10**12, selection='random').fit(X, y)",
    "guided-units": "residuum.ELMRegressor(n_hidden=10**12).fit(X, y)",
    "overflowing-pool": "residuum.ELMClassifier(n_hidden=5, pool_size=2**61).fit(X, y)",
    "overflowing-units": "residuum.ELMClassifier(n_hidden=2**61).fit(X, y)",
    "feature-nodes": "residuum.BLSClassifier(n_feature_nodes=10**12).fit(X, y)",
    "enhancement-nodes": "residuum.BLSRegressor(n_enhancement=10**12).fit(X, y)",
    "bls-pool": "residuum.BLSClassifier(pool_size=10**12).fit(X, y)",
    "dual-rows": "residuum.ELMRegressor(n_hidden=5, solver='dual').fit(many, many[:, 0])",
    "draws": "residuum.draw_candidates(0, 0, 10**12, 4)",
    "overflowing-draws": "residuum.draw_candidates(0, 0, 2**61, 2**61)",
}

SCRIPT = """
import resource
import sys
import numpy as np
import residuum

X = np.random.default_rng(0).normal(size=(60, 4))
y = np.arange(60) % 3
many = np.random.default_rng(0).normal(size=(200_000, 1))  # a 320 GB kernel matrix
resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))
try:
    {request}
except MemoryError:
    print("MemoryError")
assert residuum.RVFLClassifier(n_hidden=5, random_state=0).fit(X, y).score(X, y) > 0
print("alive")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is enforced on Linux")
@pytest.mark.parametrize("name", REQUESTS)
def test_request_too_large_is_a_memory_error_and_the_process_lives(name):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(request=REQUESTS[name])],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["MemoryError", "alive"]
