"""Regression on top of a network: one or several targets, centred inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from residuum._network import FLOAT_TYPES, FloatArray, StagewiseNetwork
from residuum._scikit_callbacks import tells_callbacks


class NetworkRegressor(RegressorMixin, StagewiseNetwork):
    """Regressor methods; the architecture comes from the other base."""

    @tells_callbacks
    def fit(self, X: Any, y: Any) -> NetworkRegressor:
        """Choose the hidden units and fit the readout.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs. float32 is computed in float32, everything else in float64.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; centred inside.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, dtype=FLOAT_TYPES, multi_output=True, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        means = y.mean(axis=0)
        readout = self._fit(X, (y - means).reshape(len(y), -1), None)
        self._path["start"][-1] += means
        coef, intercept = readout[:-1].T, readout[-1] + means
        self.coef_ = coef if y.ndim == 2 else coef[0].copy()
        self.intercept_ = intercept if y.ndim == 2 else float(intercept[0])
        return self

    def _predictions(self, scores: FloatArray) -> FloatArray:
        return scores if np.ndim(self.coef_) == 2 else scores[:, 0]

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
