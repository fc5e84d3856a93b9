"""A fit on the rows of all partitions: ask each what its fit needs, add up, tell all.

The decisions are made by the core, in every partition from the same numbers. This loop only
combines, in the order of the partitions, what their paused fits ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagenets.dask import _partition
from stagenets.dask._partition import Choice, Facts, Place, Plan, Question
from stagenets.dask._tasks import Tasks
from stagenets.fitting._fitted_network import FittedNetwork, Matrix
from stagenets.fitting._importances import importances_from, rows_to_exchange
from stagenets.fitting._parameters import is_auto
from stagenets.fitting._progress import StageCallback
from stagenets.fitting._weights import check_total


def fit_on_partitions(
    tasks: Tasks,
    rows: Sequence[Any],
    places: Sequence[Place],
    plan: Plan,
    watcher: StageCallback | None,
) -> FittedNetwork:
    """The network that a fit on all these rows gives; the watcher sees every stage."""
    states = tasks.each("start", _partition.start, rows, places, [plan] * len(rows))
    while True:
        questions = tasks.fetch(tasks.each("question", _partition.question, states))
        _check_that_they_agree(questions)
        stop = _reported(questions[0], watcher)
        if questions[0].how == "END":
            break
        answer = np.array([float(stop)]) if questions[0].how == "STOP" else _combined(questions)
        states = tasks.each("answer", _partition.answer, states, [answer] * len(states))
    network: FittedNetwork = tasks.fetch(tasks.each("network", _partition.network, states[:1]))[0]
    return network


#: Bytes of all inputs up to which they are brought to one worker to choose a penalty.
_IN_ONE_PLACE = 2**25


def choice_on_partitions(
    tasks: Tasks, rows: Sequence[Any], facts: Facts, plan: Plan
) -> Choice | None:
    """The choice of a local fit, made by one worker, if that can hold all rows; None for the usual.

    Where rows are many, penalties are of less and less consequence.
    """
    inputs = facts.rows * facts.inputs * facts.dtype.itemsize
    if not is_auto(plan.model.alpha) or inputs > _IN_ONE_PLACE:
        return None
    choice: Choice | None = tasks.fetch(
        tasks.each("choose", _partition.choose, [list(rows)], [plan])
    )[0]
    return choice


def importances_on_partitions(
    tasks: Tasks, rows: Sequence[Any], lengths: Sequence[int], network: FittedNetwork
) -> Matrix:
    """The importances of the inputs, from a few rows that are brought here."""
    wanted = rows_to_exchange(network.core, sum(lengths))
    here = _divided(wanted, lengths)
    sample = np.concatenate(tasks.fetch(tasks.each("sample", _partition.some_rows, rows, here)))
    deviations = np.ones(network.core.readout.shape[1])
    if network.classes is None:
        moments = tasks.fetch(tasks.each("moments", _partition.moments, rows))
        counts = np.array([[count] for count, _, _ in moments])
        means, within = (np.array(parts) for parts in list(zip(*moments, strict=True))[1:])
        share = counts / counts.sum()
        apart = np.hypot(within, means - (share * means).sum(axis=0))
        unit = apart.max(axis=0) + (apart.max(axis=0) == 0)  # whose squares do not overflow
        deviations = unit * np.sqrt((share * (apart / unit) ** 2).sum(axis=0))
    positive = np.where(deviations > 0, deviations, 1.0)
    return importances_from(network.core, sample, positive, network.encoding, threads=1)


def _reported(question: Question, watcher: StageCallback | None) -> bool:
    """Whether the watcher wants to stop after the stages that this partition reports."""
    stop = False
    if watcher is None:
        return stop
    for report in question.reports:
        stop = not watcher(*report) or stop
    return stop


def _combined(questions: Sequence[Question]) -> Matrix:
    parts = [question.values for question in questions]
    return np.asarray(_COMBINE[questions[0].how](parts))


def _check_that_they_agree(questions: Sequence[Question]) -> None:
    """Partitions decide for themselves, from the same numbers; see that they decide alike."""
    first = questions[0]
    for other in questions[1:]:
        same = other.how == first.how
        if first.how == "END":
            same = same and np.array_equal(other.values, first.values)
        elif first.how != "GATHER":
            same = same and other.values.shape == first.values.shape
        if not same:
            raise RuntimeError(
                "the partitions have come to different networks: their workers do not round alike, "
                "as with processors of different kinds, or other versions of NumPy, SciPy or "
                "stagenets; use workers that are alike"
            )


_COMBINE: dict[str, Callable[[Sequence[Matrix]], Any]] = {
    # One after another, so that a sum has the same bits however fast its parts come.
    "SUM": lambda parts: reduce(np.add, parts),
    "LEAST": lambda parts: reduce(np.minimum, parts),
    "GREATEST": lambda parts: reduce(np.maximum, parts),
    "GATHER": np.concatenate,
}


def common_facts(parts: Sequence[Facts]) -> Facts:
    """What holds for all rows; ValueError if the partitions do not belong together."""
    first = parts[0]
    for part in parts:
        if part.inputs != first.inputs:
            raise ValueError(
                f"all partitions of X must have the same columns; got some with {first.inputs} and "
                f"some with {part.inputs}"
            )
        if part.outputs != first.outputs:
            raise ValueError("all partitions of y must have the same columns")
    rows = sum(part.rows for part in parts)
    weight = sum(part.weight for part in parts)
    if rows == 0 and any(part.given for part in parts):
        check_total(weight)
    if rows == 0:
        raise ValueError(f"X must have at least one row; got {len(parts)} empty partitions")
    classes = None
    if first.classes is not None:
        found = [part.classes for part in parts if part.rows and part.classes is not None]
        classes = np.unique(np.concatenate(found))
        if len(classes) < 2:
            only = classes.tolist()[0]
            raise ValueError(f"y must have at least two classes; got one class, {only!r}")
    dtype = np.result_type(*(part.dtype for part in parts if part.rows))
    weighted = any(part.weighted for part in parts)
    given = sum(part.given for part in parts)
    return Facts(
        rows, first.inputs, dtype, first.names, first.outputs, classes, weight, weighted, given
    )


def places_of(lengths: Sequence[int], set_aside: NDArray[np.intp]) -> list[Place]:
    """The places of partitions of these lengths; rows set aside are numbered through all."""
    return [Place(process, rows) for process, rows in enumerate(_divided(set_aside, lengths))]


def _divided(rows: NDArray[np.intp], lengths: Sequence[int]) -> list[NDArray[np.intp]]:
    """Rows numbered through all partitions, as numbers within each; they are in rising order."""
    ends = np.cumsum(lengths)
    parts = np.split(rows, np.searchsorted(rows, ends[:-1]))
    return [part - (end - length) for part, end, length in zip(parts, ends, lengths, strict=True)]
