"""Fits on a cluster of processes whose workers are killed, or stopped for a while.

    python bench/dask_faults.py

Every fit is disturbed once, at a random moment, and must end with exactly the model of an
undisturbed one, or with an error within a minute. Workers are killed at any moment, killed while
they have states on disk, or stopped for half a minute. An undisturbed fit goes before and after
each of them, since other work on the machine slows all of them alike. Every fit is added to
dask_faults.csv at once, so that a script that was stopped goes on where it was; `--again` starts
anew. Writes dask_faults.md and dask_faults.csv to docs/benchmarks/; ends with 1 if a fit hangs or
gives another model.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import random
import signal
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from report_tables import Row, add_output_option, markdown, write_csv
from stagenets.dask import RVFLClassifier

ERROR_WITHIN = 60.0  # seconds after the disturbance
PAUSE = 30.0
SAME = "the same bits"
Parts = tuple[Any, Any, dict[str, Any]]


@dataclass(frozen=True)
class Kind:
    """A way to disturb fits, and the fits that are disturbed by it.

    `act` takes the client and an event that tells when the fit has ended; it returns the process it
    has disturbed, or None if it came too late.
    """

    name: str
    act: Callable[[Client, threading.Event], int | None]
    loss: str = "squared"
    rows: int = 20_000
    target: float = 0.6  # share of the memory of a worker above which it spills
    lasts: float = 0.0  # seconds
    units: int = 8


def some_worker(client: Client) -> int:
    return random.choice(list(client.run(os.getpid).values()))


def kill(client: Client, ended: threading.Event) -> int | None:
    victim = some_worker(client)
    if ended.is_set():
        return None
    os.kill(victim, signal.SIGKILL)
    return victim


def pause(client: Client, ended: threading.Event) -> int | None:
    victim = some_worker(client)
    if ended.is_set():
        return None
    os.kill(victim, signal.SIGSTOP)
    time.sleep(PAUSE)
    os.kill(victim, signal.SIGCONT)
    return victim


def on_disk(dask_worker: Any) -> tuple[int, int]:
    """The worker's process, and how many results it has spilled."""
    return os.getpid(), len(getattr(dask_worker.data, "slow", ()))


def kill_while_spilling(client: Client, ended: threading.Event) -> int | None:
    while not ended.is_set():
        spilled = [process for process, count in client.run(on_disk).values() if count]
        if spilled and not ended.is_set():
            victim = random.choice(spilled)
            os.kill(victim, signal.SIGKILL)
            return victim
        time.sleep(0.02)
    return None


KINDS = [
    Kind("killed", kill),
    Kind("killed", kill, loss="log"),
    # States of some 3 MB each are spilled when a worker has more than 8 MB of them and rows.
    Kind("killed while spilling", kill_while_spilling, rows=80_000, target=0.002, units=2),
    Kind(f"stopped for {PAUSE:.0f} s", pause, lasts=PAUSE),
]


def waited() -> float:
    """Seconds that threads of this process were ready to run and had no core to do so."""
    seconds = 0.0
    for thread in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # it has ended meanwhile
            seconds += int((thread / "schedstat").read_text().split()[1]) / 1e9
    return seconds


def waits(client: Client) -> dict[str, float]:
    """The same for this process, with the scheduler, and for every worker."""
    return {"here": waited(), **client.run(waited, on_error="ignore")}


