"""Runs every model on every data set, in this process or in several others."""

from __future__ import annotations

import csv
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import connection
from pathlib import Path
from typing import Any

from joblib import cpu_count

import stagenets
from stagenets.study._models import Tuned
from stagenets.study._progress import Progress
from stagenets.study._protocols import Protocol, settings_of
from stagenets.study._records import Records, Row, row_of


@dataclass(frozen=True)
class Task:
    """One model on one data set."""

    dataset: str
    model: str


@dataclass(frozen=True)
class Failure:
    """A task that failed, and the error."""

    task: Task
    message: str
    details: str


def _work(protocol: Any, task: Task, folder: Path | None, threads: int) -> Row | Failure:
    try:
        data = protocol.load(folder, task.dataset)
        outcome = protocol.evaluate(protocol.find(task.model), data, threads)
        return row_of(data, task.model, outcome)
    except Exception as error:
        return Failure(task, f"{type(error).__name__}: {error}", traceback.format_exc())


def _prepare_worker() -> None:
    """Leave Ctrl-C to the parent, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _run_apart(
    protocol: Protocol, tasks: Sequence[Task], folder: Path | None, jobs: int, threads: int
) -> Iterator[Row | Failure]:
    """Results as worker processes finish them; a worker that dies loses only its own task."""
    waiting = list(reversed(tasks))
    context = multiprocessing.get_context("spawn")
    while waiting:
        running: dict[Future[Row | Failure], Task] = {}
        pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_prepare_worker)
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    running[pool.submit(_work, protocol, waiting[-1], folder, threads)] = waiting[
                        -1
                    ]
                    waiting.pop()
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    result = future.result()
                    del running[future]
                    yield result
        except BrokenProcessPool:
            if not running:
                raise
            for task in running.values():
                yield Failure(task, "a worker process died, perhaps because memory ran out", "")
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _results(
    protocol: Protocol, tasks: Sequence[Task], folder: Path | None, jobs: int
) -> Iterator[Row | Failure]:
    threads = max(1, cpu_count() // jobs)
    if jobs == 1:
        for task in tasks:
            yield _work(protocol, task, folder, threads)
    else:
        yield from _run_apart(protocol, tasks, folder, jobs, threads)


def _cost(protocol: Protocol, task: Task, shapes: dict[str, tuple[int, int, int]]) -> float:
    """Roughly proportional to the time a task takes."""
    n, p, q = shapes[task.dataset]
    model = protocol.find(task.model)
    guided = isinstance(model, Tuned) and model.guided
    return n * (p + q + 200) * (10 if guided else 1)


def _write_failures(path: Path, failures: Sequence[Failure]) -> None:
    if not failures:
        path.unlink(missing_ok=True)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["dataset", "model", "message", "details"])
        for failure in failures:
            writer.writerow(
                [failure.task.dataset, failure.task.model, failure.message, failure.details]
            )


@dataclass(frozen=True)
class Run:
    """What a run produced."""

    added: int
    failures: list[Failure]
    seconds: float


def run_study(
    protocol: Protocol,
    folder: Path | None,
    sets: Sequence[str],
    models: Sequence[str],
    out: Path,
    *,
    jobs: int = 1,
    quiet: bool = False,
    command: str = "",
) -> Run:
    """Run the tasks that `out` lacks; rows are written as they finish, failures at the end."""
    started = time.monotonic()
    records = Records(out)
    done = {row.key for row in records.open(settings_of(protocol) | _version())}
    tasks = [Task(name, model) for name in sets for model in models]
    left = [task for task in tasks if (task.dataset, task.model) not in done]
    if jobs > 1:
        # Longest first, so that no worker is left with a long task at the end.
        sets_left = {task.dataset for task in left}
        shapes = {name: _shape(protocol, folder, name) for name in sets_left}
        left.sort(key=lambda task: _cost(protocol, task, shapes), reverse=True)
    failures: list[Failure] = []
    added = 0
    try:
        with Progress(len(tasks), len(tasks) - len(left), quiet) as progress:
            for result in _results(protocol, left, folder, jobs):
                if isinstance(result, Failure):
                    failures.append(result)
                    progress.advance(f"{result.task.dataset} {result.task.model} FAILED")
                else:
                    records.append(result)
                    added += 1
                    progress.advance(f"{result.dataset} {result.model} {result.accuracy:.2f} %")
    finally:
        _write_failures(out / "failures.csv", failures)
        seconds = time.monotonic() - started
        if added:
            records.log_run(command, added, seconds)
    return Run(added, failures, seconds)


def _version() -> dict[str, str]:
    return {"stagenets": stagenets.__version__}


def _shape(protocol: Any, folder: Path | None, name: str) -> tuple[int, int, int]:
    try:
        data = protocol.load(folder, name)
    except Exception:
        return 0, 0, 0  # the task itself will report the error
    return data.X.shape[0], data.X.shape[1], data.n_outputs
