"""Fits on a cluster of processes whose workers are killed, or stopped for a while.

    python bench/dask_faults.py

Every fit is disturbed once, at a random moment, and must end with exactly the model of an
undisturbed one, or with an error within a minute. Workers are killed at any moment, killed while
they have states on disk, or stopped for half a minute. Writes dask_faults.md and dask_faults.csv to
docs/benchmarks/; ends with 1 if a fit hangs or gives another model.
"""

from __future__ import annotations

import argparse
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
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from report_tables import Row, add_output_option, markdown, write_csv
from stagenets.dask import RVFLClassifier

ERROR_WITHIN = 60.0  # seconds after the disturbance
PAUSE = 30.0
Disturb = Callable[[Client], None]


def some_worker(client: Client) -> int:
    return random.choice(list(client.run(os.getpid).values()))


def send(process: int, what: signal.Signals) -> None:
    try:
        os.kill(process, what)
    except ProcessLookupError:  # gone by itself
        pass


def kill(client: Client) -> None:
    send(some_worker(client), signal.SIGKILL)


def pause(client: Client) -> None:
    victim = some_worker(client)
    send(victim, signal.SIGSTOP)
    time.sleep(PAUSE)
    send(victim, signal.SIGCONT)


def on_disk(dask_worker: Any) -> tuple[int, int]:
    """The worker's process, and how many results it has spilled."""
    return os.getpid(), len(getattr(dask_worker.data, "slow", ()))


def kill_while_spilling(client: Client) -> None:
    while True:
        spilled = [process for process, count in client.run(on_disk).values() if count]
        if spilled:
            send(random.choice(spilled), signal.SIGKILL)
            return
        time.sleep(0.05)


def problem(client: Client, rows: int, loss: str, units: int) -> tuple[Any, Any, dict[str, Any]]:
    X = da.random.default_rng(0).normal(size=(rows, 10), chunks=(rows // 4, 10))
    y = (da.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0).astype(int)
    params = {"n_hidden": units, "loss": loss, "alpha": 3.0, "random_state": 0, "client": client}
    return X, y, params


def same_model(one: RVFLClassifier, other: RVFLClassifier) -> bool:
    return np.array_equal(one.selected_, other.selected_) and np.array_equal(
        one.readout_, other.readout_
    )


def disturbed_fit(
    client: Client,
    parts: tuple[Any, Any, dict[str, Any]],
    disturb: Disturb,
    after: float,
    patience: float,
) -> tuple[float, Any]:
    """Seconds of a fit, and its model, or what it raised."""
    X, y, params = parts
    acting = threading.Timer(after, disturb, (client,))
    started = time.perf_counter()
    acting.start()
    with ThreadPoolExecutor(1) as executor:
        fit = executor.submit(lambda: RVFLClassifier(**params).fit(X, y))
        try:
            found: Any = fit.result(timeout=patience)
        except FutureTimeout:
            print("the fit hangs", flush=True)
            os._exit(1)
        except Exception as error:
            found = error
    seconds = time.perf_counter() - started
    acting.cancel()
    acting.join()
    return seconds, found


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


def has_recovered(client: Client) -> bool:
    """Whether there are two workers again; a nanny may fail to start another one."""
    time.sleep(2)  # until the scheduler knows of the last victim
    try:
        client.wait_for_workers(2, timeout=30)
    except TimeoutError:
        return False
    return True


def rows_of(
    name: str, disturb: Disturb, times: int, loss: str, units: int, target: float = 0.6
) -> list[Row]:
    """What happened to this many fits."""
    rows: list[Row] = []
    while len(rows) < times:
        with cluster_of_two(target) as client:
            parts = problem(client, 20_000, loss, units)
            started = time.perf_counter()
            whole = RVFLClassifier(**parts[2]).fit(*parts[:2])
            usual = time.perf_counter() - started
            while len(rows) < times and has_recovered(client):
                after = random.uniform(0, usual)
                # What is lost is made again, perhaps by one worker alone.
                patience = 6 * usual + PAUSE + 3 * ERROR_WITHIN
                seconds, found = disturbed_fit(client, parts, disturb, after, patience)
                if isinstance(found, Exception):
                    result = f"{type(found).__name__}: {found}"
                    good = seconds < after + ERROR_WITHIN + (PAUSE if disturb is pause else 0)
                else:
                    good = same_model(found, whole)
                    result = "the same bits" if good else "ANOTHER MODEL"
                row = {
                    "disturbance": name,
                    "loss": loss,
                    "after (s)": round(after, 2),
                    "fit (s)": round(seconds, 1),
                    "undisturbed (s)": round(usual, 1),
                    "result": result,
                }
                print(*row.values(), sep=", ", flush=True)
                if not good:
                    os._exit(1)
                if seconds > after:  # otherwise the fit had ended before
                    rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20, help="half of them with each loss")
    parser.add_argument("--units", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    add_output_option(parser)
    options = parser.parse_args()
    random.seed(options.seed)
    half, units = options.kills // 2, options.units
    rows = [
        *rows_of("killed", kill, options.kills - half, "squared", units),
        *rows_of("killed", kill, half, "log", units),
        # States of some 10 MB each are spilled when a worker has more than 20 MB of them.
        *rows_of("killed while spilling", kill_while_spilling, 2, "squared", 8, 0.005),
        *rows_of(f"stopped for {PAUSE:.0f} s", pause, 1, "squared", units),
    ]
    write_csv(options.out / "dask_faults.csv", rows)
    kept = sum(row["result"] == "the same bits" for row in rows)
    note = textwrap.fill(
        f"`python bench/dask_faults.py`: fits of 20,000 × 10 rows in 4 partitions on a cluster of "
        f"two processes ({platform.machine()}, Dask {dask.__version__}). Each was disturbed once, "
        f"so many seconds after it began; moments and victims are random. {kept} of {len(rows)} "
        f"ended with exactly the model of an undisturbed fit, the others with the error shown.",
        110,
    )
    text = f"# Fits that lose workers\n\n{note}\n\n{markdown(rows)}"
    (options.out / "dask_faults.md").write_text(text, encoding="utf-8")
    print("wrote dask_faults.md")


if __name__ == "__main__":
    main()
