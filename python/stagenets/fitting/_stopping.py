"""Criteria for early stopping: leave-one-out, samples set aside, or cross-validation."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    train_test_split,
)
from sklearn.utils.validation import column_or_1d

from stagenets import _core
from stagenets.fitting._parameters import check_count, check_fraction, refusal, seed_of

if TYPE_CHECKING:
    from stagenets.estimators._network import StagewiseNetwork
    from stagenets.fitting._fitted_network import FitHistory

_FOLDS = 5
_KINDS = ("loo", "validation", "cv")

Labels = NDArray[np.int64]


def stopping_of(
    model: StagewiseNetwork, n: int, labels: Labels | None, groups: Any = None
) -> _core.Stopping:
    """The stopping rule for a fit on `n` samples, with these labels in classification."""
    by = _criterion(model)
    numbers = group_numbers(groups, n)
    if numbers is not None and by not in ("cv", "validation") and model.intervals != "cv":
        accepted = "True, 'cv' or 'validation' with groups"
        raise refusal("early_stopping", model.early_stopping, accepted)
    if by in ("loo", "validation") and model._is_one_shot:
        raise ValueError(
            f"early_stopping must be False or 'cv' with selection='random', which has no stages; "
            f"got {by!r}"
        )
    if by == "loo" and model.loss != "squared" and is_regressor(model):
        accepted = f"False, 'validation' or 'cv' with loss={model.loss!r}"
        raise refusal("early_stopping", model.early_stopping, accepted)
    patience = check_count("n_iter_no_change", model.n_iter_no_change)
    if by == "validation":
        rows = _validation_rows(model, n, labels, numbers)
        return _core.Stopping(by=by, patience=patience, validation_rows=rows)
    if by == "cv":
        splits = folds_of(model, n, labels, numbers)
        return _core.Stopping(by=by, patience=patience, splits=splits)
    return _core.Stopping(by=by, patience=patience)


def warn_if_nothing_helped(model: StagewiseNetwork, history: FitHistory) -> None:
    """Warn if early stopping went back to the network without units."""
    if history.best_iter == 0 and history.n_iter > 0:
        readout = "its direct links and intercept" if model._links_inputs else "its intercept"
        warnings.warn(
            f"early_stopping={model.early_stopping!r} kept no units: none of the {history.n_iter} "
            f"stages improved on a network with only {readout}",
            stacklevel=5,
        )


def _criterion(model: StagewiseNetwork) -> str:
    value = model.early_stopping
    if isinstance(value, (bool, np.bool_)):
        return "cv" if value else "nothing"
    if not isinstance(value, str) or value not in _KINDS:
        raise refusal("early_stopping", value, "True, False, 'loo', 'validation' or 'cv'")
    return value


def group_numbers(groups: Any, n: int) -> Labels | None:
    """The number of each sample's group, checked; None if there are no groups."""
    if groups is None:
        return None
    names = column_or_1d(groups)
    if len(names) != n:
        raise ValueError(f"groups must have one entry per sample ({n}); got {len(names)}")
    found, numbers = np.unique(names, return_inverse=True)
    if len(found) < 2:
        raise ValueError(f"groups must name at least 2 groups; got {len(found)}")
    return numbers.astype(np.int64)


def _validation_rows(
    model: StagewiseNetwork, n: int, labels: Labels | None, groups: Labels | None = None
) -> Labels:
    fraction = check_fraction("validation_fraction", model.validation_fraction)
    count = max(1, round(fraction * n))
    if count >= n:
        raise ValueError(
            f"validation_fraction must leave samples to fit on; got {fraction} of {n} samples"
        )
    if groups is not None:
        splitter = GroupShuffleSplit(1, test_size=fraction, random_state=_state(model))
        _, rows = next(splitter.split(np.empty((n, 0)), groups=groups))
        return np.sort(rows)
    few = labels is None or min(np.bincount(labels).min(), count, n - count) < 2
    stratify = None if few or count < labels.max() + 1 else labels  # type: ignore[union-attr]
    _, rows = train_test_split(
        np.arange(n), test_size=count, stratify=stratify, random_state=_state(model)
    )
    return np.sort(rows)


def folds_of(
    model: StagewiseNetwork, n: int, labels: Labels | None, groups: Labels | None
) -> list[tuple[Labels, Labels]]:
    """Five folds of the samples, or fewer if there are fewer groups; stratified if possible."""
    if n < 2:
        raise ValueError(f"cross-validation needs at least 2 samples; got {n}")
    folds = min(_FOLDS, n if groups is None else int(groups.max()) + 1)
    stratified = labels is not None and np.bincount(labels).min() >= folds
    kind: Any = StratifiedKFold if stratified else KFold
    if groups is not None:
        kind = StratifiedGroupKFold if stratified else GroupKFold
    splitter = kind(folds, shuffle=True, random_state=_state(model))
    return list(splitter.split(np.empty((n, 0)), labels, groups))


def _state(model: StagewiseNetwork) -> int:
    return seed_of(model.random_state) % 2**32
