"""How a model is evaluated on a regression set."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from stagenets.study import _regression_data
from stagenets.study._models import Model, Tuned
from stagenets.study._outcome import Outcome, plain_params, powers_of_ten
from stagenets.study._regression_data import RegressionSet
from stagenets.study._regressors import all_regressors, find_regressor


@dataclass(frozen=True)
class RegressionProtocol:
    """Regression: R² and relative error on the folds that come with a data set, or shuffled ones.

    Nothing is scaled, chosen or fitted on the rows that evaluate it. The first `tested` of the
    folds are predicted, each by a model fitted on the other folds; of training parts with more
    than `most_rows` rows, all models get the same sample of that size.
    """

    name: ClassVar[str] = "regression"

    seed: int = 0
    folds: int = 10
    tested: int = 10
    most_rows: int = 10_000
    inner_folds: int = 3
    alphas: tuple[float, ...] = powers_of_ten(-4, 2)

    load = staticmethod(_regression_data.load)
    choose = staticmethod(_regression_data.choose)
    find = staticmethod(find_regressor)

    @staticmethod
    def models() -> list[str]:
        """Models of a run that names none."""
        return all_regressors()

    def estimator(self, model: Model, y: NDArray[np.float64], seed: int, threads: int) -> Any:
        """The estimator to fit on a training part with these targets."""
        if not isinstance(model, Tuned):
            return model.make(y, seed, threads)
        return model.search(
            alphas=self.alphas, cv=self.inner_folds, random_state=seed, n_jobs=threads
        )

    def evaluate(self, model: Model, data: RegressionSet, threads: int) -> Outcome:
        """Fit on the training parts and evaluate on their test parts."""
        started = time.perf_counter()
        scores, errors = [], []
        chosen: list[dict[str, Any]] = []
        splits = data.splits(self.folds, self.seed)[: self.tested]
        for number, (train, test) in enumerate(splits):
            seed = self.seed + number
            if len(train) > self.most_rows:
                train = np.random.default_rng(seed).choice(train, self.most_rows, replace=False)
            estimator = self.estimator(model, data.y[train], seed, threads)
            with threadpool_limits(threads), warnings.catch_warnings():
                # Rivals at their defaults warn of slow convergence; ignore that.
                if not isinstance(model, Tuned):
                    warnings.simplefilter("ignore")
                estimator.fit(data.X[train], data.y[train])
                predictions = estimator.predict(data.X[test])
            scores.append(_r_squared(data.y[test], predictions))
            errors.append(_relative_error(data.y, data.y[test], predictions))
            if isinstance(model, Tuned):
                chosen.append(plain_params(estimator.best_params_))
        return Outcome(scores, chosen, "X", time.perf_counter() - started, errors)


def _r_squared(targets: NDArray[np.float64], predictions: NDArray[np.float64]) -> float:
    from sklearn.metrics import r2_score

    return float(r2_score(targets, predictions))


def _relative_error(
    everything: NDArray[np.float64],
    targets: NDArray[np.float64],
    predictions: NDArray[np.float64],
) -> float:
    """Root mean square error in units of the targets' standard deviation over the data set."""
    relative = (targets - predictions) / everything.std(axis=0)
    return float(np.sqrt(np.mean(relative**2)))
