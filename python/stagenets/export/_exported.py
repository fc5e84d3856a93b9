"""What can be exported: a fitted estimator, or the best one found by a search."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from stagenets.estimators._network import StagewiseNetwork
from stagenets.fitting._fitted_network import FittedNetwork


def network_in(model: Any) -> FittedNetwork:
    """The network of a fitted estimator, or of the best estimator found by a search."""
    model = getattr(model, "best_estimator_", model)
    if not isinstance(model, StagewiseNetwork):
        raise ValueError(
            f"model must be a stagenets estimator or a fitted search over one; got {model!r}"
        )
    check_is_fitted(model)
    return model.network_
