"""What travels between the workers and the client in a fit on Dask, by kind and per stage.

    python bench/dask_traffic.py

Counts the numbers that every partition sends and is sent back in each round of a fit on two
workers, compares those of the stages with their formulas, and reads what really passed from the
TCP connections of a worker. Sums do not grow with the rows, so a few rows do. Writes
dask_traffic.md to docs/benchmarks/; ends with an error if a stage does not follow its formulas.
"""

from __future__ import annotations

import argparse
import textwrap
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import dask
import numpy as np
from distributed import Client, LocalCluster

from dask_scale import BLOCK, CLASSES, INPUTS, POOL, SETTINGS, UNITS, data, traffic
from report_tables import Row, add_output_option, markdown
from stagenets.dask import RVFLClassifier
from stagenets.dask._partition import Question
from stagenets.dask._tasks import ClusterTasks

WORKERS, PARTITIONS, ROWS = 2, 4, 20_000
STAGES = UNITS // BLOCK
Sizes = tuple[int, int]  # numbers from a partition, and to it


@dataclass
class Log:
    """The rounds of a fit, and bytes of every worker's connections at the ends of some stages."""

    rounds: list[Sizes] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)  # of stages: rounds so far
    bytes: list[dict[str, Sizes]] = field(default_factory=list)  # then


class WatchedTasks(ClusterTasks):
    """Tasks that keep a log of what the partitions ask and are told."""

    def __init__(self, client: Client, log: Log) -> None:
        super().__init__(client, "RVFLClassifier")
        self._log, self._asked = log, 0

    def each(self, label: str, function: Any, *arguments: Any) -> list[Any]:
        if label == "answer":
            told = arguments[1][0].size
            self._log.rounds.append((self._asked, told))
        return super().each(label, function, *arguments)

    def fetch(self, things: Any) -> list[Any]:
        found = super().fetch(things)
        if isinstance(found[0], Question):
            self._asked = max(question.values.size for question in found)
            if found[0].reports:
                self._log.ends.append(len(self._log.rounds))
                self._log.bytes.append(self._client.run(traffic))
        return found


def watched_fit() -> tuple[Log, dict[str, Sizes], dict[str, Sizes]]:
    """The log of a fit, and the bytes of the workers before and after it."""
    with (
        LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, memory_limit=0, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        X, y = data(ROWS, PARTITIONS, seed=1)
        log = Log()
        model = RVFLClassifier(**SETTINGS, random_state=0, client=client)
        model._tasks = lambda: WatchedTasks(client, log)
        before = client.run(traffic)
        model.fit(X, y)
        return log, before, client.run(traffic)


def kinds_of(log: Log) -> list[tuple[str, str, list[Sizes]]]:
    """What is sent, by which formula, and the sizes of all such messages."""
    kinds: list[list[Sizes]] = [[], [], []]
    borders = [log.ends[0] - len(kinds), *log.ends]
    stages = [log.rounds[start:end] for start, end in pairwise(borders)]
    candidates = 6 + 2 * BLOCK
    for number, stage in enumerate(stages):
        columns = INPUTS + 1 + number * BLOCK
        expected = [
            POOL * (CLASSES + 1) + 1,
            candidates * (columns + candidates + CLASSES),
            3,
        ]
        sizes = [sent for sent, _ in stage]
        if sizes != expected or any(sent != told for sent, told in stage):
            raise SystemExit(f"stage {number} sent {stage}; the formulas say {expected}")
        for kind, size in zip(kinds, stage, strict=True):
            kind.append(size)
    return [
        ("before the first stage", "", log.rounds[: borders[0]]),
        ("score the pool", "M (q + 1) + 1", kinds[0]),
        ("project the candidates", "c (d + c + q)", kinds[1]),
        ("append the chosen", "3", kinds[2]),
        ("after the last stage", "", log.rounds[borders[-1] :]),
    ]


def table(log: Log) -> list[Row]:
    rows: list[Row] = []
    for what, formula, sizes in kinds_of(log):
        sent, told = (8e-3 * sum(size[way] for size in sizes) for way in (0, 1))
        rows.append(
            {
                "": what,
                "numbers": formula or "see below",
                "rounds": len(sizes),
                "kB from a partition": round(sent, 1),
                "kB to it": round(told, 1),
            }
        )
    return rows


def most(after: dict[str, Sizes], before: dict[str, Sizes], way: int) -> float:
    """Bytes of the worker with the most of them."""
    return max(after[worker][way] - before[worker][way] for worker in before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_output_option(parser)
    options = parser.parse_args()
    log, before, after = watched_fit()
    rows = table(log)
    between = STAGES - 1  # from the end of the first stage to that of the last
    stage_kb = [most(log.bytes[-1], log.bytes[0], way) / 1e3 / between for way in (0, 1)]
    fit_kb = [most(after, before, way) / 1e3 for way in (0, 1)]
    own = PARTITIONS // WORKERS
    sums = own * sum(row["kB to it"] for row in rows[1:4]) / STAGES  # on average
    largest = np.argmax([told for _, told in log.rounds])
    note = (
        f"`python bench/dask_traffic.py`: {ROWS:,} rows of p = {INPUTS} inputs on {WORKERS} "
        f"workers with {own} partitions each, q = {CLASSES} outputs, pools of M = {POOL}, "
        f"{STAGES} stages of k = {BLOCK} units, c = 6 + 2k = {6 + 2 * BLOCK} "
        f"candidates of the joint choice, d columns so far (inputs, intercept and units), "
        f"squared error (Dask {dask.__version__}). In a round, every partition sends some "
        f"numbers of 8 bytes, and gets their sum, or, of samples, those of all partitions. The "
        f"command stops if a stage sends anything else than the table says."
    )
    measured = (
        f"A stage thus takes {sums:.0f} kB of sums to a worker with {own} partitions and as "
        f"much from it. Counted on the TCP connections of the worker with the most of it, a "
        f"stage took {stage_kb[1]:.0f} kB to the worker and {stage_kb[0]:.0f} kB from it: the "
        f"rest is what Dask adds, in {2 * own} tasks for each of 3 rounds (keys, the pickled "
        f"call, reports of finished tasks, heartbeats). In the whole fit it was {fit_kb[1]:.0f} "
        f"kB to it and {fit_kb[0]:.0f} kB from it, in {len(log.rounds)} rounds."
    )
    ends = (
        f"Most of the difference is from before the first stage: {rows[0]['rounds']} rounds, "
        f"the largest of which brings {log.rounds[largest][1]:,} numbers to every partition. "
        f"They are the values of 4,096 rows at most of those inputs that reach beyond four "
        f"deviations, from which their quartiles are found in case they are wild; with normal "
        f"inputs, that is every input when there are many rows. Among the others are up to "
        f"65,536 values of an input, which thresholds and leaves are put at, the Gram matrix of "
        f"the links and their products with the targets, and what a calibration of "
        f"probabilities needs. The last ones bring scores of 4,096 rows at most, again for "
        f"probabilities, and twice the gradient by which the readout is corrected, d q + 1 "
        f"numbers. At the end, the network comes from one partition, and up to 1,000 rows for "
        f"importances from all together; these are not in the table."
    )
    parts = [
        "# What travels in a fit on Dask",
        textwrap.fill(note, 110),
        markdown(rows).strip(),
        textwrap.fill(measured, 110),
        textwrap.fill(ends, 110),
    ]
    (options.out / "dask_traffic.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print("\n\n".join(parts))


if __name__ == "__main__":
    main()
