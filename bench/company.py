"""Fits beside libraries with threads of their own, in one process, in every order of import.

``python bench/company.py``. Each order runs in a fresh process: the libraries are imported in that
order, and each of them works before and after a fit, and in a forked child. Fits must give the same
bits as in a process of their own. Libraries that are not installed are left out by name.
"""

from __future__ import annotations

import importlib.util
import itertools
import subprocess
import sys

WORK = {
    "torch": """
import torch
def torch_work():
    a = torch.ones((600, 600), dtype=torch.float64)
    assert (a @ a)[0, 0] == 600
""",
    "lightgbm": """
import lightgbm
def lightgbm_work():
    lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=2).fit(X, y)
""",
    "sklearn": """
from sklearn.ensemble import HistGradientBoostingClassifier
def sklearn_work():
    HistGradientBoostingClassifier(max_iter=3).fit(X, y)
""",
    "numba": """
import numba
@numba.njit(parallel=True)
def total(x):
    sum = 0.0
    for i in numba.prange(x.size):
        sum += x[i]
    return sum
def numba_work():
    assert total(np.ones(100_000)) == 100_000
""",
}
OURS = """
import stagenets
def fit():
    model = stagenets.RVFLClassifier(n_hidden=10, alpha=1.0, random_state=0, n_jobs=2)
    return model.fit(X, y).decision_function(X).tobytes()
"""
START = """
import os, signal, sys
import numpy as np
rng = np.random.default_rng(0)
X, y = rng.normal(size=(3000, 8)), rng.integers(0, 3, 3000)
"""
END = """
import hashlib
works = [value for name, value in list(globals().items()) if name.endswith("_work")]
first = fit()
for work in works:
    work()
    assert fit() == first
    work()
pid = os.fork()
if pid == 0:
    signal.alarm(120)  # ends a child that hangs
    os._exit(0 if fit() == first else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
print(hashlib.sha256(first).hexdigest())
"""


def bits(parts: list[str]) -> str:
    script = START + "".join(parts) + END
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"failed:\n{done.stderr[-2000:]}")
    return done.stdout.split()[-1]


def main() -> None:
    found = [name for name in WORK if importlib.util.find_spec(name)]
    print("not installed:", ", ".join(sorted(set(WORK) - set(found))) or "none")
    alone = bits([OURS])
    orders = [pair for name in found for pair in itertools.permutations([WORK[name], OURS])]
    orders += [[WORK[name] for name in found] + [OURS], [OURS] + [WORK[name] for name in found]]
    for order in orders:
        assert bits(list(order)) == alone
    print(f"{len(orders)} orders of {', '.join(found)} and ours: the same bits, also in a child")


if __name__ == "__main__":
    main()
