"""Regression on top of a network: one or several targets, standardised internally."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from stagenets import _core
from stagenets.estimators._network import StagewiseNetwork
from stagenets.fitting._few_labels import labelled_first, with_placeholders, without_label
from stagenets.fitting._fitted_network import FloatArray, Matrix
from stagenets.fitting._parameters import check_flag
from stagenets.fitting._rows import Rows, checked_rows
from stagenets.fitting._scikit_callbacks import tells_callbacks
from stagenets.fitting._streaming import can_stream, check_stream
from stagenets.fitting._threads import effective_threads
from stagenets.fitting._unchanged import unchanged_on_failure
from stagenets.fitting._weights import checked_weights, with_weight


class NetworkRegressor(RegressorMixin, StagewiseNetwork):
    """Regressor methods; the architecture comes from the other base class."""

    _losses = ("squared", "huber", "bounded")
    _like: ClassVar[dict[str, str]] = {"huber": "squared", "bounded": "squared"}

    @tells_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> NetworkRegressor:
        """Choose the hidden units and fit the readout.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training inputs, NaN where they are missing; sparse ones must be complete and are not
            filled in, here and in predictions. Computations are in float32 for float32 inputs,
            otherwise in float64.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; each is standardised internally, so that their units do not matter.
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
            y = with_placeholders(y, missing)
            rows, y = checked_rows(self, X, y, multi_output=True, y_numeric=True)
            weights = checked_weights(sample_weight, len(rows))
            weights, rows, y, groups, missing = with_weight(weights, rows, y, groups, missing)
            rows, y, weights, groups = labelled_first(self, missing, rows, y, weights, groups)
            encoding = self._encoding(rows, weights)
            y = np.asarray(y, dtype=np.float64)
            targets = _core.Targets.numbers(y.reshape(len(y), -1))
            self.network_ = self._fitted_network(
                encoding.inputs(rows),
                targets,
                None,
                weights,
                groups,
                one_target=y.ndim == 1,
                encoding=encoding,
            )
        return self

    @available_if(can_stream)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, *, forgetting: float = 1.0, grow: int = 0
    ) -> NetworkRegressor:
        """Take in a batch of samples.

        The first batch chooses the hidden units, and the scaling of inputs and targets. With every
        batch the readout becomes that of a fit of these units to all samples so far; no sample is
        kept. The first batch should be large enough to choose units on. The attributes that
        describe the fit are those of the first batch. After `fit`, and in a model read from a
        file, a batch is the first one. Requires ``loss="squared"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs of the batch.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets of the batch.
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
        >>> import numpy as np
        >>> from stagenets import RVFLRegressor
        >>> rng = np.random.default_rng(0)
        >>> model = RVFLRegressor(n_hidden=20, random_state=0)
        >>> for batch in range(10):
        ...     X = rng.uniform(-1, 1, size=(50, 2))
        ...     model = model.partial_fit(X, X[:, 0] * X[:, 1])
        >>> model.n_hidden_
        20
        """
        with unchanged_on_failure(self):
            reset = check_stream(self)
            rows, y = self._checked_batch(X, y, first=reset)
            known = None
            if not reset:
                known = () if self.network_.one_target else (self.network_.n_outputs,)
            self._take_batch(rows, y, known, forgetting, grow)
        return self

    def _checked_batch(
        self, X: Any, y: Any, *, first: bool, categorical: Collection[int] | None = None
    ) -> tuple[Rows, Matrix]:
        checks = {"multi_output": True, "y_numeric": True}
        rows, y = checked_rows(self, X, y, reset=first, categorical=categorical, **checks)
        return rows, np.asarray(y, dtype=np.float64)

    def _kinds_of(self, y: Any, known: Any) -> Any:
        """The shape of a sample's targets, which is that of the first batch."""
        if known is not None and y.shape[1:] != known:
            raise ValueError(
                f"y must have shape {(len(y), *known)}, like that of the first batch; got {y.shape}"
            )
        return y.shape[1:]

    def _targets_of(self, y: Any, known: Any) -> tuple[_core.Targets, None, dict[str, Any]]:
        self._kinds_of(y, known)
        return _core.Targets.numbers(y.reshape(len(y), -1)), None, {"one_target": y.ndim == 1}

    def _predictions(self, scores: FloatArray) -> FloatArray:
        return scores[:, 0] if self.network_.one_target else scores

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predicted targets, and how much samples scatter around them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return standard deviations as well: those of the posterior of the readout,
            with the noise that makes the training targets likeliest. They take the units as given,
            and are too small where many units were chosen on few samples; `predict_interval` is
            not, with ``intervals="cv"``. Requires `intervals`.

        Returns
        -------
        prediction : ndarray of shape (n_samples,) or (n_samples, n_targets)
        std : ndarray of the same shape
            Only with ``return_std=True``.
        """
        if not check_flag("return_std", return_std):
            return self._predictions(self._scores(X))
        found = self._uncertainty()
        assert found.noise is not None
        deviations = np.sqrt(found.noise) * self._spread(X)
        return self._predictions(self._scores(X)), self._predictions(deviations)

    def _spread(self, X: Any) -> FloatArray:
        core, threads = self._checked_network().core, effective_threads(self.n_jobs)
        return self._uncertainty().spread(core, self._validated(X), threads)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> FloatArray:
        """Intervals that hold the target with a given probability.

        An interval is the prediction plus and minus a multiple of the root of one plus the
        leverage, as in ``predict(return_std=True)``; the multiple is what the errors on samples
        left out call for, so that nothing is assumed about their distribution. With
        ``intervals="cv"`` those errors are of networks built without the samples. With "loo" they
        ignore that the units were chosen on the same samples, and intervals are too narrow where
        there are many units for the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.9
            Probability that the target is in the interval, between 0 and 1. It holds on average
            over samples like those of the fit, and for each target by itself. If there were too few
            samples for it (fewer than 19 for 0.95), intervals are infinite.

        Returns
        -------
        ndarray of shape (n_samples, 2) or (n_samples, 2, n_targets)
            Lower and upper ends.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from stagenets import RVFLRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = RVFLRegressor(n_hidden=20, intervals="cv", random_state=0).fit(X, y)
        >>> low, high = model.predict_interval(X, coverage=0.8).T
        >>> bool(0.75 < ((low <= y) & (y <= high)).mean() < 0.9)
        True
        """
        half = self._uncertainty().quantile(coverage) * self._spread(X)
        scores = self._scores(X)
        ends = np.stack([scores - half, scores + half], axis=1)
        return ends[:, :, 0] if self.network_.one_target else ends

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
