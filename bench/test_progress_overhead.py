"""The cost of watching a fit: progress and callbacks against a silent fit; the target is 2 %.

Lines go to a file that claims to be a terminal, so that `verbose=1` draws its live line.
"""

import os
from contextlib import contextmanager, redirect_stderr

import pytest

from cases import MEDIUM, SMALL


@contextmanager
def unseen_terminal():
    with open(os.devnull, "w") as terminal:
        terminal.isatty = lambda: True
        with redirect_stderr(terminal):
            yield


@pytest.mark.parametrize("case", [SMALL, MEDIUM], ids=lambda case: case.name)
def test_watched_fit_against_a_silent_one(race, report, long, case):
    X, y = case.data()
    watched = {
        "silent": {},
        "live line": {"verbose": 1},
        "one line per stage": {"verbose": 2},
        "callback": {"callback": lambda info: None},
    }
    networks = {name: case.network(**params) for name, params in watched.items()}
    with unseen_terminal():
        rivals = {name: lambda each=each: each.fit(X, y) for name, each in networks.items()}
        timings = race(f"{case.name}, progress", rivals, 25 if long else 7)
    for name in ("live line", "one line per stage", "callback"):
        # The best runs: noise from a busy machine is larger than the overhead measured here.
        extra = timings.best_ratio(name, "silent") - 1
        report(f"{case.name}, progress", name, f"{extra:+.2%}", bar="≤ 2 %")
