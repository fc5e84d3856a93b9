"""How many cases fuzzers try, and how often odd ones: some hundred in every run of the tests, the
same ones each time; with ``STAGENETS_FUZZ=10000`` that many, and new ones."""

import os

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

_ASKED_FOR = os.environ.get("STAGENETS_FUZZ")


def cases(divisor=1):
    """Settings for a fuzzer that tries one of so many cases."""
    return settings(
        max_examples=max(3, int(_ASKED_FOR or 120) // divisor),
        derandomize=not _ASKED_FOR,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def rarely(usual, odd):
    """One of the usual values, or in one of eight cases an odd one."""
    return st.integers(0, 7).flatmap(lambda die: st.sampled_from(odd if die == 0 else usual))
