"""What a fit on partitions can do: parameters not listed here must have their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stagenets.dask._blocks import is_frame
from stagenets.estimators._network import StagewiseNetwork
from stagenets.fitting._parameters import refusal
from stagenets.fitting._rows import categorical_columns

# Parameters that mean what they mean locally, whatever their value. Only "auto" stands for the
# usual penalty and the size by rule: cross-validation would need all rows in one place.
_ANY = frozenset(
    """
    n_hidden activation n_windows n_feature_nodes n_enhancement feature_activation
    enhancement_activation sparse_features alpha pool_size block_size score_fraction weight_scale
    fan_in extrapolate fit_intercept tol class_weight validation_fraction n_iter_no_change
    max_categories random_state n_jobs verbose callback
    """.split()
)
# Parameters of which some values do. A weight_init that is not a name is the caller's own.
_SOME: Mapping[str, tuple[Any, ...]] = {
    "loss": ("squared", "log"),
    "selection": ("residual", "joint", "random"),
    "weight_init": ("sparse", "uniform", "normal", "threshold", "leaf", "mixed"),
    "standardize": (False, True, "robust"),
    "solver": ("auto", "primal"),
    "early_stopping": (False, "loo", "validation"),
    "categorical_features": ("from_dtype", None),
}


def check_supported(model: StagewiseNetwork) -> None:
    """Refuse parameters that a fit on partitions would not follow."""
    defaults = type(model)().get_params()
    for name, value in model.get_params().items():
        if name in _ANY or (name == "weight_init" and not isinstance(value, str)):
            continue
        accepted = _SOME.get(name, (defaults[name],))
        if not any(_same(value, other) for other in accepted):
            raise refusal(name, value, f"{_in_words(accepted)} with Dask")


def check_columns(model: StagewiseNetwork, X: Any) -> None:
    """Refuse data frames with categorical columns, whose categories no partition knows alone."""
    if not is_frame(X):
        return
    names = [X.columns[j] for j in categorical_columns(model, X._meta)]
    if names:
        raise ValueError(
            f"X must have no categorical columns with Dask; got {names} (encode them as numbers, "
            "or give categorical_features=None if their categories are numbers)"
        )


def _same(value: Any, other: Any) -> bool:
    if isinstance(value, np.bool_):
        value = bool(value)
    return type(value) is type(other) and bool(value == other)


def _in_words(values: tuple[Any, ...]) -> str:
    *first, last = map(repr, values)
    return f"{', '.join(first)} or {last}" if first else last
