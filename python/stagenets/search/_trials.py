"""The trials of a search: all candidates on all splits, here or on the workers of a cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from stagenets import _core
from stagenets.fitting._labels import CodedLabels
from stagenets.fitting._rows import Rows
from stagenets.fitting._weights import Weights
from stagenets.search._measures import Judge, direct_judge
from stagenets.search._path_search import PathSearch
from stagenets.search._scoring import (
    is_the_cores_own,
    judge_by,
    needs_probabilities,
    takes_weights,
)
from stagenets.search._splits import Split


@dataclass(frozen=True)
class Trials:
    """What is tried, and how it is judged: plain values, which other processes can be sent."""

    search: PathSearch
    classes: NDArray[Any] | None  # in a classification
    scoring: Any
    scorer: Any
    weighs: bool  # whether the scorer is to get weights, if it takes them

    def run(self, rows: Rows, y: NDArray[Any], weights: Weights | None) -> NDArray[np.float64]:
        """Quality of every candidate on every split, shape (candidates, splits)."""
        if _has_cluster() and len(self.search.splits) > 1:
            return self._run_elsewhere(rows, y, weights)
        return self._run_here(rows, y, weights)

    def _run_here(
        self, rows: Rows, y: NDArray[Any], weights: Weights | None
    ) -> NDArray[np.float64]:
        classification = self.classes is not None
        targets = (
            CodedLabels.of(y, self.classes).targets
            if classification
            else _core.Targets.numbers(y.reshape(len(y), -1))
        )
        judge = self._judge(rows, y, weights)
        links = classification and judge is not None and needs_probabilities(self.scorer)
        return self.search.run(
            rows, targets, judge, weights=weights, classes=self.classes, links=links
        )

    def _judge(self, rows: Rows, y: NDArray[Any], weights: Weights | None) -> Judge | None:
        if is_the_cores_own(self.scoring, classification=self.classes is not None):
            return None
        splits = self.search.splits
        by_weight = weights if self.weighs and takes_weights(self.scorer) else None
        judge = judge_by(self.scorer, rows.values, y, splits, self.classes, by_weight)
        if by_weight is None:
            judge = direct_judge(self.scoring, y, splits, self.classes, otherwise=judge)
        return judge

    def _run_elsewhere(
        self, rows: Rows, y: NDArray[Any], weights: Weights | None
    ) -> NDArray[np.float64]:
        splits, progress = self.search.splits, self.search.progress
        bare = replace(self, search=replace(self.search, splits=[], progress=None))
        # Arrays are arguments of their own, so that each worker is sent them once.
        columns = Parallel(return_as="generator")(
            delayed(_on_split)(bare, split, rows.values, rows.labels, rows.complete, y, weights)
            for split in splits
        )
        quality = []
        for column in columns:
            quality.append(column)
            if progress is not None:
                progress(len(quality), len(splits))
        return np.hstack(quality)


def _on_split(
    trials: Trials, split: Split, values: Any, labels: Any, complete: bool, y: Any, weights: Any
) -> NDArray[np.float64]:
    model = trials.search.model
    if model.n_jobs is None:  # tasks are what is worked on side by side
        model = type(model)(**{**model.get_params(deep=False), "n_jobs": 1})
    search = replace(trials.search, model=model, splits=[split])
    return replace(trials, search=search)._run_here(Rows(values, labels, complete), y, weights)


def _has_cluster() -> bool:
    """Whether joblib has been told to use workers elsewhere, such as Dask's.

    On this machine, the threads of the core do the same in less time and memory.
    """
    backend, _ = get_active_backend()
    return not type(backend).__module__.startswith("joblib._parallel_backends")
