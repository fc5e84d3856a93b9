"""Classification on top of a network: one or several labels, scores, probabilities."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import column_or_1d

from stagenets import _core
from stagenets.estimators._attributes import ClassifierAttributes
from stagenets.estimators._network import StagewiseNetwork
from stagenets.fitting._few_labels import labelled_first, with_placeholders, without_label
from stagenets.fitting._fitted_network import FloatArray
from stagenets.fitting._labels import ClassNumbers, CodedLabels, dense_labels
from stagenets.fitting._rows import Rows, checked_rows
from stagenets.fitting._scikit_callbacks import tells_callbacks
from stagenets.fitting._streaming import can_stream, check_stream
from stagenets.fitting._unchanged import unchanged_on_failure
from stagenets.fitting._weights import (
    checked_weights,
    core_class_weights,
    core_label_weights,
    with_weight,
)


class NetworkClassifier(ClassifierAttributes, ClassifierMixin, StagewiseNetwork):
    """Classifier methods; the architecture comes from the other base class."""

    _losses = ("squared", "log", "bounded")
    _like: ClassVar[dict[str, str]] = {"log": "log", "bounded": "log"}
    _defaults: ClassVar[dict[str, Any]] = {"loss": "log"}
    _more_parameters: ClassVar[dict[str, Any]] = {"class_weight": None}

    class_weight: Mapping[Any, float] | str | None = None

    if TYPE_CHECKING:  # `documented` adds the parameter to those of the architecture

        def __init__(
            self, *, class_weight: Mapping[Any, float] | str | None = None, **parameters: Any
        ) -> None: ...

    _interval_kinds = ("cv",)

    @tells_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> NetworkClassifier:
        """Choose the hidden units and fit the readout.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training inputs, NaN where they are missing; sparse ones must be complete and are not
            filled in, here and in predictions. Computations are in float32 for float32 inputs,
            otherwise in float64.
        y : array-like of shape (n_samples,), or array-like or sparse matrix of shape \
