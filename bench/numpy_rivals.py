"""Algorithm 1 for an RVFL classifier in NumPy: the rivals of the speed benchmarks.

`fit_refit` solves the ridge problem from scratch at every stage. `fit_incremental` maintains the
same growing factor as the package, as efficiently as NumPy can, on whole arrays or on row blocks
(`numpy_sweeps`). Both compute in the type of X, and both take pools drawn beforehand, so their
times exclude the drawing; those of `RVFLClassifier` include it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, get_blas_funcs, solve_triangular
from scipy.sparse import csc_array

from cases import ALPHA, Case
from numpy_sweeps import BlockedSweep, Pool, Sweep, WholeSweep
from stagenets import draw_candidates

FloatArray = NDArray[np.floating[Any]]

# Below this fraction of nonzeros, SciPy's sparse product is faster than the BLAS on two cores.
SPARSE_PAYS = 0.02


@dataclass(frozen=True)
class NumpyFit:
    """The units kept, the objective at the end and the readout of [1, inputs, units]."""

    selected: NDArray[np.int64]
    objective: float
    readout: FloatArray


def draw_pools(case: Case, dtype: Any, seed: int = 0) -> list[Pool]:
    """The pools of all stages of `case.network(random_state=seed)`, for `numpy_sweeps`."""
    pools = []
    for stage in range(case.stages):
        weights, biases = draw_candidates(seed, stage, case.M, case.p, weight_init=case.weights)
        pool = np.asfortranarray(-np.vstack([biases, weights]).astype(dtype))
        few = np.count_nonzero(pool) < SPARSE_PAYS * pool.size
        pools.append(csc_array(pool) if few else pool)
    return pools


def standardized(X: FloatArray) -> FloatArray:
    """[1, U] column-major, with each column of U centred and scaled."""
    deviation = X.std(axis=0)
    deviation[deviation == 0] = 1
    fixed = np.empty((len(X), X.shape[1] + 1), dtype=X.dtype, order="F")
    fixed[:, 0] = 1
    fixed[:, 1:] = (X - X.mean(axis=0)) / deviation
    return fixed


def one_hot(y: NDArray[np.int64], dtype: Any) -> FloatArray:
    return np.asfortranarray(y[:, None] == np.unique(y), dtype=dtype)


def best_candidates(correlations: FloatArray, norms: FloatArray, keep: int) -> NDArray[np.int64]:
    """The candidates with the highest score ‖gᵀR‖² / (‖g‖² + λ), as in the paper."""
    scores = np.sum(np.square(correlations, dtype=np.float64), axis=1) / (norms + ALPHA)
    return np.argsort(-scores, kind="stable")[:keep]


# ------------------------------------------------------------------------------ refit from scratch


def ridge(design: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Readout and residual from the normal equations, or from the dual ones if there are fewer."""
    n, d = design.shape
    if n < d:
        kernel = design @ design.T
        kernel.flat[:: n + 1] += ALPHA
        residual = ALPHA * cho_solve(cho_factor(kernel, overwrite_a=True), targets)
        return design.T @ residual / ALPHA, residual
    gram = design.T @ design
    gram.flat[:: d + 1] += ALPHA
    readout = cho_solve(cho_factor(gram, overwrite_a=True), design.T @ targets)
    return readout, targets - design @ readout


def fit_refit(X: FloatArray, y: NDArray[np.int64], pools: list[Pool], case: Case) -> NumpyFit:
    """Every stage solves the ridge problem on all columns from scratch."""
    fixed, targets = standardized(X), one_hot(y, X.dtype)
    n, start = fixed.shape
    design = np.empty((n, start + case.h), dtype=X.dtype, order="F")
    design[:, :start] = fixed
    sweep = WholeSweep(fixed, case.M)
    readout, residual = ridge(design[:, :start], targets)
    selected: list[tuple[int, int]] = []
    for stage, pool in enumerate(pools):
        done = len(selected)
        correlations, norms = sweep.products(pool, residual)
        chosen = best_candidates(correlations, norms, min(case.k, case.h - done))
        selected += [(stage, j) for j in chosen]
        d = start + len(selected)
        design[:, start + done : d] = sweep.columns(pool, chosen)
        readout, residual = ridge(design[:, :d], targets)
    # ‖R‖² + λ‖Ω‖² = tr(TᵀR) at the minimum.
    return NumpyFit(np.array(selected), float(np.vdot(targets, residual)), readout)


# ------------------------------------------------------------------------------ the growing factor


