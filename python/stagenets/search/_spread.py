"""A search over a cluster: one task for each split, where joblib has been told to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from stagenets import _core
from stagenets.fitting._fitted_network import FloatArray
from stagenets.search._measures import Judge, Scores
from stagenets.search._path_search import PathSearch


def run_anywhere(
    search: PathSearch,
    X: FloatArray,
    targets: _core.Targets,
    judge: Judge | None,
    **arguments: Any,
) -> NDArray[np.float64]:
    """`search.run`, split by split on the workers of joblib's backend if that is a cluster."""
    if not _has_cluster() or len(search.splits) < 2:
        return search.run(X, targets, judge, **arguments)
    call = delayed(_on_one_split)
    quality = Parallel(return_as="generator")(
        call(replace(search, splits=[split], progress=None), number, X, targets, judge, arguments)
        for number, split in enumerate(search.splits)
    )
    columns = []
    for column in quality:
        columns.append(column)
        if search.progress is not None:
            search.progress(len(columns), len(search.splits))
    return np.hstack(columns)


# On this machine, the core's threads do the same with less memory.
_OF_JOBLIB = ("LokyBackend", "MultiprocessingBackend", "SequentialBackend", "ThreadingBackend")


def _has_cluster() -> bool:
    """Whether a `joblib.parallel_config` with workers elsewhere is in force, such as Dask's."""
    backend, n_jobs = get_active_backend()
    return n_jobs != 1 and type(backend).__name__ not in _OF_JOBLIB


def _on_one_split(
    search: PathSearch,
    number: int,
    X: FloatArray,
    targets: _core.Targets,
    judge: Judge | None,
    arguments: Mapping[str, Any],
) -> NDArray[np.float64]:
    def judge_of_all(_: int, scores: Scores, temperature: float) -> float:
        assert judge is not None
        return judge(number, scores, temperature)

    return search.run(X, targets, None if judge is None else judge_of_all, **arguments)
