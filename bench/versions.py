"""Two installed versions side by side: is anything slower than before?

    python bench/versions.py OLD_PYTHON NEW_PYTHON [--turns 7] [--cases small wide]

Each interpreter has one version installed (residuum before the rename, stagenets since). Both stay
up and take turns, case by case; printed is the median of new / old over the turns, and the best
time of new over the best of old.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

WORKER = """
import sys, time
import numpy as np
from sklearn.datasets import make_classification, make_friedman1
try:
    import stagenets as package
except ImportError:
    import residuum as package

def classes(n, p, q, dtype=np.float64):
    X, y = make_classification(
        n, p, n_informative=min(p - 2, 10), n_redundant=2, n_classes=q, n_clusters_per_class=1,
        random_state=0)
    return X.astype(dtype), y

def fit(name, data, **params):
    model = getattr(package, name)(random_state=0, **params)
    return lambda: model.fit(*data)

def predict(data, repeats, **params):
    model = package.RVFLClassifier(random_state=0, **params).fit(*data)
    return lambda: [model.predict(data[0]) for _ in range(repeats)]

CASES = {
    "tiny": lambda: fit("RVFLClassifier", classes(150, 4, 2), n_hidden=50),
    "small": lambda: fit("RVFLClassifier", classes(2000, 20, 3), n_hidden=200),
    "medium": lambda: fit("RVFLClassifier", classes(20000, 50, 5), n_hidden=200),
    "medium float32": lambda: fit(
        "RVFLClassifier", classes(20000, 50, 5, np.float32), n_hidden=200),
    "medium dense": lambda: fit(
        "RVFLClassifier", classes(20000, 50, 5), n_hidden=100, weight_init="normal"),
    "images": lambda: fit("RVFLClassifier", classes(8000, 784, 10), n_hidden=60),
    "wide": lambda: fit("RVFLClassifier", classes(500, 5000, 2), n_hidden=200),
    "joint": lambda: fit(
        "ELMClassifier", classes(20000, 50, 5), n_hidden=192, selection="joint", block_size=16),
    "one-shot": lambda: fit(
        "RVFLClassifier", classes(20000, 50, 5), n_hidden=500, selection="random"),
    "BLS": lambda: fit("BLSClassifier", classes(3000, 30, 4)),
    "regression": lambda: fit("RVFLRegressor", make_friedman1(8000, random_state=0), n_hidden=200),
    "early stopping": lambda: fit(
        "RVFLClassifier", classes(1500, 20, 3), n_hidden=100, early_stopping="cv"),
    "search": lambda: fit(
        "RVFLClassifierCV", classes(1000, 20, 3), max_hidden=100, alphas=[0.01, 0.1, 1.0, 10.0]),
    "search by log-loss": lambda: fit(
        "RVFLClassifierCV", classes(600, 10, 2), alphas=[0.1, 10.0], max_hidden=25,
        scoring="neg_log_loss"),
    "predict": lambda: predict(classes(20000, 50, 5), 5, n_hidden=200),
    "predict often": lambda: predict([a[:1000] for a in classes(1000, 20, 3)], 200, n_hidden=100),
}
if sys.argv[1:] == ["list"]:
    print(*CASES, sep="\\n")
    sys.exit()
ready = {}
for name in map(str.strip, sys.stdin):
    if name not in ready:
        ready[name] = CASES[name]()
        ready[name]()
    started = time.perf_counter()
    ready[name]()
    print(time.perf_counter() - started, flush=True)
"""


class Version:
    """An interpreter that times cases on demand."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, "-W", "ignore", "-c", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, case: str) -> float:
        """Time one turn."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(case, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--cases", nargs="*")
    options = parser.parse_args()
    listed = subprocess.run(
        [options.new, "-c", WORKER, "list"], capture_output=True, text=True, check=True
    )
    old, new = Version(options.old), Version(options.new)
    print("| case | median of new / old | best new / best old |\n|---|---|---|")
    for case in options.cases or listed.stdout.splitlines():
        turns = [(old.seconds(case), new.seconds(case)) for _ in range(options.turns)]
        ratio = statistics.median(b / a for a, b in turns)
        best = min(b for _, b in turns) / min(a for a, _ in turns)
        print(f"| {case} | {ratio:.2f} | {best:.2f} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
