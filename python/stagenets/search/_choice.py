"""Which candidate a search takes, given its scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def cautious_choice(
    candidates: list[dict[str, Any]],
    scores: NDArray[np.float64],
    best: int,
    default: dict[str, Any],
    size_name: str,
) -> int:
    """The best candidate if it is surely better than the default network, otherwise that one.

    `scores` has a row for each candidate and a column for each split, and `best` is the row with
    the highest mean. The highest of many means is high by luck as well, the more so with few
    samples. So its gains over the default network on the splits, which share their luck, must
    exceed their standard error. Where the default network is not among the candidates (its size may
    be smaller), the best one is taken.
    """
    index = _default_among(candidates, default, size_name)
    if index is None or scores.shape[1] < 2:
        return best
    gains = scores[best] - scores[index]
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    return best if not gains.mean() <= ERRORS * error else index


#: Standard errors by which a gain must exceed zero; see docs/study/defaults.md.
ERRORS = 1.0


def _default_among(
    candidates: list[dict[str, Any]], default: dict[str, Any], size_name: str
) -> int | None:
    """Position of the candidate with the default's settings and the largest size up to its own."""
    found: int | None = None
    for index, candidate in enumerate(candidates):
        sizes = candidate[size_name], default[size_name]
        alike = all(_same(candidate[name], default[name]) for name in default if name != size_name)
        if alike and sizes[0] <= sizes[1]:
            if found is None or sizes[0] > candidates[found][size_name]:
                found = index
    return found


def _same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and bool(value == other)
