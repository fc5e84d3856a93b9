"""Watching a fit: the progress it shows while it runs, and callbacks that may stop it."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from numbers import Integral
from typing import Any, Protocol

import numpy as np

from stagenets.fitting._scikit_callbacks import StageTasks

#: Called by the core after every stage; returns whether to continue.
StageCallback = Callable[..., bool]

_SECONDS_BETWEEN_REDRAWS = 0.1
_SECONDS_BETWEEN_LOG_LINES = 10.0


@dataclass(frozen=True)
class StageInfo:
    """The state of a fit after a stage, as passed to its ``callback``.

    Attributes
    ----------
    stage : int
        The stage just finished; the first is 0, as in ``selected_``.
    n_units : int
        Number of hidden units built so far.
    max_units : int
        Number of hidden units that the fit is to build.
    objective : float
        Ridge objective with these units.
    residual_energy : float
        Squared residual with these units.
    validation_score : float or None
        Score on the validation samples, if the fit has any.
    seconds : float
        Seconds since the fit began.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from stagenets import RVFLClassifier, StageInfo
    >>> def low_enough(info: StageInfo) -> bool:
    ...     return info.objective < 15
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RVFLClassifier(n_hidden=100, random_state=0, callback=low_enough).fit(X, y)
    >>> bool(model.n_hidden_ < 100 and model.objective_path_[-2] >= 15)
    True
    """

    stage: int
    n_units: int
    max_units: int
    objective: float
    residual_energy: float
    validation_score: float | None
    seconds: float


CountCallback = Callable[[int, int], None]


@dataclass(frozen=True)
class Watcher:
    """What the core is to call during a fit; None where nobody watches."""

    stage: StageCallback | None = None
    folds: CountCallback | None = None  # with (done, total) while sizes are cross-validated


@contextmanager
def watched_fit(model: Any, max_units: int) -> Iterator[Watcher]:
    """What the core is to call during this model's fit of so many units."""
    callback = model.callback
    if callback is not None and not callable(callback):
        raise ValueError(
            f"callback must be None or a callable (StageInfo) -> bool; got {callback!r}"
        )
    tasks = StageTasks.of(model, max_units)
    display = _display(type(model).__name__, model.verbose)
    if callback is None and tasks is None and display is None:
        yield Watcher()
        return
    if display is not None and model.selection == "random":  # there is no stage to tell about
        print(f"[{type(model).__name__}] {max_units} units at once", file=sys.stderr, flush=True)
    started = time.perf_counter()
    last: tuple[Any, ...] | None = None

    def report(
        stage: int,
        n_units: int,
        max_units: int,
        objective: float,
        residual_energy: float,
        validation_score: float,
    ) -> bool:
        nonlocal last
        seconds = time.perf_counter() - started
        score = None if math.isnan(validation_score) else validation_score
        last = (stage, n_units, max_units, objective, residual_energy, score, seconds)
        display_is_due = display is not None and seconds >= display.due
        if callback is None and tasks is None and not display_is_due:
            return True  # the common case; saves the cost of making a StageInfo
        info = StageInfo(*last)
        if display is not None and display_is_due:
            display.show(info)
        stop = callback is not None and _is_true(callback(info))
        # Call both: if one stops the fit, the other must still be notified of the stage.
        return not ((tasks is not None and tasks.end_stage(max_units)) or stop)

    with ExitStack() as cross_validation:
        folds = None if display is None else _folds(model, cross_validation)

        def report_folds(done: int, total: int) -> None:
            if folds is not None and display is not None:
                folds(done, total)
                if done == total:
                    cross_validation.close()
                    display.started = time.perf_counter() - started

        try:
            yield Watcher(report, None if folds is None else report_folds)
        finally:
            if display is not None and last is not None:
                display.close(StageInfo(*last))


def _folds(model: Any, until: ExitStack) -> CountCallback:
    """Shows how many folds of a cross-validation are done, from the first call on."""
    show: CountCallback | None = None

    def show_folds(done: int, total: int) -> None:
        nonlocal show
        if show is None:
            name = f"{type(model).__name__}, cross-validation"
            shown = count_progress(name, model.verbose, unit="fold")
            show = until.enter_context(shown)
        if show is not None:
            show(done, total)

    return show_folds


def _is_true(answer: object) -> bool:
    # Only True counts: a callback that returns, say, its list of losses does not mean to stop.
    return isinstance(answer, (bool, np.bool_)) and bool(answer)


class _Display(Protocol):
    due: float  # seconds into the fit after which it wants to show the next stage
    started: float  # seconds into the fit when its first stage began

    def show(self, info: StageInfo) -> None:
        """A stage has ended."""

    def close(self, last: StageInfo) -> None:
        """The fit has ended, or failed, after this stage."""


