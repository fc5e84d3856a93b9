"""How many threads a call may use, and keeping SciPy's BLAS on one of them."""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral
from typing import Any

import joblib
from scipy.linalg import cython_blas
from threadpoolctl import ThreadpoolController

from stagenets import _core

_MOST_THREADS = 64  # on machines with fewer cores


@lru_cache(maxsize=1)
def _cpu_count() -> int:
    # joblib's count honours affinity, cgroup quotas and LOKY_MAX_CPU_COUNT.
    return int(joblib.cpu_count())


def effective_threads(n_jobs: Any) -> int:
    """Threads for `n_jobs`: None is what OpenMP would use, negative counts back from all cores.

    The core does not use OpenMP, but heeds what limits it: OMP_NUM_THREADS, also where joblib sets
    it in its workers, and what threadpoolctl has set for the calling thread.
    """
    if n_jobs is None:
        return max(1, min(_openmp_threads(), _cpu_count()))
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or an integer other than 0; got {n_jobs!r}")
    threads = int(n_jobs)
    if threads < 0:
        return max(1, _cpu_count() + 1 + threads)
    return min(threads, max(_MOST_THREADS, _cpu_count()))


@lru_cache(maxsize=1)
def _openmp_libraries() -> list[Any]:
    # They know what threadpoolctl has set; scikit-learn has loaded one when this is first needed.
    return list(ThreadpoolController().select(user_api="openmp").lib_controllers)


def _openmp_threads() -> int:
    """What OpenMP would use in this thread.

    threadpoolctl limits all OpenMP libraries; one that allows less than another was limited by
    somebody for their own purposes.
    """
    limits = [int(library.get_num_threads()) for library in _openmp_libraries()] or [_cpu_count()]
    # A number for each level of nesting; the libraries have read it once, when they were loaded.
    outermost = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    wanted = int(outermost) if outermost.isdigit() else 0
    return min(max(limits), wanted) if wanted > 0 else max(limits)


_BY_OPENMP = 2  # what openblas_get_parallel() says of where its threads come from


@dataclass(frozen=True)
class _Blas:
    """The functions of a BLAS that read and set how many threads it uses.

    The setting belongs to the process, or to the calling thread where OpenMP makes the threads.
    """

    get_threads: Callable[[], int]
    set_threads: Any
    per_thread: bool = False


def _openblas_in(library: Any) -> _Blas | None:
    """OpenBLAS, if a library that was loaded is one or needs one.

    Its functions are called directly: threadpoolctl from 3.8 on ignores all threads but one.
    """
    for prefix, suffix in itertools.product(("scipy_", ""), ("", "64_", "_64")):

        def function(name: str, prefix: str = prefix, suffix: str = suffix) -> Any:
            return getattr(library, f"{prefix}openblas_{name}{suffix}", None)

        if function("set_num_threads") is None:
            continue
        parallel = function("get_parallel")
        if parallel is not None and parallel() == _BY_OPENMP:
            return _Blas(library.omp_get_max_threads, library.omp_set_num_threads, per_thread=True)
        return _Blas(function("get_num_threads"), function("set_num_threads"))
    return None


def _address(function: Any) -> int | None:
    return ctypes.cast(function, ctypes.c_void_p).value


def _reserve_buffers(openblas: Any) -> None:
    """Have the core make OpenBLAS's buffers before it needs them."""
    if hasattr(openblas, "blas_memory_alloc") and hasattr(openblas, "blas_memory_free"):
        _core.use_blas_buffers(
            _address(openblas.blas_memory_alloc), _address(openblas.blas_memory_free)
        )


def _scipy_blas() -> list[_Blas]:
    """The BLAS that the core calls.

    Looked up through SciPy's module, whose symbols include those of what it is linked to. Where
    they do not (on Windows), and for other makes, any that is loaded by now may be the one.
    """
    if os.name == "posix":
        library = ctypes.CDLL(cython_blas.__file__)
        found = _openblas_in(library)
        if found:
            _reserve_buffers(library)
            return [found]
    libraries = []
    for other in ThreadpoolController().select(user_api="blas").lib_controllers:
        found = None
        if other.internal_api == "openblas":
            found = _openblas_in(ctypes.CDLL(other.filepath))
        libraries.append(found or _Blas(other.get_num_threads, other.set_num_threads))
    return libraries


class _BlasLimit:
    """Holds a BLAS whose setting belongs to the process on one thread while anyone is inside.

    The first call in remembers the setting, the last one out restores it.
    """

    def __init__(self, libraries: list[_Blas]) -> None:
        self._libraries = libraries
        self._before: list[int] = []
        self._inside: Counter[int] = Counter()  # calls of every Python thread
        self._lock = threading.RLock()

    def enter(self) -> None:
        with self._lock:
            if not self._inside:
                self._limit()
            self._inside[threading.get_ident()] += 1

    def leave(self) -> None:
        with self._lock:
            thread = threading.get_ident()
            self._inside[thread] -= 1
            if self._inside[thread] == 0:
                del self._inside[thread]
            if not self._inside:
                self._restore()

    def guard_forks(self) -> None:
        """Fork while no other thread is in OpenBLAS's setter: the child would inherit its lock."""
        os.register_at_fork(
            before=lambda: self._lock.acquire(),
            after_in_parent=lambda: self._lock.release(),
            after_in_child=self._forget_other_threads,
        )

    def _forget_other_threads(self) -> None:
        """Only the thread that forked is there."""
        self._lock = threading.RLock()
        thread = threading.get_ident()
        own = self._inside[thread]
        self._inside = Counter({thread: own} if own else {})
        if not own:
            self._restore()

    def _limit(self) -> None:
        self._before = [library.get_threads() for library in self._libraries]
        for library, threads in zip(self._libraries, self._before, strict=True):
            if threads != 1:
                library.set_threads(1)

    def _restore(self) -> None:
        for library, threads in zip(self._libraries, self._before, strict=False):
            # Who has changed it meanwhile wants that.
            if threads != 1 and library.get_threads() == 1:
                library.set_threads(threads)
        self._before = []


_blas = _scipy_blas()
_blas_of_threads = [library for library in _blas if library.per_thread]
_limit = _BlasLimit([library for library in _blas if not library.per_thread])
if hasattr(os, "register_at_fork"):
    _limit.guard_forks()
for _library in _blas_of_threads:
    _core.call_in_helpers(_address(_library.set_threads), 1)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """BLAS on one thread for the duration of a call into the core.

    The core makes its own threads and promises the same bits for any number of them, so the BLAS
    must not split its products.
    """
    before = [library.get_threads() for library in _blas_of_threads]
    _limit.enter()
    try:
        for library in _blas_of_threads:
            library.set_threads(1)
        yield
    finally:
        _limit.leave()
        for library, threads in zip(_blas_of_threads, before, strict=True):
            library.set_threads(threads)