class GrowingFactor:
    """The ridge problem of a design that grows, in the metric P = λ (AAᵀ + λI)⁻¹.

    P = P₀ − QQᵀ and R = PT. In the primal form P₀ = I and the fixed columns are the first of Q; in
    the dual form, for designs wider than they are tall, P₀ is the n × n matrix of the fixed
    columns and Q holds the units alone. Appending G takes PG = P₀G − Q(QᵀG), the factor of
    S = GᵀPG + λI and Q' = PG L_s⁻ᵀ: O(n d k), with two passes over Q.
    """

    def __init__(self, fixed: FloatArray, targets: FloatArray, units: int, sweep: Sweep) -> None:
        n, start = fixed.shape
        self._sweep = sweep
        self._fixed = fixed
        self._start = start
        self._dual = n < start + units
        self._d = 0
        width = units if self._dual else start + units
        self._q = np.empty((n, width), dtype=fixed.dtype, order="F")
        self._l = np.zeros((width, width))
        self._z = np.zeros((width, targets.shape[1]))
        self.residual = targets.copy(order="F")
        self.objective = float(np.vdot(targets, targets))
        if self._dual:
            self._start_dual(targets)
            self._units = np.empty_like(self._q)
        else:
            self._start_primal()

    def _start_dual(self, targets: FloatArray) -> None:
        n = len(targets)
        kernel = self._fixed @ self._fixed.T
        kernel.flat[:: n + 1] += ALPHA
        factor = cho_factor(kernel, overwrite_a=True)
        self._p0 = np.asfortranarray(ALPHA * cho_solve(factor, np.eye(n, dtype=kernel.dtype)))
        self.residual = np.asfortranarray(self._p0 @ targets)
        self.objective = float(np.vdot(targets, self.residual))

    def _start_primal(self) -> None:
        d = self._start
        gram = (self._fixed.T @ self._fixed).astype(np.float64)
        gram.flat[:: d + 1] += ALPHA
        lower = np.linalg.cholesky(gram)
        self._absorb(self._fixed, lower, self._fixed.T @ self.residual)

    def _absorb(self, reduced: FloatArray, lower: FloatArray, correlations: FloatArray) -> None:
        """Q <- [Q, reduced · lower⁻ᵀ], with z, R and J updated accordingly."""
        first, last = self._d, self._d + len(lower)
        (trsm,) = get_blas_funcs(("trsm",), (reduced,))
        new = trsm(1.0, lower.astype(reduced.dtype), reduced, side=1, lower=1, trans_a=1)
        self._q[:, first:last] = new
        self._l[first:last, first:last] = lower
        z = solve_triangular(lower, correlations.astype(np.float64), lower=True)
        self._z[first:last] = z
        self.residual -= new @ z.astype(new.dtype)
        self.objective -= float(np.sum(z * z))
        self._d = last

    def append(self, columns: FloatArray) -> None:
        d, q = self._d, self._q[:, : self._d]
        correlations = columns.T @ self.residual
        if self._dual:
            self._units[:, d : d + columns.shape[1]] = columns
            reduced = np.asfortranarray(self._p0 @ columns)
        else:
            reduced = columns
        schur = (columns.T @ reduced).astype(np.float64)
        schur.flat[:: len(schur) + 1] += ALPHA
        if d > 0:
            overlap = self._sweep.overlap(q, columns)
            wide = overlap.astype(np.float64)
            schur -= wide.T @ wide
            self._l[d : d + len(schur), :d] = wide.T
            self._sweep.remove(q, overlap, reduced)
        self._absorb(reduced, np.linalg.cholesky(schur), correlations)

    def readout(self) -> FloatArray:
        if self._dual:
            parts = (self._fixed.T @ self.residual, self._units.T @ self.residual)
            return np.vstack(parts) / ALPHA
        return solve_triangular(self._l, self._z, lower=True, trans="T")


def fit_incremental(
    X: FloatArray,
    y: NDArray[np.int64],
    pools: list[Pool],
    case: Case,
    *,
    blocked: bool = False,
) -> NumpyFit:
    """Fit with the growing factor; `blocked` sweeps over row blocks on Python threads."""
    fixed, targets = standardized(X), one_hot(y, X.dtype)
    sweep: Sweep = (BlockedSweep if blocked else WholeSweep)(fixed, case.M)
    factor = GrowingFactor(fixed, targets, case.h, sweep)
    selected: list[tuple[int, int]] = []
    with sweep.running():
        for stage, pool in enumerate(pools):
            correlations, norms = sweep.products(pool, factor.residual)
            chosen = best_candidates(correlations, norms, min(case.k, case.h - len(selected)))
            selected += [(stage, j) for j in chosen]
            factor.append(sweep.columns(pool, chosen))
        return NumpyFit(np.array(selected), factor.objective, factor.readout())
