"""Fits on one and two workers, beside LightGBM on the same cluster, and a model of many workers.

    python bench/dask_scale.py

All rows on two workers, by stagenets and by LightGBM with its defaults; strong scaling (the same
rows on one worker) and weak scaling (half of them on one), and the same with a tenth of the rows.
Every run is a process of its own whose result is kept in dask_scale.csv, so that a script that was
stopped goes on where it was; `--again` starts anew, and `--only` makes some runs anew. A model of
any number of workers follows from two runs on one worker and from what messages take; it is
checked against all others. Writes dask_scale.md, dask_scale.csv and dask_scale.png to
docs/benchmarks/.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import socket
import stat
import statistics
import struct
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

INPUTS, UNITS, POOL, BLOCK, CLASSES = 50, 200, 100, 10, 2
PARTITIONS_PER_WORKER = 2
SETTINGS = {
    "n_hidden": UNITS,
    "pool_size": POOL,
    "block_size": BLOCK,
    "alpha": 3.0,
    "loss": "squared",
}
# name: (workers, share of the rows, model)
RUNS = {
    "all rows": (2, 1.0, "stagenets"),
    "all rows, LightGBM": (2, 1.0, "LightGBM"),
    "all rows, one worker": (1, 1.0, "stagenets"),
    "half, one worker": (1, 0.5, "stagenets"),
    "a tenth": (2, 0.1, "stagenets"),
    "a tenth, LightGBM": (2, 0.1, "LightGBM"),
    "a tenth, one worker": (1, 0.1, "stagenets"),
    "a twentieth, one worker": (1, 0.05, "stagenets"),
}
MODEL_FROM = ("half, one worker", "a tenth, one worker")  # far apart, as times are noisy
CONSTANTS = ("ms a round", "ms a message", "MB/s")  # of the machine, told below the table
NEEDED = {"all rows", "all rows, LightGBM", "a tenth", "a tenth, LightGBM", *MODEL_FROM}
FITS_OF_SMALL_RUNS = 3  # of which the best counts
MANY = 64  # partitions, to see what each of them takes


def some_rows(rows: int, seed: int) -> Any:
    """Inputs in float32 and, in the last column, the class: sums of smooth and jumping effects."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, INPUTS + 1), dtype=np.float32)
    effect = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.where(X[:, 3] > 0.5, X[:, 4], -X[:, 5])
    effect += 0.3 * X[:, 6:16].sum(axis=1) + rng.standard_normal(rows, dtype=np.float32)
    X[:, -1] = effect > 0
    return X


