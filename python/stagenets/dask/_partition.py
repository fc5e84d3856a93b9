"""What happens on a worker: one partition's rows, and the fit of these rows among all.

A fit is the core's own, paused wherever it needs sums over the rows of all partitions. Its state
is a value: the rows, the plan and the answers it has had say all. The running fit that a state
carries along only saves making it again, so a task that is run twice, a state that was spilled or
sent elsewhere and one that was lost with its worker all lead to the same numbers.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names, column_or_1d

from stagenets import _core
from stagenets.dask._blocks import check_same_rows
from stagenets.estimators._network import StagewiseNetwork
from stagenets.fitting._choice import choice_of
from stagenets.fitting._fitted_network import FittedNetwork, FloatArray, Matrix
from stagenets.fitting._labels import CodedLabels, dense_labels
from stagenets.fitting._parameters import contiguous
from stagenets.fitting._rows import FLOAT_TYPES
from stagenets.fitting._stopping import stopping_of
from stagenets.fitting._threads import effective_threads, single_threaded_blas
from stagenets.fitting._weights import Weights, weights_of_rows, with_weight


@dataclass(frozen=True)
class Facts:
    """What is to be known of the rows of a partition elsewhere."""

    rows: int
    inputs: int
    dtype: np.dtype[Any]
    names: NDArray[Any] | None
    outputs: tuple[int, ...]  # of a row of targets: () or (number,)
    classes: NDArray[Any] | None  # in a classification
    weight: float  # of all rows
    weighted: bool  # whether any weight is not one
    given: int  # rows before those without weight were left out


@dataclass(frozen=True)
class Rows:
    """The checked rows of a partition that have a weight."""

    X: FloatArray
    y: NDArray[Any]  # labels, or numbers
    weights: Weights | None
    facts: Facts

    def __sizeof__(self) -> int:
        weights = 0 if self.weights is None else self.weights.nbytes
        return int(self.X.nbytes + self.y.nbytes + weights)


def load(X: Any, y: Any, sample_weight: Any, classifier: bool) -> Rows:
    """The rows of a partition, checked as an estimator checks what it is given."""
    names = _get_feature_names(X)
    rows = check_array(X, dtype=FLOAT_TYPES, ensure_min_samples=0, input_name="X")
    given = len(rows)
    check_same_rows(rows, y=y, sample_weight=sample_weight)
    targets = _labels(y) if classifier else _numbers(y)
    weights = None
    if sample_weight is not None:
        weights = weights_of_rows(np.asarray(sample_weight).reshape(-1), len(rows))
        weights, rows, targets = with_weight(weights, rows, targets)
    count, inputs = rows.shape
    known = Facts(
        count,
        inputs,
        rows.dtype,
        names,
        targets.shape[1:],
        _classes(targets) if classifier else None,
        float(len(rows) if weights is None else weights.sum()),
        weights is not None and bool((weights != 1).any() or len(weights) < given),
        given,
    )
    return Rows(contiguous(rows), targets, weights, known)


def _labels(y: Any) -> NDArray[Any]:
    labels = np.asarray(y)
    if labels.ndim == 1 or labels.shape[1] == 1:
        labels = column_or_1d(labels)
    if len(labels):
        check_array(labels, ensure_2d=False, dtype=None, input_name="y")
        labels = dense_labels(labels)
    return labels


def _classes(labels: NDArray[Any]) -> NDArray[Any]:
    return np.unique(labels) if labels.ndim == 1 else np.arange(labels.shape[1])


def _numbers(y: Any) -> Matrix:
    targets: Matrix = check_array(
        y, dtype=np.float64, ensure_2d=False, ensure_min_samples=0, input_name="y"
    )
    return targets


@dataclass(frozen=True)
class Plan:
    """What all partitions of a fit are told."""

    model: StagewiseNetwork  # its parameters, with a seed that is a number
    shape: tuple[int, int]  # of all rows, counted by weight
    dtype: np.dtype[Any]
    classes: NDArray[Any] | None
    several_labels: bool
    weighted: bool  # whether rows have weights, or some are set aside
    steered: bool
    store: str

    def paused(self, rows: Rows, place: Place) -> _core.PausedFit:
        """The fit of one partition, before it starts."""
        targets = (
            _core.Targets.numbers(rows.y.reshape(len(rows.y), -1))
            if self.classes is None
            else CodedLabels.of(rows.y, self.classes).targets
        )
        weights = rows.weights
        if self.weighted and weights is None:
            weights = np.ones(len(rows.X))
        return _core.PausedFit(
            contiguous(rows.X.astype(self.dtype, copy=False)),
            targets,
            self.settings(self.stopping(place)),
            weights=weights if self.weighted else None,
            process=place.process,
            steered=self.steered,
            store=self.store,
            threads=self.threads,
        )

    def settings(self, stopping: _core.Stopping) -> _core.NetworkSettings:
        """What the core is asked to fit."""
        return self.model._settings(
            self.shape, stopping, self.classes, several_labels=self.several_labels
        )

    @property
    def threads(self) -> int:
        """Those of one partition; partitions are what is worked on side by side."""
        return 1 if self.model.n_jobs is None else effective_threads(self.model.n_jobs)

    def choice(self, parts: Sequence[Rows]) -> Choice | None:
        """Penalty and size by cross-validation of the rows of all partitions, as in a local fit."""
        X = contiguous(np.concatenate([part.X for part in parts]).astype(self.dtype, copy=False))
        y = np.concatenate([part.y for part in parts])
        weights = None
        if any(part.weights is not None for part in parts):
            weights = np.concatenate(
                [np.ones(len(part.X)) if part.weights is None else part.weights for part in parts]
            )
        labels = None
        if self.classes is None:
            targets = _core.Targets.numbers(y.reshape(len(y), -1))
        else:
            coded = CodedLabels.of(y, self.classes)
            targets, labels = coded.targets, coded.numbers
        settings = self.settings(_core.Stopping())
        choice = choice_of(self.model, X, targets, labels, None, self.shape[0], settings.seed)
        if choice is None or settings.max_units == 0:
            return None
        with single_threaded_blas():
            found = _core.cross_validate(
                X, targets, settings, choice, weights=weights, threads=self.threads
            )
        return Choice(found.alpha, found.size, np.array(found.sizes), np.array(found.means))

    def stopping(self, place: Place) -> _core.Stopping:
        """The rule for stopping, with the rows of this partition that are set aside."""
        if self.model.early_stopping != "validation":
            return stopping_of(self.model, self.shape[0], None)
        return _core.Stopping(
            by="validation",
            patience=self.model.n_iter_no_change,
            validation_rows=place.validation_rows,
        )


@dataclass(frozen=True)
class Choice:
    """What cross-validation has chosen, and the quality of the sizes that it tried."""

    alpha: float
    size: int
    sizes: NDArray[np.int64]
    means: Matrix


@dataclass(frozen=True)
class Place:
    """Where the rows of a partition are among all, and which of them are set aside."""

    process: int
    validation_rows: NDArray[np.intp]


@dataclass(frozen=True)
class Question:
    """What a partition's fit needs from all: these values, combined.

    `how` is one of the core's ways to combine them, or "END" when it needs nothing more; then the
    values tell the units that it has chosen.
    """

    how: str
    values: Matrix
    reports: list[tuple[Any, ...]]  # of the stages that have ended since the last question


class _Running:
    """A fit in progress that has had some answers; serves one state after another."""

    def __init__(self, core: _core.PausedFit) -> None:
        self.core = core
        self._answers = 0
        self._lock = threading.Lock()

    def has_gone_on_from(self, answers: int) -> bool:
        """Whether the fit has had this many answers; if so, it is about to have one more."""
        with self._lock:
            if self._answers != answers:
                return False
            self._answers += 1
            return True


@dataclass(frozen=True)
class _Answers:
    """The answers to a fit so far, last to first."""

    before: _Answers | None
    last: Matrix
    count: int

    def in_order(self) -> list[Matrix]:
        answers, node = [], self
        while node is not None:
            answers.append(node.last)
            node = node.before  # type: ignore[assignment]
        return answers[::-1]


class FitState:
    """The fit of a partition at a question, or at its end."""

    def __init__(self, rows: Rows, plan: Plan, place: Place) -> None:
        self._rows, self._plan, self._place = rows, plan, place
        self._answers: _Answers | None = None
        self._running: _Running | None = None
        self._bytes = 0
        self._note(self._started())

    @property
    def question(self) -> Question:
        """What the fit asks."""
        return self._question

    @property
    def network(self) -> FittedNetwork:
        """The network, at the end of the fit; all partitions have the same."""
        return self._network

    def answered(self, answer: Matrix) -> FitState:
        """The state after an answer; this one stays what it is."""
        count = 0 if self._answers is None else self._answers.count
        running = self._running
        if running is None or not running.has_gone_on_from(count):
            running = self._replayed()
            running.has_gone_on_from(count)
        with single_threaded_blas():
            running.core.answer(answer)
        after = FitState.__new__(FitState)
        after._rows, after._plan, after._place = self._rows, self._plan, self._place
        after._answers = _Answers(self._answers, answer, count + 1)
        after._note(running)
        return after

    def _started(self) -> _Running:
        core = self._plan.paused(self._rows, self._place)
        with single_threaded_blas():
            core.start()
        return _Running(core)

    def _replayed(self) -> _Running:
        running = self._started()
        with single_threaded_blas():
            for count, answer in enumerate(self._answers.in_order() if self._answers else []):
                running.has_gone_on_from(count)
                running.core.answer(answer)
        return running

    def _note(self, running: _Running) -> None:
        self._running, core = running, running.core
        self._bytes = int(core.bytes)
        reports = core.reports
        if core.question is not None:
            how, values = core.question
            self._question = Question(how.name, values, reports)
        else:
            self._network = self._plan.model._network_of(
                core.result, several_labels=self._plan.several_labels
            )
            chosen = self._network.history.selected.astype(np.float64)
            self._question = Question("END", chosen, reports)
            self._running = None

    def __getstate__(self) -> dict[str, Any]:
        answers = self._answers.in_order() if self._answers else []
        return {**vars(self), "_running": None, "_answers": answers}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _answers=None)
        for count, answer in enumerate(state["_answers"]):
            self._answers = _Answers(self._answers, answer, count + 1)

    def __sizeof__(self) -> int:
        # Large, so that tasks come to it. While one state follows another, Dask counts both.
        return (self._bytes + self._rows.__sizeof__()) // 2


def choose(parts: Sequence[Rows], plan: Plan) -> Choice | None:
    """Penalty and size by cross-validation of the rows of all partitions; None for the usual."""
    return plan.choice(parts)


def start(rows: Rows, place: Place, plan: Plan) -> FitState:
    """Start the fit of a partition."""
    return FitState(rows, plan, place)


def answer(state: FitState, values: Matrix) -> FitState:
    """Go on with a fit until its next question."""
    return state.answered(values)


def question(state: FitState) -> Question:
    """What a fit asks."""
    return state.question


def network(state: FitState) -> FittedNetwork:
    """The network of a fit that has ended."""
    return state.network


def facts(rows: Rows) -> Facts:
    """What is to be known of some rows elsewhere."""
    return rows.facts


def classes_of(rows: Rows, classes: NDArray[Any]) -> NDArray[Any]:
    """The number of each row's class, in as few bytes as will do."""
    return np.searchsorted(classes, rows.y).astype(np.min_scalar_type(len(classes)))


def some_rows(rows: Rows, wanted: NDArray[np.intp]) -> FloatArray:
    """These rows of the inputs."""
    return rows.X[wanted]


def moments(rows: Rows) -> tuple[int, Matrix, Matrix]:
    """Number, means and standard deviations of targets that are numbers."""
    targets = rows.y.reshape(len(rows.y), -1)
    mean = targets.mean(axis=0)
    apart = targets - mean
    unit = np.abs(apart).max(axis=0) + (apart == 0).all(axis=0)  # whose squares do not overflow
    return len(targets), mean, unit * np.sqrt(((apart / unit) ** 2).mean(axis=0))
