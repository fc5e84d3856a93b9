"""Two builds side by side: the same calls in two processes, in turn, and the ratio of their times.

``python bench/rival_threads.py OLD_PYTHON:FOLDER NEW_PYTHON:FOLDER [--busy] [CASE]``: each
names an interpreter and a folder for PYTHONPATH. With --busy a third process keeps a core from
them; CASE is part of the names of the cases to run.
Ratios are times of the old build over those of the new one: above 1 the new one is faster.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from typing import Any

ROUNDS = 11
CASES = {  # what is called, and how often in a row; the time of one call is kept
    "fit 150 x 4, 50 units": ("fit", 150, 4, 3, 50, 20),
    "fit 2,000 x 20, 200 units": ("fit", 2000, 20, 3, 200, 2),
    "fit 20,000 x 50, 200 units": ("fit", 20_000, 50, 5, 200, 1),
    "fit 100,000 x 50, 100 units": ("fit", 100_000, 50, 5, 100, 1),
    "predict 10,000 rows": ("predict", 10_000, 50, 5, 100, 10),
    "predict 1,000 rows": ("predict", 1000, 50, 5, 100, 50),
}


def serve() -> None:
    """Answers every case named on standard input with the seconds it took."""
    import time
    from importlib import import_module

    import numpy as np

    try:
        networks: Any = import_module("stagenets")
    except ImportError:
        networks = import_module("residuum")
    prepared: dict[str, Any] = {}
    for line in sys.stdin:
        case = line.strip()
        kind, n, p, q, units, calls = CASES[case]
        if case not in prepared:
            rng = np.random.default_rng(0)
            X, y = rng.normal(size=(n, p)), np.arange(n) % q
            model = networks.RVFLClassifier(n_hidden=units, random_state=0, n_jobs=2)
            if kind == "predict":
                model.fit(X[:500], y[:500])
            call = (
                (lambda m=model, a=X, b=y: m.fit(a, b))
                if kind == "fit"
                else (lambda m=model, a=X: m.predict(a))
            )
            call()
            prepared[case] = call
        started = time.perf_counter()
        for _ in range(calls):
            prepared[case]()
        print((time.perf_counter() - started) / calls, flush=True)


def start(rival: str) -> subprocess.Popen[str]:
    python, _, path = rival.partition(":")
    return subprocess.Popen(
        [python, "-W", "ignore", __file__, "serve"],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def ask(server: Any, case: str) -> float:
    server.stdin.write(case + "\n")
    server.stdin.flush()
    return float(server.stdout.readline())


def race(old: str, new: str, busy: bool, wanted: str) -> None:
    servers = [start(old), start(new)]
    burner = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if busy else None
    for case in (name for name in CASES if wanted in name):
        seconds: list[list[float]] = [[], []]
        for round_ in range(ROUNDS + 1):
            for which in (0, 1) if round_ % 2 else (1, 0):
                seconds[which].append(ask(servers[which], case))
        best = min(seconds[0][1:]) / min(seconds[1][1:])
        median = statistics.median(seconds[0][1:]) / statistics.median(seconds[1][1:])
        print(f"{case:30} best {best:.2f}, median {median:.2f}", flush=True)
    for process in [*servers, *([burner] if burner else [])]:
        process.kill()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve"]:
            serve()
        case [old, new, *options]:
            wanted = [option for option in options if option != "--busy"]
            race(old, new, "--busy" in options, *(wanted or [""]))
        case _:
            sys.exit(__doc__)