def _display(name: str, verbose: Any) -> _Display | None:
    if not isinstance(verbose, (Integral, np.bool_)) or verbose < 0:
        raise ValueError(f"verbose must be an integer of at least 0; got {verbose!r}")
    if verbose == 0:
        return None
    if verbose == 1 and _can_redraw():
        return _LiveLine(name)
    return _LogLines(name, _SECONDS_BETWEEN_LOG_LINES if verbose == 1 else 0.0)


def _can_redraw() -> bool:
    """Whether standard error is a terminal or a notebook cell."""
    python_shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(python_shell, "kernel") or (sys.stderr is not None and sys.stderr.isatty())


def _figures(info: StageInfo) -> str:
    text = f"stage {info.stage + 1}, objective {info.objective:.6g}"
    return text if info.validation_score is None else f"{text}, score {info.validation_score:.4g}"


class _LogLines:
    """Whole lines, at least `every` seconds apart; the last stage always has one."""

    def __init__(self, name: str, every: float) -> None:
        self._name, self._every = name, every
        self._shown = -1
        self.due, self.started = every, 0.0

    def show(self, info: StageInfo) -> None:
        self._shown, self.due = info.stage, info.seconds + self._every
        time_left = _time_left(info.seconds - self.started, info.n_units / info.max_units)
        print(
            f"[{self._name}] {info.n_units}/{info.max_units} units, {_figures(info)}, "
            f"{info.seconds:.1f} s{time_left}",
            file=sys.stderr,
            flush=True,
        )

    def close(self, last: StageInfo) -> None:
        if last.stage != self._shown:
            self.show(last)


class _LiveLine:
    """One line redrawn in place by tqdm, which supports terminals and notebooks.

    tqdm is a lightweight dependency: pure Python that requires nothing else (except colorama on
    Windows). It is imported when first needed.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._bar: Any = None
        self.due, self.started = _SECONDS_BETWEEN_REDRAWS, 0.0

    def show(self, info: StageInfo) -> None:
        self.due = info.seconds + _SECONDS_BETWEEN_REDRAWS
        if self._bar is None:
            self._bar = _tqdm()(
                total=info.max_units,
                desc=self._name,
                bar_format="{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} units "
                "[{elapsed}<{remaining}{postfix}]",
                dynamic_ncols=True,
            )
            self._bar.start_t -= info.seconds - self.started
        self._bar.set_postfix_str(_figures(info), refresh=False)
        self._bar.n = info.n_units
        self._bar.refresh()

    def close(self, last: StageInfo) -> None:
        if self._bar is None:  # the fit ended before the first redraw
            _LogLines(self._name, 0.0).show(last)
        else:
            self.show(last)
            self._bar.close()


def search_progress(name: str, verbose: Any) -> AbstractContextManager[CountCallback | None]:
    """What the core is to call with (fits done, all fits) during a search; None if nothing."""
    return count_progress(name, verbose, unit="fit")


@contextmanager
def count_progress(name: str, verbose: Any, *, unit: str) -> Iterator[CountCallback | None]:
    """What to call with (done, total) while work goes on; None if nothing is to be shown."""
    if _display(name, verbose) is None:
        yield None
        return
    live = _live_count(name, unit) if _can_redraw() else nullcontext(_logged_count(name, unit))
    with live as show:
        yield show


@contextmanager
def _live_count(name: str, unit: str) -> Iterator[CountCallback]:
    with _tqdm()(desc=name, unit=unit, dynamic_ncols=True) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show


def _logged_count(name: str, unit: str) -> CountCallback:
    started = time.perf_counter()
    due = _SECONDS_BETWEEN_LOG_LINES

    def show(done: int, total: int) -> None:
        nonlocal due
        seconds = time.perf_counter() - started
        if seconds >= due or (done == total and math.isfinite(due)):
            due = math.inf if done == total else seconds + _SECONDS_BETWEEN_LOG_LINES
            left = _time_left(seconds, done / total)
            print(
                f"[{name}] {done}/{total} {unit}s, {seconds:.1f} s{left}",
                file=sys.stderr,
                flush=True,
            )

    return show


def _time_left(seconds: float, share: float) -> str:
    """ ", about 3.2 s left" when this share of the work is done; nothing at its end."""
    left = seconds * (1 / share - 1) if share > 0 else 0.0
    return f", about {left:.1f} s left" if left > 0 else ""


def _tqdm() -> Any:
    """tqdm for where this runs; notebooks without ipywidgets get the bar made of text."""
    if find_spec("ipywidgets") is None:
        from tqdm import tqdm
    else:
        from tqdm.auto import tqdm
    return tqdm
