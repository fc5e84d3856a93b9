"""Dask's arrays and data frames as lists of blocks of rows, and functions on these blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from numpy.typing import NDArray


def is_array(X: Any) -> bool:
    """Whether X is a Dask array."""
    return isinstance(X, da.Array)


def is_frame(X: Any) -> bool:
    """Whether X is a data frame or a series of Dask."""
    return is_dask_collection(X) and not is_array(X) and hasattr(X, "map_partitions")


def is_collection(X: Any) -> bool:
    """Whether X is one of these."""
    return is_array(X) or is_frame(X)


def row_blocks(name: str, X: Any, ndims: tuple[int, ...]) -> list[Any]:
    """The blocks of X as delayed objects, in the order of the rows."""
    if not is_collection(X):
        raise TypeError(
            f"{name} must be a Dask array or data frame; got {type(X).__name__} (stagenets itself "
            f"has the estimators for data in memory)"
        )
    if X.ndim not in ndims:
        wanted = " or ".join(map(str, ndims))
        raise ValueError(f"{name} must have {wanted} dimensions; got {X.ndim}")
    if is_array(X):
        return list(whole_rows(X).to_delayed().ravel())
    return list(X.to_delayed())


def whole_rows(X: da.Array) -> da.Array:
    """The array in blocks that are cut between rows only."""
    return X.rechunk({1: -1}) if X.ndim == 2 and X.numblocks[1] > 1 else X


def paired_blocks(X: Any, y: Any) -> list[tuple[Any, Any]]:
    """Blocks of X with the blocks of y that belong to the same rows."""
    if is_array(X) and is_array(y) and X.chunks[0] != y.chunks[0]:
        lengths = (sum(X.chunks[0]), sum(y.chunks[0]))
        if lengths[0] == lengths[1]:  # never if some are unknown, which are NaN
            y = y.rechunk({0: X.chunks[0]})
        elif not np.isnan(lengths).any():
            raise ValueError(f"X and y must have as many rows; got {lengths[0]} and {lengths[1]}")
    if is_frame(X) and is_frame(y) and X.known_divisions and y.known_divisions:
        if X.divisions != y.divisions:
            y = y.repartition(divisions=X.divisions)
    blocks, targets = row_blocks("X", X, (2,)), row_blocks("y", y, (1, 2))
    if len(blocks) != len(targets):
        raise ValueError(
            f"X and y must have the same partitions; got {len(blocks)} of X and {len(targets)} of y"
        )
    return list(zip(blocks, targets, strict=True))


Predict = Callable[..., NDArray[Any]]


def mapped(
    X: Any, predict: Predict, like: NDArray[Any], columns: Any = None, **arguments: Any
) -> Any:
    """Predictions for the rows of X, block by block, when they are computed.

    `like` is an empty result; `columns` names its columns in a data frame.
    """
    if is_array(X):
        X = whole_rows(X)
        shape: dict[str, Any] = (
            {"drop_axis": 1} if like.ndim == 1 else {"chunks": (X.chunks[0], (like.shape[1],))}
        )
        return X.map_blocks(
            _predicted,
            predict=predict,
            like=like,
            meta=like,
            dtype=like.dtype,
            **shape,
            **arguments,
        )
    meta = _framed(like, X._meta.index[:0], columns)
    return X.map_partitions(
        _predicted_frame, predict=predict, like=like, columns=columns, meta=meta, **arguments
    )


def _predicted(block: Any, predict: Predict, like: NDArray[Any], **arguments: Any) -> NDArray[Any]:
    return predict(X=block, **arguments) if len(block) else like


def _predicted_frame(
    block: Any, predict: Predict, like: NDArray[Any], columns: Any, **arguments: Any
) -> Any:
    return _framed(_predicted(block, predict, like, **arguments), block.index, columns)


def _framed(values: NDArray[Any], index: Any, columns: Any) -> Any:
    import pandas as pd

    if values.ndim == 1:
        return pd.Series(values, index=index)
    return pd.DataFrame(values, index=index, columns=columns)
