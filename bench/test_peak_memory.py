"""Peak extra memory of a fit against 1.15 × (bytes of Q + bytes of R) + 64 MiB.

Each fit runs in a separate process: `pytest bench/test_peak_memory.py`.
"""

import pytest

from cases import LARGE, MEDIUM
from memory import MEBIBYTE, allowed, peak_of_fit


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", [MEDIUM, LARGE], ids=lambda case: case.name)
def test_peak_extra_memory_of_a_fit(report, case, dtype):
    peak, most = peak_of_fit(case, dtype), allowed(case, dtype)
    report(
        f"{case.name} {dtype}, peak memory",
        "1.15 (Q + R) + 64 MiB",
        f"{peak / most:.2f} of it",
        ours=f"{peak / MEBIBYTE:.0f} MiB",
        theirs=f"{most / MEBIBYTE:.0f} MiB",
        bar="≤ 1",
    )