def some_pieces(rows: int, seeds: range) -> Any:
    return np.concatenate([some_rows(rows // len(seeds), seed) for seed in seeds])


def data(rows: int, partitions: int, seed: int, pieces: int = 1) -> tuple[da.Array, da.Array]:
    """The same rows for the same number of pieces in all, however many make a partition."""
    each, first = rows // partitions, seed * 10_000
    blocks = [
        da.from_delayed(
            dask.delayed(some_pieces)(each, range(first + i * pieces, first + (i + 1) * pieces)),
            (each, INPUTS + 1),
            np.float32,
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
    """Tasks that count rounds."""

    rounds = 0

    def fetch(self, things: Any) -> list[Any]:
        CountedTasks.rounds += 1
        return super().fetch(things)


def traffic() -> tuple[int, int]:
    """Bytes that this process has sent and received on the TCP connections it has now."""
    sent, received = 0, 0
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        try:
            if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                continue
            with socket.socket(fileno=os.dup(descriptor)) as connection:
                info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
        except OSError:  # closed meanwhile, or not of TCP
            continue
        acknowledged, came = struct.unpack_from("QQ", info, 120)
        sent, received = sent + acknowledged, received + came
    return sent, received


def estimator(name: str, client: Client) -> Any:
    if name == "LightGBM":
        from lightgbm.dask import DaskLGBMClassifier

        return DaskLGBMClassifier(client=client, verbose=-1, num_threads=1)
    model = RVFLClassifier(**SETTINGS, random_state=0, client=client)
    model._tasks = lambda: CountedTasks(client, "RVFLClassifier")
    return model


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
        model = estimator(model_name, client)
        model.fit(*data(10_000, PARTITIONS_PER_WORKER * workers, seed=3))  # imports and first calls
        X, y = data(rows, PARTITIONS_PER_WORKER * workers, seed=1, pieces=2 // workers)
        X_test, y_test = data(100_000, 2, seed=2)
        times, processor = [], 0.0
        for _ in range(FITS_OF_SMALL_RUNS if share < 0.5 else 1):
            CountedTasks.rounds = 0
            before, worked = client.run(traffic), sum(client.run(time.process_time).values())
            started = time.perf_counter()
            model.fit(X, y)
            times.append(time.perf_counter() - started)
            processor = sum(client.run(time.process_time).values()) - worked
        after = client.run(traffic)
        sent, received = (
            max(after[name][i] - before[name][i] for name in before) / 1e3 for i in (0, 1)
        )
        right = model.predict(X_test) == y_test
        latency, _ = seconds_of_a_round(client, 1)
        _, message = seconds_of_a_round(client, MANY)
        return {
            "run": name,
            "workers": workers,
            "rows": rows,
            "seconds": round(min(times), 2),
            "processor s": round(processor, 1),
            "accuracy": round(float(da.mean(right).compute()), 4),
            "rounds": CountedTasks.rounds,
            "kB from a worker": round(sent, 1),
            "kB to a worker": round(received, 1),
            "GB in a worker": round(max(client.run(peak_memory).values()) / 1e9, 2),
            "ms a round": round(1e3 * latency, 3),
            "ms a message": round(1e3 * message / MANY, 3),
            "MB/s": round(bandwidth(client) / 1e6),
        }


def peak_memory() -> int:
    """Bytes; what getrusage() tells may be of the process that started this one."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def seconds_of_a_round(client: Client, partitions: int) -> tuple[float, float]:
    """Seconds of a round of two tasks for each of some partitions, by the clock, and of the
    processor in this process: client and scheduler, through which all rounds go."""
    tasks, rounds = ClusterTasks(client, "round"), 8
    states = tasks.each("state", float, range(partitions))
    tasks.fetch(states)
    started, worked = time.perf_counter(), time.process_time()
    for _ in range(rounds):
        states = tasks.each("answer", _same, states)
        tasks.fetch(tasks.each("question", _same, states))
    return (time.perf_counter() - started) / rounds, (time.process_time() - worked) / rounds


def bandwidth(client: Client) -> float:
    """Bytes a second from a worker to this process, of results that are large."""
    size = 64_000_000
    made = client.submit(np.ones, size // 8)
    wait(made)
    started = time.perf_counter()
    made.result()
    return size / (time.perf_counter() - started)


def _same(value: float) -> float:
    return value


def flops_of_a_row() -> float:
    """Multiplications and additions for a row in all stages, counting weights as dense ones."""
    candidates = 6 + 2 * BLOCK  # of the joint choice, which are projected on the columns
    return sum(
        2 * INPUTS * POOL
        + 2 * POOL * (CLASSES + 1)
        # QᵀG for the candidates, G − QB for the units kept
        + 2 * candidates * (INPUTS + units + candidates)
        + 2 * BLOCK * (INPUTS + units)
        for units in range(0, UNITS, BLOCK)
    )


class ManyWorkers:
    """Seconds of a fit on any number of workers.

    rows · flops / (rate · workers) + rest + rounds · (latency + partitions · message)
    + bytes / bandwidth, where the rate of a worker and the rest follow from the processor time of
    two runs on one, which depends less on what else the machine is doing. The scheduler
    talks to one partition after another, so that all bytes pass one network card.
    """

    def __init__(self, runs: dict[str, Row]) -> None:
        one, half = (runs[name] for name in MODEL_FROM)
        self.rounds = one["rounds"]
        own = [row for name, row in runs.items() if "LightGBM" not in name]
        self.latency = statistics.median(row["ms a round"] for row in own) / 1e3
        self.message = statistics.median(row["ms a message"] for row in own) / 1e3
        self.bandwidth = statistics.median(row["MB/s"] for row in own) * 1e6
        self.bytes = 1e3 * (one["kB from a worker"] + one["kB to a worker"])  # of one worker
        self.row = (one["processor s"] - half["processor s"]) / (one["rows"] - half["rows"])
        self.rest = max(0.0, half["processor s"] - half["rows"] * self.row)

    def seconds(self, rows: float, workers: int) -> float:
        return self.work(rows, workers) + self.travel(workers)

    def work(self, rows: float, workers: int) -> float:
        return rows * self.row / workers + self.rest

    def travel(self, workers: int) -> float:
        partitions = PARTITIONS_PER_WORKER * workers
        return (
            self.rounds * (self.latency + partitions * self.message)
            + workers * self.bytes / self.bandwidth
        )


def checked_rows(model: ManyWorkers, runs: dict[str, Row]) -> list[Row]:
    """Predictions beside what was measured."""
    return [
        {
            "run": name,
            "workers": row["workers"],
            "rows": row["rows"],
            "predicted work of a worker (s)": round(model.work(row["rows"], row["workers"]), 1),
            "measured, of the processor (s)": round(row["processor s"] / row["workers"], 1),
            "predicted fit (s)": round(model.seconds(row["rows"], row["workers"]), 1),
            "measured (s)": row["seconds"],
        }
        for name, row in runs.items()
        if "LightGBM" not in name
    ]


def predicted_rows(model: ManyWorkers, rows: int) -> list[Row]:
    return [
        {
            "workers": workers,
            f"{rows:,} rows (s)": round(model.seconds(rows, workers), 1),
            f"{rows:,} rows for each worker (s)": round(model.seconds(rows * workers, workers), 1),
            "of which messages (s)": round(model.travel(workers), 1),
        }
        for workers in (1, 2, 10, 100, 1000)
    ]


def draw(path: Path, model: ManyWorkers, runs: dict[str, Row], rows: int) -> None:
    """Predicted times over workers, and those measured."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
    workers = np.unique(np.geomspace(1, 1000, 60).astype(int))
    strong = [model.seconds(rows, int(w)) for w in workers]
    weak = [model.seconds(rows * int(w), int(w)) for w in workers]
    axes.plot(workers, strong, label=f"{rows:,} rows")
    axes.plot(workers, weak, label=f"{rows:,} rows for each worker")
    axes.plot(workers, [model.travel(int(w)) for w in workers], "--", label="messages")
    names = ("all rows, one worker", "all rows")
    measured = [runs[name] for name in names if name in runs]
    axes.plot(
        [run["workers"] for run in measured],
        [run["seconds"] for run in measured],
        "o",
        color="black",
        label=f"{rows:,} rows, measured",
    )
    axes.set(xscale="log", yscale="log", xlabel="workers of one thread", ylabel="seconds of a fit")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"wrote {path.name}")


def in_words(runs: dict[str, Row], some: str) -> str:
    """Strong scaling, weak scaling and LightGBM, with these rows, as far as there are runs."""
    two, trees = runs[some], runs[f"{some}, LightGBM"]
    one = runs.get(f"{some}, one worker")
    half = runs.get("half, one worker" if some == "all rows" else "a twentieth, one worker")
    text = f"With {two['rows']:,} rows, "
    if one and half:
        text += (
            f"two workers are {one['seconds'] / two['seconds']:.2f} times as fast as one (strong "
            f"scaling), and take {two['seconds'] / half['seconds']:.2f} times as long as one with "
            f"half of the rows (weak scaling), by the clock of two cores that also run client and "
            f"scheduler; of the processor, they need "
            f"{two['processor s'] / one['processor s']:.2f} and "
            f"{two['processor s'] / half['processor s']:.2f} times as much in all; "
        )
    text += f"the fit takes {two['seconds'] / trees['seconds']:.2f} times as long as LightGBM's"
    if trees["processor s"]:
        text += f" ({two['processor s'] / trees['processor s']:.2f} times its processor time)"
    return text + (
        f", which has an accuracy of {trees['accuracy']:.4f} where this has {two['accuracy']:.4f}."
    )


def _without_constants(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in CONSTANTS}


def write_page(out: Path, runs: dict[str, Row], rows: int) -> None:
    model = ManyWorkers(runs)
    parts = [
        "# Many rows on Dask",
        f"`python bench/dask_scale.py --rows {rows}`: {INPUTS} inputs in float32, {CLASSES} "
        f"classes, {UNITS} units, `{SETTINGS}`, {PARTITIONS_PER_WORKER} partitions for each "
        f"worker of one thread ({platform.machine()}, {os.cpu_count()} cores, Dask "
        f"{dask.__version__}). LightGBM has its defaults (100 trees of 31 leaves) and the same "
        f"workers. Rows are in the memory of the workers when a fit begins, and a small fit "
        f"went before; times are those of one fit, or the best of {FITS_OF_SMALL_RUNS} with a "
        f"tenth of the rows or fewer. Processor seconds are those of all workers in the last of "
        f"these fits. Accuracy is that on 100,000 other rows. Bytes are those on the "
        f"connections of the worker that sent or received most, with all that Dask adds ([where "
        f"they come from](dask_traffic.md)).",
        markdown([_without_constants(row) for row in runs.values()]),
        f"{in_words(runs, 'all rows')} {in_words(runs, 'a tenth')}",
        "## More workers",
        f"Measured here: {1e6 * model.row:.1f} µs of a worker for each row, which is "
        f"{flops_of_a_row() / model.row / 1e9:.1f} GFLOP/s; {model.rest:.1f} s that do not depend "
        f"on the rows; {model.rounds} rounds, each {1e3 * model.latency:.1f} ms and "
        f"{1e3 * model.message:.2f} ms of client and scheduler for every partition; "
        f"{model.bytes / 1e3:.0f} kB to and from a worker in all, at "
        f"{model.bandwidth / 1e6:.0f} MB/s. A fit on w workers then takes rows × (time of a row) "
        f"/ w + (time besides) + rounds × (latency + partitions × message) + bytes / bandwidth. "
        f"The first two come from the processor time of the runs '{MODEL_FROM[0]}' and "
        f"'{MODEL_FROM[1]}', which depends less than the clock on what else the machine is doing, "
        f"the other runs were not used for "
        f"them. What is measured beyond the predicted time of a fit is waiting, of one worker for "
        f"another or for a core that other programs had:",
        markdown(checked_rows(model, runs)),
        "The same for more workers, of one thread each:",
        markdown(predicted_rows(model, rows)),
        "![Seconds of a fit over the number of workers, predicted and measured](dask_scale.png)",
        "The scheduler handles messages one after another, so that more workers help until "
        "messages take longer than rows; larger `block_size` means fewer rounds, and more threads "
        "for each worker (`n_jobs`) fewer partitions. Latency and bandwidth of a network are not "
        "those of one machine, but the time of the scheduler, which dominates, is.",
    ]
    text = "\n\n".join(
        part.strip() if part[0] in "|!" else textwrap.fill(part, 110) for part in parts
    )
    (out / "dask_scale.md").write_text(text + "\n", encoding="utf-8")
    print("wrote dask_scale.md")
    draw(out / "dask_scale.png", model, runs, rows)


def known_runs(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [
            {
                name: value if name == "run" else json.loads(value or "null")
                for name, value in row.items()
            }
            for row in csv.DictReader(file)
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--again", action="store_true", help="forget the runs that are known")
    parser.add_argument("--only", action="append", choices=RUNS, help="make this run (repeatable)")
    parser.add_argument("--page", action="store_true", help="only write the page of known runs")
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
        if options.page or (name not in options.only if options.only else name in runs):
            continue
        command = [sys.executable, __file__, "--rows", str(options.rows), "--one", name]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        runs[name] = json.loads(done.stdout.splitlines()[-1])
        print(runs[name], flush=True)
        write_csv(path, [runs[some] for some in RUNS if some in runs])
    if NEEDED <= runs.keys():
        write_page(options.out, {name: runs[name] for name in RUNS if name in runs}, options.rows)


if __name__ == "__main__":
    main()
