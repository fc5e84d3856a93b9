"""Shared by the displays: matplotlib on demand, and the network inside an estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from stagenets.estimators._network import StagewiseNetwork

OBJECTIVE_COLOR, RESIDUAL_COLOR, CV_COLOR, VALIDATION_COLOR = "C0", "C1", "C2", "C3"


def pyplot(display: object) -> Any:
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        name = type(display).__name__
        raise ImportError(f"{name} needs matplotlib: pip install 'stagenets[plot]'") from error
    return plt


def axes_or_new(display: object, ax: Any, size: tuple[float, float]) -> Any:
    """The Axes given, or those of a new figure."""
    if ax is not None:
        return ax
    return pyplot(display).subplots(figsize=size, layout="constrained")[1]


def network_of(estimator: Any) -> tuple[StagewiseNetwork, Callable[[Any], Any]]:
    """The fitted network inside an estimator, and the function that prepares inputs for it.

    For a search this is its best model, for a Pipeline its last step.
    """
    check_is_fitted(estimator)
    if hasattr(estimator, "best_estimator_"):
        return network_of(estimator.best_estimator_)
    if isinstance(estimator, Pipeline):
        network, prepare = network_of(estimator[-1])
        steps = estimator[:-1]
        return network, lambda X: prepare(steps.transform(X) if len(steps) else X)
    if isinstance(estimator, StagewiseNetwork):
        return estimator, lambda X: X
    raise TypeError(
        "estimator must be a fitted stagenets estimator, or a Pipeline or search that ends in one; "
        f"got {estimator!r}"
    )


def units_by_stage(network: StagewiseNetwork) -> NDArray[np.int64]:
    """Number of units before the first stage and after each one, including discarded stages."""
    if hasattr(network, "units_path_"):
        return np.asarray(network.units_path_)
    stages = np.arange(network.n_iter_ + 1)
    return np.asarray(np.searchsorted(network.selected_[:, 0], stages))
