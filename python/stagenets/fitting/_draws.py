"""The distribution of hidden weights: built-in families and custom ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from stagenets import _core
from stagenets.fitting._parameters import (
    ROW_FAMILIES,
    WEIGHT_FAMILIES,
    check_count,
    check_number,
    contiguous,
    refusal,
    seed_of,
)
from stagenets.fitting._weights import checked_weights, with_weight

# Fourth word of the Philox counter for custom draws; the core uses 0 and 1.
_CUSTOM_STREAM = 2

CoreDraw = Callable[[int, int, int], tuple[NDArray[np.float64], NDArray[np.float64]]]


def _custom_draw(weight_init: Any, seed: int) -> CoreDraw:
    draw = getattr(weight_init, "draw", weight_init)

    def checked(stage: int, pool_size: int, n_features: int) -> Any:
        philox = np.random.Philox(key=seed, counter=[0, 0, stage, _CUSTOM_STREAM])
        drawn = draw(np.random.Generator(philox), pool_size, n_features)
        try:
            weights, biases = (
                check_array(part, dtype=np.float64, ensure_2d=False, ensure_all_finite=False)
                for part in drawn
            )
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"weight_init must return a pair of real arrays (weights, biases); got {drawn!r}"
            ) from error
        if weights.shape != (n_features, pool_size) or biases.shape != (pool_size,):
            raise ValueError(
                f"weight_init must return weights of shape {(n_features, pool_size)} and biases of "
                f"shape {(pool_size,)}; got {weights.shape} and {biases.shape}"
            )
        if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
            raise ValueError("weight_init must return finite weights and biases; got inf or NaN")
        return weights, biases

    return checked


def core_draws(
    weight_init: Any, seed: int, families: Sequence[str] = WEIGHT_FAMILIES
) -> str | CoreDraw:
    """`weight_init` in the form the core expects: the name of a family, or a checked function."""
    if callable(weight_init) or callable(getattr(weight_init, "draw", None)):
        return _custom_draw(weight_init, seed)
    if not isinstance(weight_init, str) or weight_init not in families:
        names = ", ".join(map(repr, families))
        raise ValueError(
            f"weight_init must be one of {names}, a callable (rng, pool_size, n_features) -> "
            f"(weights, biases) or an object with such a draw method; got {weight_init!r}"
        )
    return weight_init


def draw_candidates(
    random_state: int,
    stage: int,
    pool_size: int,
    n_features: int,
    *,
    X: Any = None,
    sample_weight: Any = None,
    weight_init: Any = "sparse",
    weight_scale: float = 1.0,
    fan_in: int = 6,
) -> tuple[NDArray[Any], ...]:
    """Draw the candidate units that a fit with this seed draws at a stage.

    Draws are counter-based (Philox4x64-10): candidate ``j`` of stage ``t`` is read from
    ``numpy.random.Philox(key=random_state, counter=[0, j, t, 0])``, so any unit can be reproduced
    from three integers (and the training inputs, if the family looks at them). The weights apply
    to the inputs as the network sees them, that is, standardised unless ``standardize=False``.

    Parameters
    ----------
    random_state : int
        The seed of the fit.
    stage : int
        Number of the stage, counting from 0.
    pool_size : int
        Number of candidates. A smaller pool is the beginning of a larger one.
    n_features : int
        Number of inputs of each unit.
    X : array-like of shape (n_samples, n_features), optional
        The training inputs as the network sees them, needed for the families that look at them:
        "threshold", "leaf" and "mixed". The order of the samples does not matter.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the fit, for the same families; times those of the classes, if there are any.
    weight_init : {"sparse", "uniform", "normal", "threshold", "leaf", "mixed"} or callable, \
default="sparse"
        Family of the weights, as in the estimators.
    weight_scale : float, default=1.0
        Scale of weights and biases.
    fan_in : int, default=6
        Maximum number of inputs that a unit sees, with ``weight_init="sparse"`` or "mixed".

    Returns
    -------
    weights : ndarray of shape (n_features, n_terms)
        One column per unit, or per term of a unit with "leaf" and "mixed".
    biases : ndarray of shape (n_terms,)
    ends : ndarray of shape (pool_size,)
        End of each unit's terms; only with "leaf" and "mixed".

    Examples
    --------
    >>> from stagenets import draw_candidates
    >>> weights, biases = draw_candidates(0, stage=3, pool_size=5, n_features=2)
    >>> weights.shape, biases.shape
    ((2, 5), (5,))
    """
    seed = seed_of(random_state)
    draws = core_draws(weight_init, seed)
    inputs = check_count("n_features", n_features)
    if X is None and draws in ROW_FAMILIES:
        raise refusal("X", X, f"the training inputs with weight_init={draws!r}")
    rows = None if X is None else contiguous(check_array(X, dtype=np.float64))
    if rows is not None and rows.shape[1] != inputs:
        raise refusal("X", f"shape {rows.shape}", f"an array with n_features={inputs} columns")
    weights = None
    if rows is not None:
        weights, rows = with_weight(checked_weights(sample_weight, len(rows)), rows)
    return _core.draw_candidates(
        seed,
        check_count("stage", stage, minimum=0),
        check_count("pool_size", pool_size),
        inputs,
        x=rows,
        weights=weights,
        weight_init=draws,
        weight_scale=check_number("weight_scale", weight_scale, positive=True),
        fan_in=check_count("fan_in", fan_in),
    )
