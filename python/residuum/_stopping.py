"""How a fit learns when to stop: by leave-one-out, by samples set aside or by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from residuum import _core
from residuum._threads import effective_threads, single_threaded_blas
from residuum._validation import check_choice, check_count, check_fraction, contiguous, seed_of

if TYPE_CHECKING:
    from residuum._network import StagewiseNetwork

_FOLDS = 5
_MEMORY = 2e9


@dataclass(frozen=True)
class Evidence:
    """What a fit needs to judge its stages."""

    root_weights: NDArray[np.float64] | None = None
    cv_path: NDArray[np.float64] | None = None


def evidence_for(
    model: StagewiseNetwork,
    settings: _core.NetworkSettings,
    X: NDArray[Any],
    targets: NDArray[np.float64],
    labels: NDArray[np.int64] | None,
) -> Evidence:
    """Put into the settings what the fit shall watch, and to what size it shall go."""
    kind = _kind(model)
    guided = model.selection != "random"
    if kind in ("loo", "validation") and not guided:
        raise ValueError(
            f"early_stopping must be False or 'cv' with selection='random', which has no stages; "
            f"got {kind!r}"
        )
    rows = np.empty(0, dtype=np.int64)
    evidence = Evidence()
    if kind == "validation":
        rows = _validation_rows(model, len(X), labels)
        root_weights = np.ones(len(X))
        root_weights[rows] = 0.0
        evidence = Evidence(root_weights=root_weights)
    elif kind == "cv":
        path = _cv_path(model, settings, X, targets, labels)
        settings.size = int(np.argmax(path)) + 1
        evidence = Evidence(cv_path=path)
    settings.set_evidence(
        labels is not None,
        guided,
        labels is not None,
        kind if kind in ("loo", "validation") else "none",
        check_count("n_iter_no_change", model.n_iter_no_change),
        rows.tolist(),
    )
    return evidence


def _kind(model: StagewiseNetwork) -> str:
    value = model.early_stopping
    if isinstance(value, (bool, np.bool_)) and not value:
        return "none"
    if not isinstance(value, str):
        raise ValueError(
            f"early_stopping must be False, 'loo', 'validation' or 'cv'; got {value!r}"
        )
    return check_choice("early_stopping", value, ("loo", "validation", "cv"))


def _validation_rows(
    model: StagewiseNetwork, n: int, labels: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    fraction = check_fraction("validation_fraction", model.validation_fraction)
    count = max(1, round(fraction * n))
    if count >= n:
        raise ValueError(
            f"validation_fraction must leave samples to fit on; got {fraction} of {n} samples"
        )
    few = labels is None or min(np.bincount(labels).min(), count, n - count) < 2
    stratify = None if few or count < labels.max() + 1 else labels  # type: ignore[union-attr]
    _, rows = train_test_split(
        np.arange(n), test_size=count, stratify=stratify, random_state=_state(model)
    )
    return np.sort(rows)


def _cv_path(
    model: StagewiseNetwork,
    settings: _core.NetworkSettings,
    X: NDArray[Any],
    targets: NDArray[np.float64],
    labels: NDArray[np.int64] | None,
) -> NDArray[np.float64]:
    """Mean score of every size on folds of the samples."""
    n = len(X)
    if n < 2:
        raise ValueError(f"early_stopping='cv' needs at least 2 samples; got {n}")
    folds = min(_FOLDS, n)
    stratified = labels is not None and np.bincount(labels).min() >= folds
    splitter = (StratifiedKFold if stratified else KFold)(
        folds, shuffle=True, random_state=_state(model)
    )
    splits = [
        (train.astype(np.int64), test.astype(np.int64)) for train, test in splitter.split(X, labels)
    ]
    with single_threaded_blas():
        found = _core.search_networks(
            contiguous(X),
            targets,
            families=[[settings]],
            sizes=list(range(1, settings.size + 1)),
            splits=splits,
            classification=labels is not None,
            keep_scores=False,
            temperatures=False,
            max_memory=_MEMORY,
            threads=effective_threads(model.n_jobs),
            progress=None,
        )
    return np.asarray(found["quality"][0].mean(axis=0))


def _state(model: StagewiseNetwork) -> int:
    return seed_of(model.random_state) % 2**32
