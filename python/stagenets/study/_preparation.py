"""Scaling of whole tables before any split, as in the published study."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SCALINGS = ("rows", "columns", "none")


def scaled(X: NDArray[np.float64], scaling: str) -> NDArray[np.float64]:
    """X with mean 0 and deviation 1 in each row ("rows") or column ("columns"), or unchanged.

    Deviations use n − 1, as in MATLAB; a constant row or column becomes zero.
    """
    if scaling not in SCALINGS:
        raise ValueError(f"scaling must be one of {', '.join(SCALINGS)}; got {scaling!r}")
    if scaling == "none":
        return X
    axis = 1 if scaling == "rows" else 0
    if X.shape[axis] < 2:
        raise ValueError(f"scaling {scaling!r} needs at least two {'columns' if axis else 'rows'}")
    centred = X - X.mean(axis=axis, keepdims=True)
    deviation = X.std(axis=axis, ddof=1, keepdims=True)
    rounding = X.shape[axis] * np.finfo(float).eps * np.abs(X).max(axis=axis, keepdims=True)
    constant = deviation <= rounding
    return np.asarray(np.where(constant, 0.0, centred / np.where(constant, 1.0, deviation)))
