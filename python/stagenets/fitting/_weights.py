"""Weights of samples and of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight

from stagenets import _core
from stagenets.fitting._parameters import refusal

Weights = NDArray[np.float64]

# In single precision, squares of rows with larger weights would overflow.
_LARGEST = 1e30


def checked_weights(sample_weight: Any, n: int) -> Weights | None:
    """One weight per sample, none of them negative and not all zero; None if all are one."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    weights = weights_of_rows(sample_weight, n)
    check_total(float(weights.sum()))
    return None if (weights == 1).all() else weights


def weights_of_rows(sample_weight: Any, n: int) -> Weights:
    """One weight for each of some samples, none of them negative."""
    weights: Weights = check_array(
        sample_weight,
        ensure_2d=False,
        ensure_min_samples=0,
        dtype=np.float64,
        input_name="sample_weight",
    )
    if weights.shape != (n,):
        raise refusal(
            "sample_weight", f"shape {weights.shape}", f"one number per sample, shape ({n},)"
        )
    if (weights < 0).any():
        raise refusal("sample_weight", weights.min(), "numbers >= 0")
    if (weights > _LARGEST).any():
        raise refusal("sample_weight", weights.max(), f"numbers up to {_LARGEST:g}")
    return weights


def check_total(total: float) -> None:
    """Refuse weights that sum to nothing."""
    if not total > 0:
        raise refusal("sample_weight", "zeros only", "> 0 for at least one sample")


def samples_counted(total: float) -> int:
    """The number of samples that samples with this total weight stand for."""
    return max(1, round(total))


def with_weight(weights: Weights | None, *arrays: Any) -> tuple[Any, ...]:
    """The weights and the rows of arrays or tables that have a weight; None stays None."""
    if weights is None or (weights > 0).all():
        return weights, *arrays
    some = weights > 0

    def rows_of(array: Any) -> Any:
        return array[some] if hasattr(array, "shape") else np.asarray(array)[some]

    return weights[some], *(None if array is None else rows_of(array) for array in arrays)


def counted(weights: Weights | None, n: int) -> int:
    """The number of samples that n samples with these weights stand for."""
    return n if weights is None else samples_counted(float(weights.sum()))


def core_class_weights(class_weight: Any, classes: Any) -> _core.ClassWeights:
    """`class_weight` in the form the core expects."""
    if class_weight is None:
        return _core.ClassWeights([])
    if isinstance(class_weight, str) and class_weight == "balanced":
        return _core.ClassWeights.balanced()
    if not isinstance(class_weight, Mapping):
        raise refusal("class_weight", class_weight, "None, 'balanced' or a dict {class: weight}")
    return _core.ClassWeights(_weights_of(class_weight, classes))


def core_label_weights(class_weight: Any, labels: Any) -> _core.ClassWeights:
    """The same where samples have several labels, with a dict {0: weight, 1: weight} for each."""
    if class_weight is None or isinstance(class_weight, str):
        return core_class_weights(class_weight, labels)
    each = list(class_weight) if isinstance(class_weight, Sequence) else []
    if len(each) != len(labels) or not all(isinstance(one, Mapping) for one in each):
        accepted = f"None, 'balanced' or a list of {len(labels)} dicts {{0: weight, 1: weight}}"
        raise refusal("class_weight", class_weight, accepted)
    return _core.ClassWeights([w for one in each for w in _weights_of(one, np.arange(2))])


def _weights_of(class_weight: Mapping[Any, Any], classes: NDArray[Any]) -> list[float]:
    for label, weight in class_weight.items():
        if not isinstance(weight, Real) or not 0 <= float(weight) <= _LARGEST:
            accepted = f"a number from 0 to {_LARGEST:g}"
            raise refusal(f"class_weight[{label!r}]", weight, accepted)
    try:
        found = compute_class_weight(dict(class_weight), classes=classes, y=classes)
    except ValueError as error:
        raise refusal(
            "class_weight", class_weight, f"a dict with weights of the classes {classes.tolist()}"
        ) from error
    if not (found > 0).any():
        raise refusal("class_weight", class_weight, "> 0 for at least one class")
    weights: list[float] = found.tolist()
    return weights
