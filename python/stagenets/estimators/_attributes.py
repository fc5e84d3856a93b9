"""Fitted attributes: properties of the fitted network under scikit-learn's naming convention."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagenets.fitting._fitted_network import FittedNetwork, Matrix


def _unknown(model: object, name: str, reason: str) -> AttributeError:
    return AttributeError(f"{type(model).__name__!r} object has no attribute {name!r}: {reason}")


def _recorded(name: str, reason: str) -> Any:
    """The attribute `name_`, read from the history; `reason` says why it may be missing."""

    def value(self: Any) -> Any:
        found = getattr(self._fitted(f"{name}_").history, name)
        if found is None:
            raise _unknown(self, f"{name}_", reason)
        return found

    return property(value)


_NO_STAGES = "a one-shot network has no stages"


class FittedAttributes:
    """Attributes of a fitted estimator, all read from its `network_`."""

    network_: FittedNetwork

    def _fitted(self, name: str) -> FittedNetwork:
        network: FittedNetwork | None = vars(self).get("network_")
        if network is None:
            raise _unknown(self, name, "it is not fitted yet")
        return network

    selected_ = _recorded("selected", "")
    objective_path_ = _recorded("objective_path", "")
    residual_path_ = _recorded("residual_path", "")
    units_path_ = _recorded("units_path", _NO_STAGES)
    best_iter_ = _recorded("best_iter", _NO_STAGES)
    unit_scores_ = _recorded("unit_scores", _NO_STAGES)
    pool_quantiles_ = _recorded("pool_quantiles", _NO_STAGES)
    loo_path_ = _recorded("loo_path", f"{_NO_STAGES}, and losses with a scale cannot be compared")
    loo_accuracy_path_ = _recorded(
        "loo_accuracy_path", "only guided classifiers have one, of one label"
    )
    validation_path_ = _recorded("validation_path", "early_stopping was not 'validation'")
    cv_path_ = _recorded("cv_path", "early_stopping was not True or 'cv'")

    @property
    def n_iter_(self) -> int:
        return self._fitted("n_iter_").history.n_iter

    @property
    def n_hidden_(self) -> int:
        return self._fitted("n_hidden_").core.n_units

    @property
    def feature_importances_(self) -> Matrix:
        found = self._fitted("feature_importances_").importances
        if found is None:
            raise _unknown(self, "feature_importances_", "they were not found when it was fitted")
        return found

    @property
    def readout_(self) -> Matrix:
        network = self._fitted("readout_")
        return network.readout[:, 0] if network.one_target else network.readout.T

    @property
    def readout_intercept_(self) -> Any:
        network = self._fitted("readout_intercept_")
        return float(network.intercept[0]) if network.one_target else network.intercept

    @property
    def hidden_weights_(self) -> Matrix:
        return self._fitted("hidden_weights_").layers[-1].weights

    @property
    def hidden_biases_(self) -> Matrix:
        return self._fitted("hidden_biases_").layers[-1].biases

    @property
    def hidden_ends_(self) -> NDArray[np.int64]:
        layer = self._fitted("hidden_ends_").layers[-1]
        return np.arange(1, len(layer.biases) + 1) if layer.ends is None else layer.ends


class ClassifierAttributes(FittedAttributes):
    """Further attributes of classifiers."""

    @property
    def classes_(self) -> NDArray[Any]:
        return np.asarray(self._fitted("classes_").classes)

    @property
    def temperature_(self) -> float | Matrix:
        return self._fitted("temperature_").temperature

    @property
    def thresholds_(self) -> Matrix:
        found = self._fitted("thresholds_").thresholds
        if found is None:
            raise _unknown(self, "thresholds_", "its samples have one label each")
        return found


class FeatureAttributes(FittedAttributes):
    """Further attributes of networks with feature nodes."""

    @property
    def feature_weights_(self) -> Matrix:
        return self._fitted("feature_weights_").layers[0].weights

    @property
    def feature_biases_(self) -> Matrix:
        return self._fitted("feature_biases_").layers[0].biases

    @property
    def feature_scales_(self) -> Matrix | None:
        return self._fitted("feature_scales_").layers[0].scales

    @property
    def feature_offsets_(self) -> Matrix | None:
        return self._fitted("feature_offsets_").layers[0].offsets
