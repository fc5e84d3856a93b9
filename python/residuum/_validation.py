"""Checks of parameters: every message names the argument, the value and what would be accepted."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

ACTIVATIONS = ("sigmoid", "tanh", "relu", "sine", "selu", "tribas", "radbas", "identity")
SELECTIONS = ("residual", "joint", "random")
SOLVERS = ("auto", "primal", "dual")
WEIGHT_FAMILIES = ("uniform", "normal", "sparse")


def _refuse(name: str, value: object, accepted: str) -> ValueError:
    return ValueError(f"{name} must be {accepted}; got {value!r}")


def check_count(name: str, value: Any, *, minimum: int = 1) -> int:
    """An integer of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise _refuse(name, value, f"an integer of at least {minimum}")
    return int(value)


def check_number(name: str, value: Any, *, positive: bool = False) -> float:
    """A finite number that is not negative, or not zero either if `positive`."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not math.isfinite(value) or value < 0 or (positive and value == 0):
        raise _refuse(name, value, f"a finite number {'> 0' if positive else '>= 0'}")
    return float(value)


def check_fraction(name: str, value: Any) -> float:
    """A number in (0, 1]."""
    if check_number(name, value, positive=True) > 1:
        raise _refuse(name, value, "a number in (0, 1]")
    return float(value)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """One of a few words."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise _refuse(name, value, "one of " + ", ".join(map(repr, choices)))
    return value


def check_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise _refuse(name, value, "True or False")
    return bool(value)


def check_pool(pool_size: Any, block_size: Any) -> tuple[int, int]:
    """A pool that holds at least one block."""
    block = check_count("block_size", block_size)
    pool = check_count("pool_size", pool_size)
    if pool < block:
        raise _refuse("pool_size", pool_size, f"at least block_size ({block})")
    return pool, block


def check_penalty(alpha: Any, solver: Any) -> tuple[float, str]:
    """A penalty and a form of the ridge problem that exists for it."""
    penalty = check_number("alpha", alpha)
    form = check_choice("solver", solver, SOLVERS)
    if penalty == 0 and form == "dual":
        raise _refuse("alpha", alpha, "> 0 with solver='dual'")
    return penalty, form


def seed_of(random_state: Any) -> int:
    """The 64-bit key of the draws: an integer is its own key, anything else yields one."""
    accepted = "None, a numpy RandomState or an integer with 0 <= random_state < 2**64"
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if not 0 <= int(random_state) < 2**64:
            raise _refuse("random_state", random_state, accepted)
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    except ValueError as error:
        raise _refuse("random_state", random_state, accepted) from error


def contiguous(X: NDArray[Any]) -> NDArray[Any]:
    """X itself if its rows or its columns are contiguous, else a copy that is."""
    if X.flags.c_contiguous or X.flags.f_contiguous:
        return X
    return np.ascontiguousarray(X)
