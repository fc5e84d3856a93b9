"""Fits on a cluster of processes whose workers are killed at random moments.

Every fit must end with exactly the model of an undisturbed one. `python bench/dask_faults.py`
prints one line for each fit; `--kills`, `--loss`, `--pause` (seconds that a worker is stopped for
instead) and `--spill` (a limit so low that states are spilled) choose what happens.
"""

import argparse
import os
import random
import signal
import threading
import time

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from stagenets.dask import RVFLClassifier


def disturb(client, after, pause):
    """Kill a worker, or stop it for a while, so many seconds from now."""

    def act():
        time.sleep(after)
        victim = random.choice(list(client.run(os.getpid).values()))
        try:
            if pause:
                os.kill(victim, signal.SIGSTOP)
                time.sleep(pause)
                os.kill(victim, signal.SIGCONT)
            else:
                os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            pass

    thread = threading.Thread(target=act)
    thread.start()
    return thread


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--units", type=int, default=40)
    parser.add_argument("--loss", default="squared")
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--spill", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random.seed(options.seed)
    dask.config.set({"distributed.scheduler.allowed-failures": 10})
    limit = "300MB" if options.spill else 0
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=limit, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        X = da.random.default_rng(0).normal(size=(options.rows, 10), chunks=(options.rows // 8, 10))
        y = (da.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0).astype(int)
        params = {"n_hidden": options.units, "loss": options.loss, "random_state": 0}
        params["client"] = client
        started = time.perf_counter()
        whole = RVFLClassifier(**params).fit(X, y)
        usual = time.perf_counter() - started
        print(f"undisturbed: {usual:.1f} s", flush=True)
        for kill in range(options.kills):
            time.sleep(2)  # until the scheduler knows of the last victim
            client.wait_for_workers(2)
            after = random.uniform(0, usual)
            started = time.perf_counter()
            thread = disturb(client, after, options.pause)
            model = RVFLClassifier(**params).fit(X, y)
            seconds = time.perf_counter() - started
            thread.join()
            same = np.array_equal(model.selected_, whole.selected_) and np.array_equal(
                model.readout_, whole.readout_
            )
            print(
                f"{kill + 1}: disturbed after {after:.1f} s, {seconds:.1f} s, "
                f"{'the same bits' if same else 'ANOTHER MODEL'}",
                flush=True,
            )
            if not same:
                raise SystemExit(1)


if __name__ == "__main__":
    main()
