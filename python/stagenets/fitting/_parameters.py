"""Parameter checks: every message names the parameter, the accepted values and the one given."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from stagenets import _core

ACTIVATIONS = ("sigmoid", "tanh", "relu", "sine", "selu", "tribas", "radbas", "identity")
SELECTIONS = ("residual", "joint", "random")
SOLVERS = ("auto", "primal", "dual")
# Families whose units depend on the training rows, and the others.
ROW_FAMILIES = ("threshold", "leaf", "mixed")
ROWLESS_FAMILIES = ("uniform", "normal", "sparse")
WEIGHT_FAMILIES = ROWLESS_FAMILIES + ROW_FAMILIES


def refusal(name: str, value: object, accepted: str) -> ValueError:
    """An error that names a parameter, the accepted values and the one given."""
    plain = value.item() if isinstance(value, np.generic) else value
    return ValueError(f"{name} must be {accepted}; got {plain!r}")


def check_count(name: str, value: Any, *, minimum: int = 1) -> int:
    """An integer of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise refusal(name, value, f"an integer of at least {minimum}")
    return _within_64_bits(name, int(value))


def check_size(name: str, value: Any, *, automatic: int) -> int:
    """A number of units; `automatic` if the value is "auto"."""
    if is_auto(value):
        return automatic
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise refusal(name, value, "an integer of at least 1 or 'auto'")
    return _within_64_bits(name, int(value))


def _within_64_bits(name: str, value: int) -> int:
    """The core counts in signed 64-bit integers."""
    if value >= 2**63:
        raise refusal(name, value, "below 2**63")
    return value


def check_number(name: str, value: Any, *, positive: bool = False) -> float:
    """A finite number that is not negative, or is greater than zero if `positive`."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not math.isfinite(value) or value < 0 or (positive and value == 0):
        raise refusal(name, value, f"a finite number {'> 0' if positive else '>= 0'}")
    return float(value)


def check_fraction(name: str, value: Any) -> float:
    """A number in (0, 1]."""
    if check_number(name, value, positive=True) > 1:
        raise refusal(name, value, "a number in (0, 1]")
    return float(value)


def check_score_fraction(value: Any) -> float:
    """The share of the samples on which candidates are scored."""
    if is_auto(value):
        return _core.ENOUGH_ROWS
    if isinstance(value, str):
        raise refusal("score_fraction", value, "a number in (0, 1] or 'auto'")
    return check_fraction("score_fraction", value)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """One of the given choices."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise refusal(name, value, "one of " + ", ".join(map(repr, choices)))
    return value


def check_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise refusal(name, value, "True or False")
    return bool(value)


def check_scaling(standardize: Any) -> str:
    """The core's name for how inputs are scaled."""
    if isinstance(standardize, str) and standardize in ("robust", "common"):
        return standardize
    if not isinstance(standardize, (bool, np.bool_)):
        raise refusal("standardize", standardize, "True, False, 'robust' or 'common'")
    return "deviation" if standardize else "none"


def check_pool(pool_size: Any, block_size: Any, samples: int) -> tuple[int, int]:
    """Sizes of a pool and a block, the pool being at least as large.

    With many samples a stage takes long, but candidates cost little, since they are scored on some
    of the samples only: there "auto" stands for large pools and blocks that grow with the network
    (docs/study/defaults.md).
    """
    many = samples > _core.MANY_ROWS
    block = check_size("block_size", block_size, automatic=_core.GROWING if many else 1)
    pool = check_size("pool_size", pool_size, automatic=max(block, 400 if many else 100))
    if pool < block:
        raise refusal("pool_size", pool_size, f"at least block_size ({block})")
    return pool, block


def is_one_shot(selection: Any) -> bool:
    """Whether units are kept as they are drawn, without stages."""
    return check_choice("selection", selection, SELECTIONS) == "random"


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to the fit."""
    return isinstance(value, str) and value == "auto"


def check_penalty(
    alpha: Any, solver: Any, loss: str = "squared", usual: float = 1.0
) -> tuple[float, str]:
    """A penalty, the usual one if it is "auto", and a form of ridge problem that supports it."""
    if isinstance(alpha, str) and not is_auto(alpha):
        raise refusal("alpha", alpha, "a number >= 0 or 'auto'")
    penalty = usual if is_auto(alpha) else check_number("alpha", alpha)
    form = check_choice("solver", solver, SOLVERS)
    if penalty == 0 and loss != "squared":
        raise refusal("alpha", alpha, f"> 0 with loss={loss!r}")
    if form == "dual" and loss != "squared":
        raise refusal("solver", solver, f"'auto' or 'primal' with loss={loss!r}")
    if penalty == 0 and form == "dual":
        raise refusal("alpha", alpha, "> 0 with solver='dual'")
    return penalty, form


def seed_of(random_state: Any) -> int:
    """The 64-bit key of the draws: an integer as it is, or one drawn from the random state."""
    accepted = "None, a numpy RandomState or an integer with 0 <= random_state < 2**64"
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if not 0 <= int(random_state) < 2**64:
            raise refusal("random_state", random_state, accepted)
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    except ValueError as error:
        raise refusal("random_state", random_state, accepted) from error


def contiguous(X: Any) -> Any:
    """X itself if its rows or its columns are contiguous and aligned, otherwise such a copy.

    Sparse rows are those of the caller too, unless entries are out of order or there are several
    for one place.
    """
    if issparse(X):
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X
    if X.flags.aligned and (X.flags.c_contiguous or X.flags.f_contiguous):
        return X
    return np.require(X, requirements=["C", "A"])
