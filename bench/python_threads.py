"""Fits in eight Python threads at once against the same fits one after another.

``python bench/python_threads.py``. The BLAS must stay on one thread in all of them: where it does
not, its threads and ours fight for the cores and the fits take many times as long. With n_jobs=1
the fits share the cores like eight processes would.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import stagenets
from timing import interleave

FITS = 8
ROUNDS = 7


def main() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 30)), rng.integers(0, 3, 5000)
    for n_jobs in (1, 2):

        def fit(_: int, n_jobs: int = n_jobs) -> None:
            stagenets.RVFLClassifier(n_hidden=60, random_state=0, n_jobs=n_jobs).fit(X, y)

        def at_once(fit=fit) -> None:  # type: ignore[no-untyped-def]
            with ThreadPoolExecutor(FITS) as pool:
                list(pool.map(fit, range(FITS)))

        def in_turn(fit=fit) -> None:  # type: ignore[no-untyped-def]
            list(map(fit, range(FITS)))

        timings = interleave({"at once": at_once, "in turn": in_turn}, ROUNDS)
        best, median = (
            getattr(timings, ratio)("at once", "in turn") for ratio in ("best_ratio", "ratio")
        )
        print(f"n_jobs={n_jobs}: at once / in turn, best {best:.2f}, median {median:.2f}")


if __name__ == "__main__":
    main()
