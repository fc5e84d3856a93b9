"""LightGBM with its usual parameters tuned: leaves, learning rate and number of trees."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from stagenets.study._folds import stratified_folds


class TunedLightGBM(ClassifierMixin, BaseEstimator):
    """LGBMClassifier with the leaves and the rate of best accuracy on inner folds.

    Trees are added to each until the log-loss on the fold has not fallen for `patience` of them; a
    final fit has their mean number. So no number of trees is fitted twice.
    """

    def __init__(
        self,
        leaves: tuple[int, ...] = (7, 31, 127),
        rates: tuple[float, ...] = (0.03, 0.1, 0.3),
        most_trees: int = 500,
        patience: int = 20,
        folds: int = 3,
        random_state: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.leaves = leaves
        self.rates = rates
        self.most_trees = most_trees
        self.patience = patience
        self.folds = folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _model(self, leaves: int, rate: float, trees: int) -> Any:
        from lightgbm import LGBMClassifier

        return LGBMClassifier(
            num_leaves=leaves,
            learning_rate=rate,
            n_estimators=trees,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=-1,
        )

    def fit(self, X: NDArray[Any], y: NDArray[np.int64]) -> TunedLightGBM:
        """Try all combinations on the inner folds, then fit the best on all rows."""
        from lightgbm import early_stopping

        splits = stratified_folds(y, self.folds, self.random_state)
        tried = []
        for leaves, rate in product(self.leaves, self.rates):
            right, trees = 0, []
            for train, test in splits:
                # Labels that a training part lacks can neither be learnt nor stop it.
                known = test[np.isin(y[test], y[train])]
                model = self._model(leaves, rate, self.most_trees).fit(
                    X[train],
                    y[train],
                    eval_set=[(X[known], y[known])],
                    callbacks=[early_stopping(self.patience, verbose=False)],
                )
                right += int(np.sum(model.predict(X[known]) == y[known]))
                trees.append(model.best_iteration_)
            tried.append((right, leaves, rate, max(1, round(float(np.mean(trees))))))
        _, leaves, rate, trees_of_best = max(tried, key=lambda combination: combination[0])
        self.best_params_ = {
            "num_leaves": leaves,
            "learning_rate": rate,
            "n_estimators": trees_of_best,
        }
        self.model_ = self._model(leaves, rate, trees_of_best).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Labels by the best combination."""
        return np.asarray(self.model_.predict(X))

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Probabilities by the best combination."""
        return np.asarray(self.model_.predict_proba(X))
