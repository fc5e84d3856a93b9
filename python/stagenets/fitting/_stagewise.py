"""The stagewise loop for any kind of candidate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from stagenets import _core
from stagenets.fitting._parameters import (
    check_count,
    check_flag,
    check_number,
    check_penalty,
    check_pool,
    check_score_fraction,
    is_one_shot,
)
from stagenets.fitting._threads import effective_threads, single_threaded_blas
from stagenets.fitting._weights import checked_weights


@dataclass(frozen=True)
class StagewiseFit:
    """The result of `fit_stagewise`.

    Attributes
    ----------
    selected : ndarray of shape (h, 2)
        Stage of every unit kept and its index in that stage's pool, in the order of selection.
    hidden : ndarray of shape (n, h)
        Activations of the units kept.
    readout : ndarray of shape (q, p + h)
        Readout weights of the inputs (if any) and the units.
    readout_intercept : ndarray of shape (q,)
        Intercept of the readout; zero with ``fit_intercept=False``.
    objective_path, residual_path : ndarray of shape (n_iter + 1,)
        Ridge objective and squared residual before the first unit and after each stage.
    n_iter : int
        Number of stages.

    Examples
    --------
    >>> import numpy as np
    >>> from stagenets import fit_stagewise
    >>> def noise(stage, pool_size):
    ...     return np.random.default_rng(stage).normal(size=(50, pool_size))
    >>> fit = fit_stagewise(noise, np.arange(50.0), n_hidden=3)
    >>> fit.hidden.shape, fit.readout.shape, fit.n_iter
    ((50, 3), (1, 3), 3)
    """

    selected: NDArray[np.int64]
    hidden: NDArray[np.float64]
    readout: NDArray[np.float64]
    readout_intercept: NDArray[np.float64]
    objective_path: NDArray[np.float64]
    residual_path: NDArray[np.float64]
    n_iter: int


def fit_stagewise(
    candidates: Callable[[int, int], ArrayLike],
    targets: ArrayLike,
    *,
    inputs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_hidden: int = 100,
    alpha: float = 1.0,
    pool_size: int = 100,
    block_size: int | str = 1,
    selection: str = "residual",
    score_fraction: float | str = 1.0,
    fit_intercept: bool = True,
    solver: str = "auto",
    tol: float = 0.0,
    n_jobs: int | None = None,
) -> StagewiseFit:
    """Build a randomized network of any architecture, stage by stage.

    This is the loop of the estimators with candidates that you supply: every stage requests a pool,
    scores each column g by ``‖gᵀR‖² / (‖g‖² + alpha)`` against the residual R, keeps the best
    ``block_size`` columns and refits the readout on ``[1, inputs, hidden]`` in closed form. Nothing
    is scaled or centred.

    Parameters
    ----------
    candidates : callable
        ``candidates(stage, pool_size)`` returns an array of shape (n, pool_size), the activations
        of the stage's candidate units on all rows. Stages count from 0.
    targets : array-like of shape (n,) or (n, q)
        One-hot classes or regression targets.
    inputs : array-like of shape (n, p), optional
        Columns that are in the design from the start (direct links).
    sample_weight : array-like of shape (n,), optional
        Weights of the rows: every sum over rows, such as ‖g‖² and gᵀR, is weighted by them.
    n_hidden : int, default=100
        Number of units to keep.
    alpha : float, default=1.0
        Ridge penalty.
    pool_size, block_size : int, default=100 and 1
        Numbers of candidates drawn and of units kept per stage.
    selection : {"residual", "joint", "random"}, default="residual"
        As in the estimators; "random" requests one pool of `n_hidden` candidates and keeps them
        all.
    score_fraction : float, default=1.0
        Fraction of the rows on which candidates are scored.
    fit_intercept : bool, default=True
        Whether the design has a column of ones, penalised like the others.
    solver : {"auto", "primal", "dual"}, default="auto"
        Form of the ridge problem; "auto" uses the smaller one.
    tol : float, default=0.0
        Stop when a stage lowers the objective by less than this fraction.
    n_jobs : int, optional
        Number of threads; None means the number that OpenMP would use.

    Returns
    -------
    StagewiseFit

    Examples
    --------
    Random cosine features of one variable, chosen for the target:

    >>> import numpy as np
    >>> from stagenets import fit_stagewise
    >>> x = np.linspace(0, 1, 200)
    >>> def cosines(stage, pool_size):
    ...     rng = np.random.default_rng(stage)
    ...     frequencies, phases = rng.uniform(0, 50, pool_size), rng.uniform(0, 6.3, pool_size)
    ...     return np.cos(np.outer(x, frequencies) + phases)
    >>> fit = fit_stagewise(cosines, np.sin(20 * x**2), n_hidden=30, alpha=1e-3)
    >>> bool(fit.objective_path[-1] < 0.05 * fit.objective_path[0])
    True
    """
    if not callable(candidates):
        raise ValueError(
            "candidates must be a callable (stage, pool_size) -> array of shape (n, pool_size); "
            f"got {candidates!r}"
        )
    goal = check_array(targets, ensure_2d=False, dtype=np.float64, input_name="targets")
    goal = goal.reshape(len(goal), -1)
    n = len(goal)
    links = (
        np.empty((n, 0))
        if inputs is None
        else check_array(inputs, dtype=np.float64, order="F", input_name="inputs")
    )
    if len(links) != n:
        raise ValueError(f"inputs must have as many rows as targets ({n}); got {len(links)}")
    weights = checked_weights(sample_weight, n)
    one_shot = is_one_shot(selection)
    units = check_count("n_hidden", n_hidden)
    pool, block = (units, units) if one_shot else check_pool(pool_size, block_size, n)
    penalty, form = check_penalty(alpha, solver)

    def pool_of(stage: int, count: int) -> Any:
        columns = candidates(stage, count)
        got = f"shape {np.shape(columns)}" if np.ndim(columns) else repr(columns)
        if np.shape(columns) != (n, count):
            raise ValueError(f"candidates must return an array of shape {(n, count)}; got {got}")
        if np.iscomplexobj(columns):
            raise ValueError(f"candidates must return real numbers; got complex ones, {got}")
        return check_array(columns, dtype=np.float64, input_name="candidates")

    with single_threaded_blas():
        fit = _core.fit_given_units(
            pool_of,
            goal,
            links,
            weights=weights,
            n_hidden=units,
            alpha=penalty,
            pool_size=pool,
            block_size=block,
            selection=selection,
            score_fraction=check_score_fraction(score_fraction),
            intercept=check_flag("fit_intercept", fit_intercept),
            solver=form,
            tol=check_number("tol", tol),
            threads=effective_threads(n_jobs),
        )
    ones = int(fit_intercept)
    return StagewiseFit(
        selected=fit.history.selected,
        hidden=fit.hidden,
        readout=fit.readout[ones:].T,
        readout_intercept=fit.readout[0] if ones else np.zeros(goal.shape[1]),
        objective_path=fit.history.objective_path,
        residual_path=fit.history.residual_path,
        n_iter=len(fit.history.objective_path) - 1,
    )
