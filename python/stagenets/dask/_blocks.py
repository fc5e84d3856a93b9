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
    # Not optimised in full: that joins the partitions of a file of which few columns are read.
    return list(X.simplify().to_delayed(optimize_graph=False))


def whole_rows(X: da.Array) -> da.Array:
    """The array in blocks that are cut between rows only."""
    return X.rechunk({1: -1}) if X.ndim == 2 and X.numblocks[1] > 1 else X


def blocks_of_rows(X: Any, **others: Any) -> list[tuple[Any, ...]]:
    """Blocks of X with those of the others that belong to the same rows; None stays None."""
    columns = [row_blocks("X", X, (2,))]
    for name, other in others.items():
        if other is None:
            columns.append([None] * len(columns[0]))
            continue
        blocks = row_blocks(name, _cut_like(X, name, other), (1, 2))
        if len(blocks) != len(columns[0]):
            raise ValueError(
                f"X and {name} must have the same partitions; got {len(columns[0])} of X and "
                f"{len(blocks)} of {name}"
            )
        columns.append(blocks)
    return list(zip(*columns, strict=True))


def _cut_like(X: Any, name: str, other: Any) -> Any:
    """The other collection in the blocks of X, as far as it is known where these end."""
    if is_array(X) and is_array(other) and X.chunks[0] != other.chunks[0]:
        lengths = (sum(X.chunks[0]), sum(other.chunks[0]))
        if lengths[0] == lengths[1]:  # never if some are unknown, which are NaN
            return other.rechunk({0: X.chunks[0]})
        if not np.isnan(lengths).any():
            raise ValueError(
                f"X and {name} must have as many rows; got {lengths[0]} and {lengths[1]}"
            )
    if is_frame(X) and is_frame(other) and X.known_divisions and other.known_divisions:
        if X.divisions != other.divisions:
            return other.repartition(divisions=X.divisions)
    return other


def check_same_rows(X: Any, **others: Any) -> None:
    """Refuse blocks that have another number of rows than that of X."""
    for name, other in others.items():
        if other is not None and len(other) != len(X):
            raise ValueError(
                f"X and {name} must have the same partitions; got one with {len(X)} rows of X and "
                f"{len(other)} of {name}"
            )


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
