"""Times of rivals measured in turn, in one process, and their ratios.

Rivals that take turns, for `repeats` rounds, see the same machine: a slow minute slows all of them.
A ratio of medians from one race is meaningful; two times from two different runs are not.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

_REST_SECONDS = 0.03


def rest() -> None:
    """Wait until BLAS threads stop spinning after their last product; it would slow the next."""
    time.sleep(_REST_SECONDS)


@dataclass
class Timings:
    """Seconds of every run of every rival."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def run(self, name: str, call: Callable[[], Any], calls: int = 1) -> Any:
        """Record the time of `call` under `name`: the best of several calls in a row.

        Idle cores start slowly, so calls much shorter than a second need more than one.
        """
        best = float("inf")
        for _ in range(calls):
            started = time.perf_counter()
            result = call()
            best = min(best, time.perf_counter() - started)
        self.seconds.setdefault(name, []).append(best)
        return result

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])

    def best(self, name: str) -> float:
        return min(self.seconds[name])

    def ratio(self, slow: str, fast: str) -> float:
        """How many times longer `slow` takes than `fast`, by medians."""
        return self.median(slow) / self.median(fast)

    def best_ratio(self, slow: str, fast: str) -> float:
        return self.best(slow) / self.best(fast)


def interleave(
    rivals: Mapping[str, Callable[[], Any]],
    repeats: int,
    *,
    warm_up: bool = True,
    most: Mapping[str, int] | None = None,
) -> Timings:
    """Run every rival once per round, `repeats` rounds; `most` caps the rounds of slow ones."""
    if warm_up:
        for call in rivals.values():
            call()
    timings = Timings()
    for round_ in range(repeats):
        run_round(timings, rivals, round_, most or {})
    return timings


def run_round(
    timings: Timings,
    rivals: Mapping[str, Callable[[], Any]],
    round_: int,
    most: Mapping[str, int],
    calls: int = 1,
) -> None:
    """Run every rival that has rounds left once."""
    for name, call in rivals.items():
        if round_ < most.get(name, round_ + 1):
            rest()
            timings.run(name, call, calls)
