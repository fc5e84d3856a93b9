"""Labels of classifiers as the core knows them: one class per sample, or several labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from stagenets import _core

ClassNumbers = NDArray[np.int64]


def dense_labels(y: Any) -> NDArray[Any]:
    """Validated labels as a vector, or as an indicator matrix if samples have several labels."""
    y = y.toarray() if issparse(y) else np.asarray(y)
    check_classification_targets(y)
    if y.ndim == 1 or type_of_target(y) != "multilabel-indicator":
        return np.asarray(column_or_1d(y, warn=True))
    found = np.unique(y)
    if not np.isin(found, (0, 1)).all():
        raise ValueError(
            "y must be a vector of classes, or a matrix of zeros and ones with a column for each "
            f"label; got a matrix of {found.tolist()}"
        )
    return np.asarray(y)


@dataclass(frozen=True, eq=False)
class CodedLabels:
    """Labels, coded: the classes (or the numbers of the labels) and what the core fits to.

    `numbers` are those of the samples' classes, None if samples have several labels.
    """

    classes: NDArray[Any]
    targets: _core.Targets
    numbers: ClassNumbers | None

    @classmethod
    def of(cls, y: NDArray[Any], classes: NDArray[Any] | None = None) -> CodedLabels:
        """Code dense labels; the classes are those of y unless they are known already."""
        if y.ndim == 2:
            return cls._of_indicators(y, classes)
        if classes is None:
            classes = np.unique(y)
            if len(classes) < 2:
                only = classes.tolist()[0]
                raise ValueError(f"y must have at least two classes; got one class, {only!r}")
        unknown = np.setdiff1d(y, classes)
        if len(unknown):
            raise ValueError(
                f"y must have no classes but {classes.tolist()}, which were given at first; got "
                f"{unknown.tolist()}"
            )
        numbers = np.searchsorted(classes, y).astype(np.int64)
        return cls(classes, _core.Targets.labels(numbers, len(classes)), numbers)

    @classmethod
    def _of_indicators(cls, y: NDArray[Any], classes: NDArray[Any] | None) -> CodedLabels:
        labels = np.arange(y.shape[1])
        if classes is not None and not np.array_equal(classes, labels):
            raise ValueError(
                f"y must have a column for each of the labels {classes.tolist()}, which were given "
                f"at first; got {y.shape[1]} columns"
            )
        return cls(labels, _core.Targets.indicators(np.asarray(y, dtype=np.float64)), None)

    @property
    def several(self) -> bool:
        """Whether samples have several labels."""
        return self.numbers is None
