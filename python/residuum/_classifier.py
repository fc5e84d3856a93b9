"""Classification on top of a network: one-hot targets, scores, probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from residuum._network import FLOAT_TYPES, FloatArray, StagewiseNetwork
from residuum._scikit_callbacks import tells_callbacks


def classes_and_labels(y: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes of y, in order, and which of them each sample has."""
    check_classification_targets(y)
    classes, labels = np.unique(column_or_1d(y), return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least two classes; got one class, {classes[0]!r}")
    return classes, labels.astype(np.int64)


def one_hot(labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """A column a class: 1 where the sample has it."""
    targets = np.zeros((len(labels), labels.max() + 1), order="F")
    targets[np.arange(len(labels)), labels] = 1.0
    return targets


class NetworkClassifier(ClassifierMixin, StagewiseNetwork):
    """Classifier methods; the architecture comes from the other base."""

    @tells_callbacks
    def fit(self, X: Any, y: Any) -> NetworkClassifier:
        """Choose the hidden units and fit the readout.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs. float32 is computed in float32, everything else in float64.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, dtype=FLOAT_TYPES)
        classes, labels = classes_and_labels(y)
        readout = self._fit(X, one_hot(labels), labels)
        self.classes_ = classes
        self.coef_ = readout[:-1].T
        self.intercept_ = readout[-1].copy()
        self.temperature_ = self._temperature
        return self

    def _decisions(self, scores: FloatArray) -> FloatArray:
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _labels(self, scores: FloatArray) -> NDArray[Any]:
        return np.asarray(self.classes_[np.argmax(scores, axis=1)])

    def decision_function(self, X: Any) -> FloatArray:
        """Score of every class; with two classes, that of the second minus that of the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._decisions(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with the highest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._labels(self._scores(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities, softmax(temperature_ · scores).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X).astype(np.float64, copy=False)
        return np.asarray(softmax(self.temperature_ * scores, axis=1))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X).astype(np.float64, copy=False)
        return np.asarray(log_softmax(self.temperature_ * scores, axis=1))

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Scores before the first unit and after each stage, as `decision_function` gives them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        for scores in self._staged_scores(X):
            yield self._decisions(scores)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predicted classes before the first unit and after each stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        for scores in self._staged_scores(X):
            yield self._labels(scores)
