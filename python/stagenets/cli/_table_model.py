"""A network that takes tables as they are read: a Pipeline of `ColumnTypes` and a network."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from stagenets.cli._column_types import ColumnTypes
from stagenets.cli._table_columns import kind_of, numbers_of, texts_of
from stagenets.estimators._network import StagewiseNetwork

# Whole numbers with at most this many different values are classes, not quantities.
MOST_CLASSES = 20


def table_model(types: ColumnTypes, network: StagewiseNetwork) -> Pipeline:
    """A Pipeline of two fitted parts; ValueError if they do not match."""
    names = types.get_feature_names_out().tolist()
    if names != list(network.network_.feature_names):
        raise ValueError(
            f"the network must take the table's columns, {', '.join(names)}; it takes "
            f"{', '.join(network.network_.feature_names) or 'columns without names'}"
        )
    if len(types.targets) > 1 and len(types.targets) != network.network_.n_outputs:
        raise ValueError(
            f"the table has {len(types.targets)} targets; the network has "
            f"{network.network_.n_outputs}"
        )
    return Pipeline([("table", types), ("network", network)])


def guess_task(targets: Any) -> str:
    """Classification for texts, flags and a few whole numbers, regression for other numbers.

    `targets` is a DataFrame. A ValueError asks what to do with dates, or with a class for every
    other row.
    """
    if targets.shape[1] > 1:
        for name in targets.columns:
            if kind_of(targets[name]) != "numbers":
                raise ValueError(
                    f"several targets must all hold numbers; {name!r} holds "
                    f"{kind_of(targets[name])}: fit a model of its own for it"
                )
        return "regression"
    (name,) = targets.columns
    target = targets[name].infer_objects()
    kind, different, rows = kind_of(target), target.nunique(), len(target)
    if kind == "dates":
        raise ValueError(
            f"column {name!r} holds dates, which are neither classes nor numbers: choose another "
            "--target, or --task classification if every date is a class"
        )
    if kind != "numbers":
        if different > max(MOST_CLASSES, rows / 2):
            raise ValueError(
                f"column {name!r} holds {different} different texts in {rows} rows: choose another "
                "--target, or --task classification if each of them is a class"
            )
        return "classification"
    numbers = target.dropna().astype(np.float64)
    whole = bool((numbers == numbers.round()).all())
    few = different <= MOST_CLASSES and 2 * different <= rows + 1
    return "classification" if whole and few else "regression"


def targets_of(targets: Any, task: str) -> NDArray[Any]:
    """Columns without missing values, as targets for a network: (n,) or (n, several)."""
    if task == "regression":
        columns = [numbers_of(name, targets[name]) for name in targets.columns]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)
    if targets.shape[1] > 1:
        raise ValueError("several targets must be numbers; fit one model for each class target")
    (name,) = targets.columns
    target = targets[name].infer_objects()
    kind = kind_of(target)
    if kind == "numbers":
        numbers = numbers_of(name, target)
        if target.dtype.kind == "b":
            return np.asarray(target, dtype=bool)
        if (numbers != np.round(numbers)).any():
            raise ValueError(
                f"column {name!r} must hold classes (texts, flags or whole numbers); got "
                f"{numbers[numbers != np.round(numbers)][0]}: is this --task regression?"
            )
        return numbers.astype(np.int64)
    if kind not in ("texts", "dates"):
        raise ValueError(f"column {name!r} must hold numbers or texts; got {kind}")
    return np.array(texts_of(target), dtype=object)