def problem(client: Client, kind: Kind) -> Parts:
    X = da.random.default_rng(0).normal(size=(kind.rows, 10), chunks=(kind.rows // 4, 10))
    y = (da.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0).astype(int)
    params = {"loss": kind.loss, "alpha": 3.0, "random_state": 0, "client": client}
    return X, y, {**params, "n_hidden": kind.units}


def same_model(one: RVFLClassifier, other: RVFLClassifier) -> bool:
    return np.array_equal(one.selected_, other.selected_) and np.array_equal(
        one.readout_, other.readout_
    )


def timed_fit(parts: Parts) -> tuple[float, RVFLClassifier]:
    started = time.perf_counter()
    model = RVFLClassifier(**parts[2]).fit(*parts[:2])
    return time.perf_counter() - started, model


@dataclass(frozen=True)
class Outcome:
    """What became of a fit: its model, or what it raised; when it was disturbed, and whose end."""

    found: Any
    seconds: float
    disturbed_at: float
    victim: int | None


def disturbed_fit(
    client: Client, parts: Parts, kind: Kind, after: float, patience: float
) -> Outcome:
    ended = threading.Event()
    acts: list[tuple[float, int | None]] = []

    def act() -> None:
        if not ended.wait(after):
            begun = time.perf_counter() - started
            victim = kind.act(client, ended)
            now = time.perf_counter() - started
            acts.append((now if kind.lasts == 0 else begun, victim))

    started = time.perf_counter()
    acting = threading.Thread(target=act)
    acting.start()
    with ThreadPoolExecutor(1) as executor:
        fit = executor.submit(timed_fit, parts)
        try:
            found: Any = fit.result(timeout=patience)[1]
        except FutureTimeout:
            print("the fit hangs", flush=True)
            os._exit(1)
        except Exception as error:
            found = error
    seconds = time.perf_counter() - started
    ended.set()
    acting.join()
    disturbed_at, victim = acts[0] if acts else (seconds, None)
    return Outcome(found, seconds, disturbed_at, victim)


@contextmanager
def cluster_of_two(target: float) -> Iterator[Client]:
    """A client of two processes, which spill above this fraction of their memory."""
    # A cluster that saw a worker go before it knew of it (Dask's LocalCluster) fails to close.
    with (
        suppress(KeyError),
        dask.config.set({"distributed.worker.memory.target": target}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="4GB", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def has_recovered(client: Client, victim: int | None) -> bool:
    """Whether there are two workers again; a nanny may fail to start another one."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with suppress(OSError):  # the victim was asked before the scheduler knew
            processes = client.run(os.getpid, on_error="ignore").values()
            if len(processes) == 2 and victim not in processes:
                return True
        time.sleep(0.2)
    return False


def disturbed_fits(kind: Kind) -> Iterator[Row]:
    """What happens to one fit after another, without end."""
    while True:
        with cluster_of_two(kind.target) as client:
            parts = problem(client, kind)
            _, whole = timed_fit(parts)
            usual, _ = timed_fit(parts)
            recovered = True
            while recovered:
                row, outcome = row_of(client, parts, kind, usual, whole)
                recovered = has_recovered(client, None if kind.lasts else outcome.victim)
                if recovered:
                    usual, _ = timed_fit(parts)
                    row["undisturbed after (s)"] = round(usual, 1)
                if outcome.victim is not None:
                    yield row


def row_of(
    client: Client, parts: Parts, kind: Kind, usual: float, whole: RVFLClassifier
) -> tuple[Row, Outcome]:
    """A disturbed fit; ends the process if it is not what it must be."""
    # What is lost is made again, perhaps by one worker alone.
    patience = 6 * usual + PAUSE + 3 * ERROR_WITHIN
    after = random.uniform(0, usual)
    before = waits(client)
    outcome = disturbed_fit(client, parts, kind, after, patience)
    waiting = waits(client)
    later = outcome.seconds - outcome.disturbed_at
    if isinstance(outcome.found, Exception):
        result = f"{type(outcome.found).__name__}: {outcome.found}"
        good = later < ERROR_WITHIN + kind.lasts
    else:
        good = same_model(outcome.found, whole)
        result = SAME if good else "ANOTHER MODEL"
    row = {
        "disturbance": kind.name,
        "loss": kind.loss,
        "at (s)": round(outcome.disturbed_at, 2),
        "ended after it (s)": round(later, 1),
        "without a core (s)": round(
            max(waiting[name] - before[name] for name in waiting if name in before), 1
        ),
        "undisturbed before (s)": round(usual, 1),
        "undisturbed after (s)": None,
        "result": result,
    }
    if not good:
        print(*row.values(), sep=", ", flush=True)
        os._exit(1)
    return row, outcome


def known_rows(path: Path) -> list[Row]:
    """Rows from an earlier call."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def rows_of(kind: Kind, rows: list[Row]) -> list[Row]:
    """Those of them that are of this kind."""
    return [row for row in rows if (row["disturbance"], row["loss"]) == (kind.name, kind.loss)]


def write_page(out: Path, rows: list[Row]) -> None:
    kept = [row for row in rows if row["result"] == SAME]
    others = len(rows) - len(kept)
    error = f"; {others} ended with the error shown" if others else ""
    longest = max(float(row["ended after it (s)"]) for row in rows)
    note = textwrap.fill(
        f"`python bench/dask_faults.py`: fits of 20,000 × 10 rows (80,000 where workers spill) "
        f"in 4 partitions on a cluster of two processes ({platform.machine()}, Dask "
        f"{dask.__version__}). Each was disturbed once, at a random moment, counted from its "
        f"start; victims are random too. {len(kept)} of {len(rows)} ended with exactly the "
        f"model of an undisturbed fit{error}. The longest took {longest:.1f} s from the "
        f"disturbance to its end. How busy the machine was is told by the undisturbed fits just "
        f"before and just after, and by the longest time in the fit that the threads of the "
        f"client and scheduler, or of a worker that stayed, were ready to run but had no core. "
        f"Where there is none after, Dask had not brought back the second worker within a "
        f"minute, and a new cluster was started.",
        110,
    )
    rows = [{name: None if value == "" else value for name, value in row.items()} for row in rows]
    text = f"# Fits that lose workers\n\n{note}\n\n{markdown(rows)}"
    (out / "dask_faults.md").write_text(text, encoding="utf-8")
    print("wrote dask_faults.md")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20, help="half of them with each loss")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="forget the fits that are known")
    add_output_option(parser)
    options = parser.parse_args()
    wanted = [options.kills - options.kills // 2, options.kills // 2, 3, 2]
    path = options.out / "dask_faults.csv"
    rows = [] if options.again else known_rows(path)
    random.seed(options.seed + len(rows))
    for kind, times in zip(KINDS, wanted, strict=True):
        fits = disturbed_fits(kind)
        while len(rows_of(kind, rows)) < times:
            rows.append(next(fits))
            print(*rows[-1].values(), sep=", ", flush=True)
            write_csv(path, rows)
            write_page(options.out, rows)
        fits.close()


if __name__ == "__main__":
    main()
