"""Fits on one and two workers, beside LightGBM on the same cluster, and a model of many workers.

    python bench/dask_scale.py

Strong scaling (the same rows on one and on two workers), weak scaling (half of them on one), and
LightGBM with its defaults on two. Every run is a process of its own whose result is kept in
dask_scale.csv, so that a script that was stopped goes on where it was; `--again` starts anew. A
model of any number of workers follows from the times of the runs on one worker, and of messages; it
is checked against the runs on two. Writes dask.md and dask_scale.csv to docs/benchmarks/.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pickle
import platform
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from report_tables import Row, add_output_option, markdown, write_csv
from stagenets.dask import RVFLClassifier
from stagenets.dask._tasks import ClusterTasks

INPUTS, UNITS, POOL, CLASSES = 50, 200, 100, 2
PARTITIONS_PER_WORKER = 2
SETTINGS = {"n_hidden": UNITS, "pool_size": POOL, "block_size": 10, "loss": "squared"}
# name: (workers, share of the rows, model)
RUNS = {
    "two workers": (2, 1.0, "stagenets"),
    "one worker": (1, 1.0, "stagenets"),
    "one worker, half the rows": (1, 0.5, "stagenets"),
    "two workers, store='recompute'": (2, 0.1, "stagenets, recompute"),
    "two workers, a tenth of the rows": (2, 0.1, "stagenets"),
    "LightGBM, two workers": (2, 1.0, "LightGBM"),
}


def some_rows(rows: int, seed: int) -> Any:
    """Inputs in float32 and, in the last column, the class: sums of smooth and jumping effects."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, INPUTS + 1), dtype=np.float32)
    effect = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.where(X[:, 3] > 0.5, X[:, 4], -X[:, 5])
    effect += 0.3 * X[:, 6:16].sum(axis=1) + rng.standard_normal(rows, dtype=np.float32)
    X[:, -1] = effect > 0
    return X


def data(rows: int, partitions: int, seed: int) -> tuple[da.Array, da.Array]:
    each = rows // partitions
    blocks = [
        da.from_delayed(
            dask.delayed(some_rows)(each, seed * 10_000 + i), (each, INPUTS + 1), np.float32
        )
        for i in range(partitions)
    ]
    both = da.concatenate(blocks).persist()
    wait(both)
    X = both[:, :INPUTS].map_blocks(np.ascontiguousarray, dtype=np.float32).persist()
    y = both[:, INPUTS].astype(np.int32).persist()
    wait([X, y])
    return X, y


class CountedTasks(ClusterTasks):
    """Tasks that count rounds, and the bytes that come from a partition and go to one."""

    rounds, received, sent = 0, 0, 0

    def each(self, label: str, function: Any, *arguments: Any) -> list[Any]:
        if label == "answer":
            CountedTasks.sent += len(pickle.dumps(arguments[1][0]))
        return super().each(label, function, *arguments)

    def fetch(self, things: Any) -> list[Any]:
        found = super().fetch(things)
        CountedTasks.rounds += 1
        CountedTasks.received += len(pickle.dumps(found[0]))
        return found


def one_run(name: str, rows: int) -> Row:
    """Fit on a fresh cluster; what is to be known of the run."""
    workers, share, model_name = RUNS[name]
    rows = int(rows * share)
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        X, y = data(rows, PARTITIONS_PER_WORKER * workers, seed=1)
        X_test, y_test = data(100_000, 2, seed=2)
        model: Any
        if model_name == "LightGBM":
            from lightgbm.dask import DaskLGBMClassifier

            model = DaskLGBMClassifier(client=client, verbose=-1, num_threads=1)
        else:
            store = "recompute" if "recompute" in model_name else "memory"
            model = RVFLClassifier(**SETTINGS, store=store, random_state=0, client=client)
            model._tasks = lambda: CountedTasks(client, "RVFLClassifier")
        started = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - started
        right = model.predict(X_test) == y_test
        row: Row = {
            "run": name,
            "workers": workers,
            "rows": rows,
            "seconds": round(seconds, 2),
            "accuracy": round(float(da.mean(right).compute()), 4),
            "rounds": CountedTasks.rounds,
            "kB from a partition": round(CountedTasks.received / 1e3, 1),
            "kB to a partition": round(CountedTasks.sent / 1e3, 1),
            "GB in a worker": round(max(client.run(peak_memory).values()) / 1e9, 2),
        }
        row["ms a message"] = round(1e3 * seconds_of_a_round(client), 3)
        return row


def peak_memory() -> int:
    import resource

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def seconds_of_a_round(client: Client) -> float:
    """Of a round of two tasks for each partition, divided by the partitions: what one costs."""
    tasks, partitions, rounds = ClusterTasks(client, "round"), 64, 8
    states = tasks.each("state", float, range(partitions))
    tasks.fetch(states)
    started = time.perf_counter()
    for _ in range(rounds):
        states = tasks.each("answer", _same, states)
        tasks.fetch(tasks.each("question", _same, states))
    return (time.perf_counter() - started) / (rounds * partitions)


def _same(value: float) -> float:
    return value


