"""The speed of this machine: GEMM rate on cached blocks, read bandwidth, random numbers.

The products go to SciPy's BLAS, the one that the core calls, through the pointers that
`scipy.linalg.cython_blas` exports. ctypes releases the interpreter lock, so Python threads that
each use a single-threaded BLAS load the machine as the core's threads do.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
from scipy.linalg import cython_blas
from threadpoolctl import threadpool_limits

_PREFIX = {np.dtype(np.float64): "d", np.dtype(np.float32): "s"}
_BUDGET_SECONDS = 0.3


def _function(name: str, result: Any = None) -> Any:
    """A routine of SciPy's BLAS; every argument is a pointer (LP64)."""
    capsule = cython_blas.__pyx_capi__[name]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(result)(get_pointer(capsule, get_name(capsule)))


def _integer(value: int) -> Any:
    return ctypes.byref(ctypes.c_int(value))


def _seconds_on_threads(threads: int, work: Callable[[int], Callable[[], Any]]) -> float:
    """The shortest wall time of calling work(thread) once on each thread, all at the same time."""
    start = Barrier(threads)

    def run(thread: int) -> float:
        call = work(thread)
        call()
        start.wait()
        best, until = float("inf"), time.perf_counter() + _BUDGET_SECONDS
        while time.perf_counter() < until:
            began = time.perf_counter()
            call()
            best = min(best, time.perf_counter() - began)
        return best

    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as executor:
        return max(executor.map(run, range(threads)))


def gemm_rate(dtype: Any, shape: tuple[int, int, int], threads: int, products: int = 50) -> float:
    """Flops per second, all threads together, of (m × k)(k × n) products of cached blocks."""
    m, n, k = shape
    dtype = np.dtype(dtype)
    real = ctypes.c_double if dtype == np.float64 else ctypes.c_float
    gemm = _function(f"{_PREFIX[dtype]}gemm")
    none, one, zero = b"N", ctypes.byref(real(1)), ctypes.byref(real(0))

    def work(thread: int) -> Callable[[], Any]:
        rng = np.random.default_rng(thread)
        left = np.asfortranarray(rng.standard_normal((m, k)), dtype=dtype)
        right = np.asfortranarray(rng.standard_normal((k, n)), dtype=dtype)
        out = np.zeros((m, n), dtype=dtype, order="F")
        a, b, c = (ctypes.c_void_p(x.ctypes.data) for x in (left, right, out))
        sizes = [_integer(size) for size in (m, n, k)]
        lda, ldb = _integer(m), _integer(k)

        def call() -> None:
            for _ in range(products):
                gemm(none, none, *sizes, one, a, lda, b, ldb, zero, c, lda)

        call.arrays = (left, right, out)  # type: ignore[attr-defined]
        return call

    return threads * products * 2 * m * n * k / _seconds_on_threads(threads, work)


def read_bandwidth(threads: int, mebibytes: int = 256) -> float:
    """Bytes per second, all threads together, when reading arrays too large for any cache (xᵀx)."""
    count = mebibytes * 2**20 // 8 // threads
    dot = _function("ddot", ctypes.c_double)

    def work(thread: int) -> Callable[[], Any]:
        x = np.full(count, 1.0 + thread)
        data = ctypes.c_void_p(x.ctypes.data)
        length, step = _integer(count), _integer(1)

        def call() -> None:
            dot(length, data, step, data, step)

        call.array = x  # type: ignore[attr-defined]
        return call

    return threads * count * 8 / _seconds_on_threads(threads, work)


def draw_rate(threads: int, count: int = 200_000) -> float:
    """Philox4x64 doubles per second in NumPy, all threads together."""

    def work(thread: int) -> Callable[[], Any]:
        generator = np.random.Generator(np.random.Philox(key=thread))
        out = np.empty(count)
        return lambda: generator.random(out=out)

    return threads * count / _seconds_on_threads(threads, work)
