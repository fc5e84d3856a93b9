"""Probabilities of the classifiers at their defaults, on samples they have not seen."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import problems
import stagenets


def held_out(model, X, y):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_predict(model, X, y, cv=folds, method="predict_proba")


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_log_loss_rivals_logistic_regression(load):
    X, y = load(return_X_y=True)
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    ours = held_out(stagenets.RVFLClassifier(random_state=0), X, y)
    assert log_loss(y, ours) <= 1.1 * log_loss(y, held_out(linear, X, y))
    assert ours.min() > 1e-20


@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
def test_noise_gives_no_certainty(cls):
    X, y = np.random.default_rng(0).normal(size=(60, 500)), np.arange(60) % 2
    found = held_out(cls(random_state=0), X, y)
    assert found.max(axis=1).mean() < 0.8
