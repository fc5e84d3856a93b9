"""A network that takes tables: a Pipeline of a `TableEncoder` and a network."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from residuum._network import StagewiseNetwork
from residuum._table_encoder import TableEncoder, kind_of, numbers_of, texts_of

# Whole numbers with at most so many different values are classes, not quantities.
_MOST_CLASSES = 20


def table_model(encoder: TableEncoder, network: StagewiseNetwork) -> Pipeline:
    """The Pipeline of two fitted parts; ValueError if they do not fit together."""
    inputs = len(encoder.get_feature_names_out())
    if inputs != network.n_features_in_:
        raise ValueError(
            f"the table's columns make {inputs} inputs; the network has {network.n_features_in_}"
        )
    return Pipeline([("table", encoder), ("network", network)])


def guess_task(target: Any) -> str:
    """Classification of texts, flags and a few whole numbers; else regression."""
    if kind_of(target) != "numbers":
        return "classification"
    numbers = target.dropna().astype(np.float64)
    whole = bool((numbers == numbers.round()).all())
    return "classification" if whole and numbers.nunique() <= _MOST_CLASSES else "regression"


def targets_of(target: Any, task: str) -> NDArray[Any]:
    """A column without missing values as what a network is fitted to."""
    name, kind = target.name, kind_of(target)
    if task == "regression":
        return numbers_of(name, target)
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
    if kind != "texts":
        raise ValueError(f"column {name!r} must hold numbers or texts; got {kind}")
    return np.array(texts_of(target), dtype=object)
