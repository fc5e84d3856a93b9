"""Scores on rows that a network was not fitted on, by one pass of cross-validation."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, StratifiedKFold

from stagenets import _core
from stagenets.cli._metrics import Answers, Metric, Scores, scores_of
from stagenets.estimators._network import StagewiseNetwork
from stagenets.fitting._labels import CodedLabels
from stagenets.fitting._parameters import seed_of
from stagenets.fitting._progress import count_progress
from stagenets.fitting._rows import checked_rows
from stagenets.fitting._weights import Weights
from stagenets.search._path_search import PathSearch
from stagenets.search._scoring import judge_by
from stagenets.search._splits import Split, as_splits

_MEMORY = 2e9  # bytes, the default of a search


@dataclass(frozen=True)
class HeldOut:
    """Scores on each of the folds."""

    folds: list[Scores]

    def mean(self, name: str) -> float:
        """Mean over the folds where the measure is defined; NaN if it is nowhere."""
        known = self._known(name)
        return float(np.mean(known)) if known else np.nan

    def spread(self, name: str) -> float:
        """Standard deviation over the folds."""
        known = self._known(name)
        return float(np.std(known)) if known else np.nan

    def _known(self, name: str) -> list[float]:
        # In order, as threads finish in any.
        return sorted(fold[name] for fold in self.folds if np.isfinite(fold[name]))


def held_out_scores(
    network: StagewiseNetwork,
    X: Any,
    y: NDArray[Any],
    metrics: dict[str, Metric],
    weights: Weights | None = None,
    *,
    folds: int,
    verbose: int = 0,
) -> HeldOut | None:
    """Cross-validate networks of a fitted one's size and penalty; None if rows are too few."""
    seed = seed_of(network.random_state)
    splits = _splits(y, min(folds, len(y) // 2), stratified=is_classifier(network), seed=seed)
    if splits is None:
        return None
    if is_classifier(network):
        coded = CodedLabels.of(y)
        classes, targets = coded.classes, coded.targets
    else:
        classes, targets = None, _core.Targets.numbers(y.reshape(len(y), -1))
    found: list[Scores] = []

    def scorer(
        model: Any, rows: Any, true: NDArray[Any], sample_weight: Weights | None = None
    ) -> float:
        found.append(scores_of(Answers.of(model, rows, true, sample_weight), metrics))
        return 0.0  # there is nothing to choose

    with count_progress("held-out scores", verbose, unit="fit") as progress:
        # Early stopping may have kept no unit, which a search does not try.
        size = max(1, len(network.hidden_ends_))
        like_it = {network._size_name: [size], "alpha": [network.alpha_]}
        search = PathSearch(network, like_it, splits, _MEMORY, progress)
        rows, _ = checked_rows(network, X, reset=False)
        judge = judge_by(scorer, rows.values, y, splits, classes, weights)
        search.run(
            rows,
            targets,
            judge,
            weights=weights,
            classes=classes,
            links=classes is not None,
        )
    return HeldOut(found)


def _splits(y: NDArray[Any], folds: int, *, stratified: bool, seed: int) -> list[Split] | None:
    """Shuffled folds, the same that a search makes; None for fewer than two."""
    if folds < 2:
        return None
    splitter = KFold
    if stratified:
        counts = np.unique(y, return_counts=True)[1]
        splitter = StratifiedKFold if counts.max() >= folds else KFold
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")  # it is in few folds
        rows = np.zeros((len(y), 1))
        split = splitter(folds, shuffle=True, random_state=seed % 2**32).split(rows, y)
        return as_splits(split, len(y))
