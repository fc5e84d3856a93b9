"""How many threads a call may use, and keeping SciPy's BLAS on one of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from numbers import Integral
from typing import Any

import joblib
from threadpoolctl import ThreadpoolController

from residuum import _core

_MOST_THREADS = 64  # on machines with fewer cores


@lru_cache(maxsize=1)
def _cpu_count() -> int:
    # joblib's count honours affinity, cgroup quotas and LOKY_MAX_CPU_COUNT.
    return int(joblib.cpu_count())


def effective_threads(n_jobs: Any) -> int:
    """Threads for `n_jobs`: None is what OpenMP would use, negative counts back from all cores.

    What OpenMP would use follows OMP_NUM_THREADS, threadpoolctl and the limits joblib sets in its
    workers.
    """
    if n_jobs is None:
        return max(1, min(_core.default_threads(), _cpu_count()))
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or an integer other than 0; got {n_jobs!r}")
    threads = int(n_jobs)
    if threads < 0:
        return max(1, _cpu_count() + 1 + threads)
    # OpenMP ends the process when it cannot have all the threads it is asked for.
    return min(threads, max(_MOST_THREADS, _cpu_count()))


class _BlasLimit:
    """Holds every BLAS on one thread while anyone is inside.

    The core makes its own threads and promises the same bits for any number of them, so the BLAS
    must not split its products. The setting belongs to the process: the first call in remembers it,
    the last one out restores it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: list[int] = []
        # SciPy's BLAS was loaded with the core; libraries that come later are not the core's.
        self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._before = [library.get_num_threads() for library in self._libraries]
                for library in self._libraries:
                    library.set_num_threads(1)
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, threads in zip(self._libraries, self._before, strict=True):
                    library.set_num_threads(threads)


_limit = _BlasLimit()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """BLAS on one thread for the duration of a call into the core."""
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()
