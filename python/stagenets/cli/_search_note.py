"""What a search saw, kept in a model file: the values of its `SearchDisplay`."""

from __future__ import annotations

from reprlib import repr as short
from typing import Any

import numpy as np

from stagenets.inspection._search_display import SearchDisplay, search_values


def note_of(search: Any) -> dict[str, Any]:
    """The values of a search's display, as JSON-compatible data; six digits are enough to see."""
    values = search_values(search)
    scores = [
        [float(f"{score:.6g}") if np.isfinite(score) else None for score in row]
        for row in values["scores"]
    ]
    return {**values, "scores": scores, "best": list(values["best"])}


def display_of(note: Any) -> SearchDisplay:
    """The display of a search, not drawn yet; ValueError unless the note is one of `note_of`."""
    match note:
        case {
            "scores": [[*_], *_] as rows,
            "x_values": [*x_values],
            "y_values": [*y_values],
            "best": [int(column), int(row)],
            "x_name": str(x_name),
            "y_name": str(y_name),
            "score_name": str(score_name),
            "fixed": dict(fixed),
        }:
            try:
                scores = np.array(rows, dtype=np.float64)
            except (TypeError, ValueError):
                scores = np.empty(0)
            inside = 0 <= column < len(x_values) and 0 <= row < len(y_values)
            if scores.shape == (len(y_values), len(x_values)) and inside:
                return SearchDisplay(
                    scores=scores,
                    x_values=x_values,
                    y_values=y_values,
                    best=(column, row),
                    x_name=x_name,
                    y_name=y_name,
                    score_name=score_name,
                    fixed=fixed,
                )
    raise ValueError(f"the note of a search must hold scores and their axes; got {short(note)}")
