"""Regression on top of a network: one or several targets, standardised internally."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from stagenets import _core
from stagenets.estimators._network import FLOAT_TYPES, StagewiseNetwork, unchanged_on_failure
from stagenets.fitting._fitted_network import FloatArray
from stagenets.fitting._scikit_callbacks import tells_callbacks
from stagenets.fitting._weights import checked_weights, with_weight


class NetworkRegressor(RegressorMixin, StagewiseNetwork):
    """Regressor methods; the architecture comes from the other base class."""

    @tells_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> NetworkRegressor:
        """Choose the hidden units and fit the readout.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs. Computations are in float32 for float32 inputs, otherwise in float64.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; each is standardised internally, so that their units do not matter.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples. A sample of weight 3 counts as three equal samples in every
            respect, and one of weight 0 is left out; see the manual on what that means.
        groups : array-like of shape (n_samples,), optional
            Groups of samples that early stopping must not divide: the samples of a group are either
            all fitted or all set aside.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            X, y = validate_data(self, X, y, dtype=FLOAT_TYPES, multi_output=True, y_numeric=True)
            weights = checked_weights(sample_weight, len(X))
            weights, X, y, groups = with_weight(weights, X, y, groups)
            y = np.asarray(y, dtype=np.float64)
            targets = _core.Targets.numbers(y.reshape(len(y), -1))
            self.network_ = self._fitted_network(
                X, targets, None, weights, groups, one_target=y.ndim == 1
            )
        return self

    def _predictions(self, scores: FloatArray) -> FloatArray:
        return scores[:, 0] if self.network_.one_target else scores

    def predict(self, X: Any) -> FloatArray:
        """Predicted targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._predictions(self._scores(X))

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """Predictions before the first unit and after each stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        for scores in self._staged_scores(X):
            yield self._predictions(scores)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
