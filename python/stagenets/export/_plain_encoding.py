"""The encoding of a network's inputs as arrays and JSON data, and back, with everything checked."""

from __future__ import annotations

import math
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stagenets.fitting._input_encoding import InputEncoding

if TYPE_CHECKING:
    from stagenets.fitting._rows import Label


def plain_categories(encoding: InputEncoding) -> list[list[Any]]:
    """The categories as pairs of a column and its labels; ValueError if they cannot be written."""
    return [
        [column, [_checked_label(label) for label in labels]]
        for column, labels in encoding.categories.items()
    ]


def encoding_of(
    fills: NDArray[np.float64], flagged: NDArray[np.int64], categories: Any, inputs: int
) -> InputEncoding:
    """The encoding from its plain parts; ValueError unless they make so many inputs."""
    if not np.isin(flagged, (0, 1)).all():
        raise ValueError("encoding.flagged must be 0 or 1")
    encoding = InputEncoding(fills, flagged == 1, _checked_categories(categories, len(fills)))
    if encoding.flagged[list(encoding.categories)].any():
        raise ValueError("encoding.flagged must be 0 for columns with categories")
    made = int(encoding.ends[-1]) if len(fills) else 0
    if made != inputs:
        raise ValueError(f"the columns must make {inputs} inputs; they make {made}")
    return encoding


def _checked_categories(pairs: Any, columns: int) -> dict[int, tuple[Label, ...]]:
    if not isinstance(pairs, list):
        raise ValueError(f"categories must be a list of columns and labels; got {short(pairs)}")
    categories: dict[int, tuple[Label, ...]] = {}
    for pair in pairs:
        match pair:
            case [int(column), [_, *_] as labels] if 0 <= column < columns:
                checked = tuple(map(_checked_label, labels))
                if column in categories or len(set(checked)) < len(checked):
                    raise ValueError("categories must not be listed twice")
                categories[column] = checked
            case _:
                raise ValueError(
                    f"categories must be listed by column, below {columns}; got {short(pair)}"
                )
    return categories


def _checked_label(label: Any) -> Label:
    known = label is None or isinstance(label, (str, bool, int))
    if not known and not (isinstance(label, float) and math.isfinite(label)):
        raise ValueError(
            f"categories must be texts, numbers or flags to be written to a file; got {label!r}"
        )
    return label  # type: ignore[no-any-return]
