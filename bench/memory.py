"""The peak extra memory of a call, and of a fit in a separate process.

    python bench/memory.py medium float64

Prints the peak extra memory of one fit of that case, in bytes.
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cases import CASES, Case

MEBIBYTE = 2**20
_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def _peak() -> int:
    """Peak resident memory in bytes since the start or the last reset."""
    if _STATUS.exists():
        line = next(s for s in _STATUS.read_text().splitlines() if s.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _reset_peak() -> None:
    # Without the reset, a peak while creating the data would hide the call's own. Linux only;
    # elsewhere the figure is a lower bound.
    if _CLEAR.exists():
        _CLEAR.write_text("5")


def peak_extra(call: Callable[[], Any]) -> int:
    """Bytes by which `call` raises the peak of this process."""
    gc.collect()
    _reset_peak()
    before = _peak()
    result = call()
    peak = _peak()
    del result
    return max(0, peak - before)


def peak_of_fit(case: Case, dtype: str) -> int:
    """Peak extra bytes of one fit, in a fresh process."""
    command = [sys.executable, __file__, case.name, dtype]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def allowed(case: Case, dtype: str) -> float:
    """1.15 × (bytes of Q + bytes of R) + 64 MiB."""
    size = np.dtype(dtype).itemsize
    return 1.15 * size * case.n * (case.columns + case.q) + 64 * MEBIBYTE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("dtype", choices=["float64", "float32"])
    options = parser.parse_args()
    case = CASES[options.case]
    # Libraries load code and create threads and buffers on first use; the fit is not to blame.
    tiny = Case("first", 300, 5, 3, 4, 5, 1)
    tiny.network().fit(*tiny.data(options.dtype))
    X, y = case.data(options.dtype)
    network = case.network()
    print(peak_extra(lambda: network.fit(X, y)))


if __name__ == "__main__":
    main()
