"""Small data sets and the table of estimators that the tests share."""

import numpy as np

import stagenets

ESTIMATORS = {
    ("rvfl", "classification"): stagenets.RVFLClassifier,
    ("elm", "classification"): stagenets.ELMClassifier,
    ("bls", "classification"): stagenets.BLSClassifier,
    ("rvfl", "regression"): stagenets.RVFLRegressor,
    ("elm", "regression"): stagenets.ELMRegressor,
    ("bls", "regression"): stagenets.BLSRegressor,
}
CLASSIFIERS = [cls for (_, task), cls in ESTIMATORS.items() if task == "classification"]
REGRESSORS = [cls for (_, task), cls in ESTIMATORS.items() if task == "regression"]
AFFINE = [cls for (net, _), cls in ESTIMATORS.items() if net != "bls"]
BLS = [cls for (net, _), cls in ESTIMATORS.items() if net == "bls"]
ALL = list(ESTIMATORS.values())

# The choice and the units of the paper, which the reference in NumPy describes: not the defaults.
PLAIN = {"selection": "residual", "weight_init": "sparse"}
PLAIN_BLS = {
    "selection": "residual",
    "weight_init": "uniform",
    "feature_activation": "identity",
    "sparse_features": True,
    "standardize": True,
}

SMALL_BLS = {"n_windows": 2, "n_feature_nodes": 4, "n_enhancement": 6}


def plain(cls):
    """The parameters that turn this class into the paper's method."""
    loss = {"loss": "squared"} if cls in CLASSIFIERS else {}
    method = {"alpha": 0.01, **PLAIN_BLS} if cls in BLS else {"alpha": 3.0, **PLAIN}
    return method | loss


def name_of(cls):
    return cls.__name__


def small(cls, **params):
    """A small seeded estimator of this class, by the plain method; `params` override both."""
    size = SMALL_BLS if cls in BLS else {"n_hidden": 12}
    return cls(**{"pool_size": 10, "random_state": 0, **plain(cls), **size, **params})


def inputs(rng, n, p):
    """Rows with columns of unlike scale and shift, so that a missing fold of the scaling shows."""
    return rng.normal(size=(n, p)) * rng.uniform(0.3, 3.0, size=p) + rng.normal(size=p)


def labels(rng, X, n_classes):
    """Integer classes that depend on X, every one of them present, none of them tiny."""
    direction = np.sin(X @ rng.normal(size=X.shape[1])) + 0.3 * rng.normal(size=len(X))
    rank = np.argsort(np.argsort(direction))
    return rank * n_classes // len(X)


def responses(rng, X, n_outputs):
    """Noisy, smooth, shifted regression targets (n, n_outputs)."""
    hidden = np.tanh(X @ rng.normal(size=(X.shape[1], 4)))
    mixed = hidden @ rng.normal(size=(4, n_outputs))
    return mixed + 0.2 * rng.normal(size=mixed.shape) + 3 * rng.normal(size=n_outputs)


def data_for(cls, n=60, p=4, *, n_outputs=3, seed=0):
    """(X, y) fit for this class: classes, or a column of responses for each output."""
    rng = np.random.default_rng(seed)
    X = inputs(rng, n, p)
    if cls in CLASSIFIERS:
        return X, labels(rng, X, n_outputs)
    return X, responses(rng, X, n_outputs)


def scores_of(estimator, X):
    """What the readout gives: one number for each row, or one for each row and output."""
    return getattr(estimator, "decision_function", estimator.predict)(X)
