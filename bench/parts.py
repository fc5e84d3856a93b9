"""Where the time of the timed fits goes, part by part.

    python bench/parts.py                        all cases, float64 and float32
    python bench/parts.py small wide --repeats 9

Percentages of the whole call: the parts that the core accounts for, the rest of the core's work
(the start, the readout and its path and, in the dual form, the factor) and the estimator around it.
Writes parts.md.
"""

from __future__ import annotations

import argparse
import os
import statistics

from cases import CASES
from report_tables import Row, add_output_option, markdown, write_markdown
from roofline import PARTS, profiled_fit


def shares(case_name: str, dtype: str, threads: int, repeats: int) -> Row:
    """One row of the table."""
    case = CASES[case_name]
    X, y = case.data(dtype)
    profiled_fit(case, X, y, threads)
    runs = [profiled_fit(case, X, y, threads) for _ in range(repeats)]
    median = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    seconds = {name: median[name] for name in PARTS}
    seconds["rest of the core"] = median["total"] - sum(seconds.values())
    seconds["estimator"] = median["wall"] - median["total"]
    row: Row = {"case": f"{case.name} {dtype}"}
    return row | {name: f"{100 * value / median['wall']:.0f}" for name, value in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", default=list(CASES), help=", ".join(CASES))
    add_output_option(parser)
    parser.add_argument("--dtypes", nargs="+", default=["float64", "float32"])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rows = [
        shares(name, dtype, options.threads, options.repeats)
        for name in options.cases
        for dtype in options.dtypes
    ]
    print(markdown(rows))
    note = (
        f"Per cent of the call to fit; {options.threads} threads, medians of {options.repeats} "
        "fits. In the dual form (wide), projecting and appending count towards the rest of the "
        "core. Made by `bench/parts.py`."
    )
    write_markdown(options.out / "parts.md", "Where the time goes", note, rows)


if __name__ == "__main__":
    main()
