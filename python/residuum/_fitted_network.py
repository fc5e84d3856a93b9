"""What prediction needs of a fitted estimator, as plain arrays: the basis of all exports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from residuum._bls import BroadNetwork
from residuum._classifier import NetworkClassifier
from residuum._network import StagewiseNetwork
from residuum._validation import ACTIVATIONS, check_choice

Matrix = NDArray[np.float64]

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


@dataclass(frozen=True)
class Layer:
    """Units φ(x·W + b)."""

    weights: Matrix
    biases: Matrix
    activation: str


@dataclass(frozen=True)
class FeatureLayer(Layer):
    """Units scaled to [-1, 1]."""

    scales: Matrix
    offsets: Matrix


@dataclass(frozen=True)
class FittedNetwork:
    """scores = [x' if linked, hidden(x')] · coefᵀ + intercept, with x' = x or features(x)."""

    n_inputs: int
    features: FeatureLayer | None
    hidden: Layer
    linked: bool
    coef: Matrix
    intercept: Matrix
    one_target: bool
    classes: NDArray[Any] | None
    temperature: float
    feature_names: list[str]

    @classmethod
    def of(cls, model: Any) -> FittedNetwork:
        """The network of an estimator, or of the best estimator that a search has found."""
        model = getattr(model, "best_estimator_", model)
        if not isinstance(model, StagewiseNetwork):
            raise ValueError(
                f"model must be an estimator of residuum, or a fitted search for one; got {model!r}"
            )
        check_is_fitted(model)
        coef = np.atleast_2d(model.coef_)
        classifier = isinstance(model, NetworkClassifier)
        return cls(
            n_inputs=model.n_features_in_,
            features=_features(model),
            hidden=Layer(model.hidden_weights_, model.hidden_biases_, _hidden_activation(model)),
            linked=model._architecture != "elm",
            coef=coef,
            intercept=np.reshape(model.intercept_, len(coef)),
            one_target=np.ndim(model.coef_) == 1,
            classes=model.classes_ if classifier else None,
            temperature=float(model.temperature_) if classifier else 1.0,
            feature_names=[str(name) for name in getattr(model, "feature_names_in_", [])],
        )


def _features(model: StagewiseNetwork) -> FeatureLayer | None:
    if not isinstance(model, BroadNetwork):
        return None
    return FeatureLayer(
        model.feature_weights_,
        model.feature_biases_,
        check_choice("feature_activation", model.feature_activation, ACTIVATIONS),
        model.feature_scales_,
        model.feature_offsets_,
    )


def _hidden_activation(model: Any) -> str:
    name = "enhancement_activation" if isinstance(model, BroadNetwork) else "activation"
    return check_choice(name, getattr(model, name), ACTIVATIONS)