def model_rows(runs: dict[str, Row], rows: int) -> tuple[list[Row], Row]:
    """Predicted and measured seconds for numbers of workers, and the constants.

    A fit takes work · rows / workers + rounds · (partitions · message + bytes / bandwidth): work is
    what is left of the run on one worker, per row. The scheduler handles messages one at a time.
    """
    one, half = runs["one worker"], runs["one worker, half the rows"]
    message = min(row["ms a message"] for row in runs.values()) / 1e3
    rounds = one["rounds"]
    size = 1e3 * (one["kB from a partition"] + one["kB to a partition"])  # over the whole fit
    bandwidth = 1e9  # bytes a second of a usual network

    def travel(workers: int) -> float:
        partitions = PARTITIONS_PER_WORKER * workers
        return rounds * partitions * message + partitions * size / bandwidth

    # From two sizes on one worker: what depends on the rows, and what does not.
    work = (one["seconds"] - half["seconds"]) / (one["rows"] - half["rows"])
    rest = max(0.0, one["seconds"] - work * one["rows"] - travel(1))
    predicted: list[Row] = []
    for workers in (1, 2, 10, 100, 1000):
        strong = work * rows / workers + rest + travel(workers)
        weak = work * rows / 2 + rest + travel(workers)
        measured = {1: one, 2: runs["two workers"]}.get(workers)
        predicted.append(
            {
                "workers": workers,
                f"{rows:,} rows, predicted (s)": round(strong, 1),
                "measured (s)": measured["seconds"] if measured else None,
                f"{rows // 2:,} rows for each worker, predicted (s)": round(weak, 1),
                "of which messages (s)": round(travel(workers), 1),
            }
        )
    constants = {
        "µs a row": 1e6 * work,
        "s besides": rest,
        "ms a message": 1e3 * message,
        "kB": size / 1e3,
        "rounds": rounds,
    }
    return predicted, constants


def write_page(out: Path, runs: dict[str, Row], rows: int) -> None:
    predicted, known = model_rows(runs, rows)
    two, one, half = (runs[name] for name in list(RUNS)[:3])
    store = runs["two workers, store='recompute'"]
    kept = runs["two workers, a tenth of the rows"]
    parts = [
        "# Many rows on Dask",
        f"`python bench/dask_scale.py --rows {rows}`: {INPUTS} inputs in float32, {CLASSES} "
        f"classes, {UNITS} units, `{SETTINGS}`, {PARTITIONS_PER_WORKER} partitions for each worker "
        f"of one thread ({platform.machine()}, {os.cpu_count()} cores). LightGBM has its defaults.",
        markdown(list(runs.values())),
        f"Strong scaling: two workers are {one['seconds'] / two['seconds']:.2f} times as fast as "
        f"one. Weak scaling: twice the rows on twice the workers take "
        f'{two["seconds"] / half["seconds"]:.2f} times as long. With `store="recompute"` a fit '
        f"takes {store['seconds'] / kept['seconds']:.1f} times as long, and a worker "
        f"{store['GB in a worker']} GB instead of {kept['GB in a worker']} GB.",
        "## More workers",
        f"Measured here: {known['µs a row']:.1f} µs for each row, {known['s besides']:.1f} s that "
        f"do not depend on the rows, {known['rounds']} rounds in which every partition sends and "
        f"gets {known['kB']:.0f} kB in all, both directions taken together, and "
        f"{known['ms a message']:.2f} ms of the scheduler for "
        f"each partition and round; assumed: a network of 1 GB/s. A fit on w workers then takes "
        f"(time of the rows) / w + (time besides) + rounds × partitions × (time of a message) + "
        f"bytes / bandwidth.",
        markdown(predicted),
        "Messages are handled one after another by the scheduler, so that more workers help until "
        "they cost more than the rows; larger `block_size` means fewer rounds.",
    ]
    text = "\n\n".join(
        part.strip() if part.startswith("|") else textwrap.fill(part, 110) for part in parts
    )
    (out / "dask.md").write_text(text + "\n", encoding="utf-8")
    print("wrote dask.md")


def known_runs(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [
            {name: value if name == "run" else json.loads(value) for name, value in row.items()}
            for row in csv.DictReader(file)
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--again", action="store_true", help="forget the runs that are known")
    parser.add_argument("--one", choices=RUNS, help=argparse.SUPPRESS)
    add_output_option(parser)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one_run(options.one, options.rows)))
        return
    path = options.out / "dask_scale.csv"
    known = [] if options.again else known_runs(path)
    runs = {
        row["run"]: row for row in known if row["rows"] == int(options.rows * RUNS[row["run"]][1])
    }
    for name in RUNS:
        if name in runs:
            continue
        command = [sys.executable, __file__, "--rows", str(options.rows), "--one", name]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        runs[name] = json.loads(done.stdout.splitlines()[-1])
        print(runs[name], flush=True)
        write_csv(path, [runs[some] for some in RUNS if some in runs])
    write_page(options.out, {name: runs[name] for name in RUNS}, options.rows)


if __name__ == "__main__":
    main()
