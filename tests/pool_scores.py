"""Scores of the candidates of every stage, from the formulas, for three or more classes."""

import numpy as np
from scipy.special import expit

import reference
from stagenets import draw_candidates


def pool_scores(model, X, y):
    """Array (n_iter_, pool_size): ‖gᵀR‖² / (‖g‖² + alpha) of each candidate when it was drawn."""
    inputs = (X - X.mean(axis=0)) / X.std(axis=0)
    targets = reference.one_hot(y)
    scores = []
    for stage, fitted in enumerate(model.staged_decision_function(X)):
        if stage == model.n_iter_:
            break
        weights, biases = draw_candidates(model.random_state, stage, model.pool_size, X.shape[1])
        hidden = expit(inputs @ weights + biases)
        drop = ((hidden.T @ (targets - fitted)) ** 2).sum(axis=1)
        scores.append(drop / ((hidden**2).sum(axis=0) + model.alpha))
    return np.array(scores)
