"""What a fit prints while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable

StageCallback = Callable[[int, int, float, float], bool]


def progress_printer(name: str, units: int, verbose: int) -> StageCallback | None:
    """A callback that prints a line a stage (verbose > 1) or one a second, or None."""
    if verbose <= 0:
        return None
    started = last = time.monotonic()

    def report(stage: int, done: int, objective: float, residual: float) -> bool:
        nonlocal last
        now = time.monotonic()
        if verbose > 1 or now - last >= 1 or done >= units:
            last = now
            print(
                f"[{name}] stage {stage + 1}: {done}/{units} units, objective {objective:.6g}, "
                f"residual {residual:.6g}, {now - started:.1f} s",
                flush=True,
            )
        return True

    return report
