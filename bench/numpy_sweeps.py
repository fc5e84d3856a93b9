"""The passes of a stagewise fit over all rows, in NumPy, in two variants.

`WholeSweep` works on whole arrays and leaves the cores to the BLAS. `BlockedSweep` cuts the rows
into blocks that stay in cache and distributes them over Python threads, each with a single-threaded
BLAS; it stores no n × M pool. Which is faster depends on n, so the benchmarks time both.

Pools come as (p + 1, M) matrices with the biases in the first row, *negated*, so that the sigmoid
is exp, one addition and one reciprocal of the product; they are sparse arrays where that is faster.
Matrices are column-major, the layout in which NumPy's products are fastest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from threadpoolctl import ThreadpoolController

FloatArray = NDArray[np.floating[Any]]
Pool = FloatArray | csc_array


def columns_like(matrix: FloatArray, columns: int) -> FloatArray:
    """An empty column-major matrix with the rows and the type of `matrix`."""
    return np.empty((len(matrix), columns), dtype=matrix.dtype, order="F")


def activate(inputs: FloatArray, negated_pool: Pool, out: FloatArray) -> None:
    """out <- sigmoid(inputs · pool)."""
    if isinstance(negated_pool, csc_array):
        product = (negated_pool.T @ inputs.T).T
    else:
        product = np.matmul(inputs, negated_pool, out=out)
    with np.errstate(over="ignore"):  # exp(…) = inf is a unit at 0
        np.exp(product, out=out)
    out += 1
    np.reciprocal(out, out=out)


def squared_norms(columns: FloatArray) -> FloatArray:
    return np.einsum("ij,ij->i", columns.T, columns.T)


def times(left: FloatArray, right: FloatArray) -> FloatArray:
    """left · right; for very few columns, products by columns beat the BLAS's GEMM."""
    if right.shape[1] > 3:
        return left @ np.asfortranarray(right)
    product = columns_like(left, right.shape[1])
    for j in range(right.shape[1]):
        np.matmul(left, right[:, j], out=product[:, j])
    return product


class WholeSweep:
    """All rows in one block; the BLAS uses its own threads."""

    def __init__(self, inputs: FloatArray, pool_size: int) -> None:
        self._inputs = inputs
        self._pool = columns_like(inputs, pool_size)

    @contextmanager
    def running(self) -> Iterator[None]:
        yield

    def products(self, pool: Pool, residual: FloatArray) -> tuple[FloatArray, FloatArray]:
        """GᵀR (M, q) and ‖g‖² (M,) of a pool."""
        activate(self._inputs, pool, self._pool)
        return self._pool.T @ residual, squared_norms(self._pool)

    def columns(self, pool: Pool, chosen: NDArray[np.int64]) -> FloatArray:
        """Activations (n, k) from the pool scored last."""
        return np.asfortranarray(self._pool[:, chosen])

    def overlap(self, q: FloatArray, columns: FloatArray) -> FloatArray:
        """QᵀG."""
        return times(q.T, columns)

    def remove(self, q: FloatArray, overlap: FloatArray, columns: FloatArray) -> None:
        """columns <- columns − Q · overlap."""
        columns -= times(q, overlap)


class BlockedSweep:
    """Blocks of rows on Python threads; NumPy releases the interpreter lock in every operation."""

    _blas = ThreadpoolController().select(user_api="blas")

    def __init__(
        self, inputs: FloatArray, pool_size: int, *, rows: int = 2048, threads: int | None = None
    ) -> None:
        self._inputs = inputs
        self._threads = threads or len(os.sched_getaffinity(0))
        starts = range(0, len(inputs), rows)
        self._blocks = [slice(s, min(s + rows, len(inputs))) for s in starts]
        self._pools = [columns_like(inputs[:rows], pool_size) for _ in range(self._threads)]

    @contextmanager
    def running(self) -> Iterator[None]:
        with self._blas.limit(limits=1), ThreadPoolExecutor(self._threads) as self._executor:
            yield

    def _each(self, work: Callable[[int, slice], Any]) -> list[Any]:
        """Call work(thread, rows) for every block; the threads take blocks in turn."""

        def share(thread: int) -> list[Any]:
            return [work(thread, rows) for rows in self._blocks[thread :: self._threads]]

        shares = self._executor.map(share, range(self._threads))
        return [result for share_ in shares for result in share_]

    def products(self, pool: Pool, residual: FloatArray) -> tuple[FloatArray, FloatArray]:
        def block(thread: int, rows: slice) -> tuple[FloatArray, FloatArray]:
            values = self._pools[thread][: rows.stop - rows.start]
            activate(self._inputs[rows], pool, values)
            return values.T @ residual[rows], squared_norms(values)

        correlations, norms = zip(*self._each(block), strict=True)
        return np.sum(correlations, axis=0), np.sum(norms, axis=0)

    def columns(self, pool: Pool, chosen: NDArray[np.int64]) -> FloatArray:
        columns = columns_like(self._inputs, len(chosen))
        few = pool[:, chosen]
        few = few if isinstance(few, csc_array) else np.asfortranarray(few)
        self._each(lambda _, rows: activate(self._inputs[rows], few, columns[rows]))
        return columns

    def overlap(self, q: FloatArray, columns: FloatArray) -> FloatArray:
        return np.sum(self._each(lambda _, rows: times(q[rows].T, columns[rows])), axis=0)

    def remove(self, q: FloatArray, overlap: FloatArray, columns: FloatArray) -> None:
        def block(_: int, rows: slice) -> None:
            columns[rows] -= times(q[rows], overlap)

        self._each(block)


Sweep = WholeSweep | BlockedSweep
