"""A request that no machine can serve gets a MemoryError, and the process lives on."""

import re
import subprocess
import sys

import pytest

BLS = "stagenets.BLSRegressor(n_windows={}, n_feature_nodes={}).fit(X, y)"
REQUESTS = {
    "pool": "stagenets.RVFLClassifier(n_hidden=5, pool_size=10**12).fit(X, y)",
    "one-shot-units": "stagenets.RVFLClassifier(n_hidden=10**12, selection='random').fit(X, y)",
    "guided-units": "stagenets.ELMRegressor(n_hidden=10**12).fit(X, y)",
    "overflowing-pool": "stagenets.ELMClassifier(n_hidden=5, pool_size=2**61).fit(X, y)",
    "overflowing-units": "stagenets.ELMClassifier(n_hidden=2**61).fit(X, y)",
    "feature-nodes": "stagenets.BLSClassifier(n_feature_nodes=10**12).fit(X, y)",
    "enhancement-nodes": "stagenets.BLSRegressor(n_enhancement=10**12).fit(X, y)",
    "bls-pool": "stagenets.BLSClassifier(pool_size=10**12).fit(X, y)",
    "dual-rows": "stagenets.ELMRegressor(n_hidden=5, solver='dual').fit(many, many[:, 0])",
    "draws": "stagenets.draw_candidates(0, 0, 10**12, 4)",
    "overflowing-draws": "stagenets.draw_candidates(0, 0, 2**61, 2**61)",
    "bls-overflowing-features": BLS.format(2**31, 2**32),
    "bls-wrapping-features": BLS.format(2**32, 2**32),
    "bls-wrapping-to-few": BLS.format(2**63 - 1, 3),
    "bls-one-shot-features": BLS.format(2**32, "2**32, selection='random'"),
    "bls-overflowing-sum": BLS.format(2**62, "2, n_enhancement=2**63 - 1"),
    "one-shot-gram": "stagenets.ELMRegressor(n_hidden=2**33, selection='random').fit(X, y)",
    "one-shot-primal": "stagenets.ELMRegressor("
    "n_hidden=2**62, selection='random', solver='primal').fit(X, y)",
    "huge-block": "stagenets.RVFLRegressor("
    "n_hidden=5, selection='joint', pool_size=2**63 - 1, block_size=2**63 - 1).fit(X, y)",
    "cross-validated-units": "stagenets.ELMRegressor("
    "n_hidden=2**62, early_stopping='cv').fit(X, y)",
    "given-units": "stagenets.fit_stagewise(lambda t, m: np.ones((60, m)), y, n_hidden=2**62)",
    "given-pool": "stagenets.fit_stagewise(lambda t, m: X, y, n_hidden=2**62, selection='random')",
}

SCRIPT = """
import resource
import sys
import numpy as np
import stagenets

X = np.random.default_rng(0).normal(size=(60, 4))
y = np.arange(60) % 3
many = np.random.default_rng(0).normal(size=(200_000, 1))  # a 320 GB kernel matrix
resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))
try:
    {request}
except MemoryError as error:
    print(error)
assert stagenets.RVFLClassifier(n_hidden=5, random_state=0).fit(X, y).score(X, y) > 0
print("alive")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is enforced on Linux")
@pytest.mark.parametrize("name", REQUESTS)
def test_request_too_large_is_a_memory_error_and_the_process_lives(name):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(request=REQUESTS[name])],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    message, alive = done.stdout.splitlines()
    assert re.fullmatch(
        r"a (fit|pool) of this size needs at least [0-9.]+ [GTPEZY]B of memory", message
    )
    assert alive == "alive"
