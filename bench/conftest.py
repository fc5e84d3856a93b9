"""The benchmarks' options, fixtures and table of ratios.

pytest bench                               the short set
pytest bench --long                        everything
pytest bench --data DIR                    folder of UCI data as NAME.npz files (X, y)
pytest bench --table FILE                  append the ratios to FILE as a Markdown table
pytest bench --benchmark-save=NAME         save this run
pytest bench --benchmark-compare           compare with the last saved run
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import stagenets
from report_tables import markdown
from timing import Timings, rest, run_round


@dataclass(frozen=True)
class Row:
    """A line of the table printed at the end: a measured figure and its target, if there is one."""

    what: str
    rival: str
    ours: str
    theirs: str
    figure: str
    bar: str


ROWS = pytest.StashKey[list[Row]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("stagenets benchmarks")
    group.addoption("--long", action="store_true", help="run the long benchmarks too")
    group.addoption(
        "--data",
        metavar="DIR",
        default=os.environ.get("STAGENETS_DATA"),
        help="folder of UCI data as NAME.npz (default: STAGENETS_DATA)",
    )
    group.addoption("--table", metavar="FILE", help="append the ratios to FILE, in Markdown")


def pytest_configure(config: pytest.Config) -> None:
    if not config.pluginmanager.hasplugin("benchmark"):
        raise pytest.UsageError(
            "the benchmarks need pytest-benchmark: pip install stagenets[bench]"
        )
    config.stash[ROWS] = []
    config.addinivalue_line("markers", "long: runs with --long only")
    # Its warnings (nothing to compare with, another machine) should not fail the run. Some are
    # issued while pytest is being configured, too early for filters added to the settings.
    warning = "pytest_benchmark.logger.PytestBenchmarkWarning"
    config.addinivalue_line("filterwarnings", f"default::{warning}")
    warnings.filterwarnings("default", category=pytest.PytestWarning)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="a long benchmark; runs with --long"))


@pytest.fixture
def long(request: pytest.FixtureRequest) -> bool:
    """Whether the long benchmarks run."""
    return bool(request.config.getoption("--long"))


@pytest.fixture
def data_folder(request: pytest.FixtureRequest) -> Path:
    """The folder of UCI data; skips if none is given."""
    folder = request.config.getoption("--data")
    if folder is None:
        pytest.skip("needs UCI data: --data DIR or STAGENETS_DATA")
    return Path(folder)


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Callable[..., None]:
    """report(what, rival, figure, …) adds a line to the table printed at the end."""
    rows = request.config.stash[ROWS]

    def add(
        what: str, rival: str, figure: str, *, ours: str = "", theirs: str = "", bar: str = ""
    ) -> None:
        rows.append(Row(what, rival, ours, theirs, figure, bar))

    return add


@pytest.fixture
def race(benchmark: Any, report: Callable[..., None]) -> Callable[..., Timings]:
    """race(what, rivals, repeats): interleaved runs; the first rival is ours.

    pytest-benchmark times ours and runs the others as the set-up of each of its rounds. This
    interleaves them, and `--benchmark-save` stores our times together with the ratios.
    """

    def run(
        what: str,
        rivals: Mapping[str, Callable[[], Any]],
        repeats: int,
        *,
        bars: Mapping[str, float | None] | None = None,
        most: Mapping[str, int] | None = None,
        warm_up: bool = True,
        calls: int = 1,
    ) -> Timings:
        ours, *others = rivals
        timings, round_ = Timings(), iter(range(repeats))
        if warm_up:
            for call in rivals.values():
                call()

        def run_others() -> None:
            turn = {name: rivals[name] for name in others}
            run_round(timings, turn, next(round_, 0), most or {}, calls)
            rest()

        benchmark.pedantic(
            lambda: timings.run(ours, rivals[ours], calls), setup=run_others, rounds=repeats
        )
        for name in others:
            ratio, bar = timings.ratio(name, ours), (bars or {}).get(name)
            benchmark.extra_info[f"ratio to {name}"] = ratio
            report(
                what,
                name,
                f"{ratio:.2f}×",
                ours=seconds(timings.median(ours)),
                theirs=seconds(timings.median(name)),
                bar=f"≥ {bar:g}×" if bar else "",
            )
        return timings

    return run


def seconds(value: float) -> str:
    return f"{value:.3f} s" if value >= 0.1 else f"{value * 1e3:.2f} ms"


def aligned(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    rows = config.stash.get(ROWS, [])
    if not rows:
        return
    terminalreporter.section("ratios (medians of interleaved runs; rival : stagenets)")
    head = ("case", "rival", "stagenets", "rival's", "measured", "bar")
    cells = [(r.what, r.rival, r.ours, r.theirs, r.figure, r.bar) for r in rows]
    for line in aligned([head, *cells]):
        terminalreporter.write_line(line)
    if config.getoption("--table"):
        lines = [dict(zip(head, row, strict=True)) for row in cells]
        with open(config.getoption("--table"), "a", encoding="utf-8") as file:
            file.write(markdown(lines) + "\n")
    terminalreporter.write_line(f"stagenets {stagenets.__version__}, {os.cpu_count()} cores")
