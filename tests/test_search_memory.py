"""A search holds X, `max_memory` and a constant, however many networks and sizes it tries."""

import subprocess
import sys

import pytest

# Of the interpreter's own making: allocators, threads' stacks, scikit-learn's scorers.
CONSTANT = 100e6
MAX_MEMORY = 150e6

SCRIPT = """
import resource, sys, threading
import numpy as np
import stagenets
from sklearn.metrics import log_loss

n, outputs, scoring = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(0)
X = rng.normal(size=(n, 30))
y = rng.integers(0, outputs, size=n)

def own_scorer(model, X, y):
    return -log_loss(y, model.predict_proba(X))

def search(X, y, max_memory):
    return stagenets.RVFLClassifierCV(
        alphas=[0.1, 1.0, 10.0], max_hidden=60, pool_sizes=[20], cv=4, random_state=0, n_jobs=2,
        refit=False, max_memory=max_memory,
        scoring={"own": own_scorer, "none": None}.get(scoring, scoring),
    ).fit(X, y)

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

search(X[:300], y[:300], 1e9)  # what is loaded on first use
before = peak()
search(X, y, float(sys.argv[4]))
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts differently elsewhere")
@pytest.mark.parametrize(
    ("n", "outputs", "scoring"),
    [(20_000, 4, "none"), (20_000, 4, "neg_log_loss"), (60_000, 10, "own")],  # large ones are slow
)
def test_a_search_stays_within_its_memory(n, outputs, scoring):
    arguments = [str(n), str(outputs), scoring, str(MAX_MEMORY)]
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=True
    )
    # All scores of the larger search alone would take 60,000 x 10 x 60 sizes x 3 networks: 0.86 GB.
    assert float(result.stdout) < MAX_MEMORY + CONSTANT


@pytest.mark.parametrize("max_memory", ["1KB", "1MB", "1GB"])
def test_memory_does_not_change_what_is_found(max_memory):
    import numpy as np

    import problems
    import stagenets

    X, y = problems.data_for(stagenets.RVFLClassifier, n=60)
    searches = [
        stagenets.RVFLClassifierCV(
            alphas=[0.1, 1.0], max_hidden=8, selections=["residual", "random"], cv=3,
            max_memory=bound, scoring="neg_log_loss", random_state=0,
        ).fit(X, y)
        for bound in (max_memory, "2GB")
    ]  # fmt: skip
    scores = [search.cv_results_["mean_test_score"] for search in searches]
    np.testing.assert_array_equal(*scores)