(n_samples, n_labels)
            Classes; or, for samples with several labels, zeros and ones that say which they have.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples. A sample of weight 3 counts as three equal samples in every
            respect, and one of weight 0 is left out; see the manual on what that means.
        groups : array-like of shape (n_samples,), optional
            Groups of samples that early stopping and ``intervals="cv"`` must not divide: the
            samples of a group are either all fitted or all set aside.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            missing = without_label(self, y)
            rows, y = checked_rows(self, X, with_placeholders(y, missing), multi_output=True)
            y = dense_labels(y)
            weights = checked_weights(sample_weight, len(rows))
            weights, rows, y, groups, missing = with_weight(weights, rows, y, groups, missing)
            rows, y, weights, groups = labelled_first(self, missing, rows, y, weights, groups)
            encoding = self._encoding(rows, weights)
            coded = CodedLabels.of(y)
            self.network_ = self._fitted_network(
                encoding.inputs(rows),
                coded.targets,
                coded.numbers,
                weights,
                groups,
                classes=coded.classes,
                encoding=encoding,
            )
        return self

    def _class_weights(
        self, classes: NDArray[Any] | None, several_labels: bool
    ) -> _core.ClassWeights:
        if several_labels:
            return core_label_weights(self.class_weight, classes)
        return core_class_weights(self.class_weight, classes)

    @available_if(can_stream)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, *, forgetting: float = 1.0, grow: int = 0
    ) -> NetworkClassifier:
        """Take in a batch of samples.

        The first batch chooses the hidden units and the scaling of the inputs. With every batch the
        readout becomes that of a fit of these units to all samples so far; no sample is kept. The
        first batch should be large enough to choose units on. `temperature_`, `thresholds_` and
        attributes that describe the fit are those of the first batch. After `fit`, and in a model
        read from a file, a batch is the first one. Requires ``loss="squared"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs of the batch.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Classes of the batch, or zeros and ones for several labels, as in `fit`.
        classes : array-like of shape (n_classes,), optional
            All classes that any batch will have; by default, those of the first batch. May be left
            out, or repeated, after the first batch. A class that was not announced is refused. Not
            needed with several labels.
        forgetting : float, default=1.0
            Factor, above 0 and up to 1, by which the weight of all earlier samples is multiplied
            before the batch is added.
        grow : int, default=0
            Number of hidden units that a batch after the first adds (RVFL and ELM), chosen by what
            the network leaves unexplained of it. As earlier samples are gone, their values of the
            new units are taken to be what the old columns predict of them in this batch.
            `selected_` refers to pools of the seed ``random_state`` plus the number of units
            before.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from stagenets import RVFLClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = RVFLClassifier(n_hidden=100, loss="squared", random_state=0)
        >>> for first in range(0, 1500, 300):
        ...     batch = slice(first, first + 300)
        ...     model = model.partial_fit(X[batch], y[batch], classes=range(10))
        >>> bool(model.score(X[1500:], y[1500:]) > 0.85)
        True
        """
        with unchanged_on_failure(self):
            reset = check_stream(self)
            rows, y = self._checked_batch(X, y, first=reset)
            known = None if reset else self.classes_
            if classes is not None:
                given = np.unique(column_or_1d(np.asarray(classes)))
                if known is not None and not np.array_equal(known, given):
                    raise ValueError(
                        f"classes must be those of the first batch, {known.tolist()}; got "
                        f"{given.tolist()}"
                    )
                if len(given) < 2:
                    raise ValueError(f"classes must be at least two; got {given.tolist()}")
                known = given
            if not reset and (y.ndim == 2) != (self.network_.thresholds is not None):
                raise ValueError(
                    "y must have one label per sample, or several, as in the first batch; got "
                    f"shape {y.shape}"
                )
            self._take_batch(rows, y, known, forgetting, grow)
        return self

    def _checked_batch(
        self, X: Any, y: Any, *, first: bool, categorical: Collection[int] | None = None
    ) -> tuple[Rows, NDArray[Any]]:
        rows, y = checked_rows(self, X, y, reset=first, categorical=categorical, multi_output=True)
        return rows, dense_labels(y)

    def _kinds_of(self, y: Any, known: Any) -> Any:
        """The classes so far, or the numbers of the labels."""
        if y.ndim == 2:
            return CodedLabels.of(y, known).classes
        return np.unique(y) if known is None else np.union1d(known, y)

    def _targets_of(
        self, y: Any, known: Any
    ) -> tuple[_core.Targets, ClassNumbers | None, dict[str, Any]]:
        coded = CodedLabels.of(y, known)
        return coded.targets, coded.numbers, {"classes": coded.classes}

    def _decisions(self, scores: FloatArray) -> FloatArray:
        thresholds = self.network_.thresholds
        if thresholds is not None:
            return np.asarray(scores - thresholds)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _labels(self, scores: FloatArray) -> NDArray[Any]:
        if self.network_.thresholds is not None:
            return np.asarray(self._decisions(scores) > 0).astype(np.int64)
        return np.asarray(self.classes_[np.argmax(scores, axis=1)])

    def decision_function(self, X: Any) -> FloatArray:
        """Score of every class; for two classes, the score of the second minus that of the first.

        With several labels, the score of every label less its threshold: above zero, it is
        predicted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._decisions(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with the highest score, or all labels that are likelier than not.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
        """
        return self._labels(self._scores(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities, softmax(temperature_ · scores).

        With several labels, the probability of each one by itself, which is the logistic function
        of ``temperature_ * (scores - thresholds_)``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples, n_labels)
        """
        scores = self._scores(X).astype(np.float64, copy=False)
        if self.network_.thresholds is not None:
            return np.asarray(expit(self.temperature_ * self._decisions(scores)))
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
        if self.network_.thresholds is not None:
            return np.asarray(log_expit(self.temperature_ * self._decisions(scores)))
        return np.asarray(log_softmax(self.temperature_ * scores, axis=1))

    def predict_set(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Sets of classes that hold the right one with a given probability.

        A set has every class whose probability is not less than that which right classes have had,
        but for a fraction ``1 - coverage`` of the samples, in networks built without them; and the
        likeliest class in any case. Requires ``intervals="cv"``. Where samples are easy sets have
        one class, where they are hard several: the coverage holds on average.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.9
            Probability that the right class is in the set, between 0 and 1.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from stagenets import RVFLClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = RVFLClassifier(n_hidden=20, intervals="cv", random_state=0).fit(X, y)
        >>> model.predict_set(X[[0, 70]], coverage=0.99).shape
        (2, 3)
        """
        error = self._uncertainty().quantile(coverage)[0]
        probabilities = self.predict_proba(X)
        likeliest = probabilities == probabilities.max(axis=1, keepdims=True)
        return np.asarray((1 - probabilities <= error) | likeliest)

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Scores, as in `decision_function`, before the first unit and after each stage.

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
