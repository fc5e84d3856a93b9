"""Extreme learning machines."""

from __future__ import annotations

from stagenets.estimators._affine import AffineNetwork
from stagenets.estimators._classifier import NetworkClassifier
from stagenets.estimators._documentation import documented
from stagenets.estimators._regressor import NetworkRegressor


@documented
class ELMClassifier(NetworkClassifier, AffineNetwork):
    """Extreme learning machine classifier with residual-guided hidden units.

    A single hidden layer of random units, built in stages; only the hidden units feed the readout,
    not the inputs. Every stage draws a pool of random units, keeps those that lower the ridge
    objective most, and refits the readout in closed form.

    Parameters
    ----------
    {units}
    {shared}
    {class_weight}

    Attributes
    ----------
    {classes}
    readout_ : ndarray of shape (n_classes, n_hidden_)
        Readout weights of the hidden units.
    readout_intercept_ : ndarray of shape (n_classes,)
        Intercept of the readout.
    {hidden}
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from stagenets import ELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    >>> bool(model.objective_path_[-1] < model.objective_path_[0])
    True
    """

    _links_inputs = False


@documented
class ELMRegressor(NetworkRegressor, AffineNetwork):
    """Extreme learning machine regressor with residual-guided hidden units.

    A single hidden layer of random units, built in stages; only the hidden units feed the readout,
    not the inputs. Every stage draws a pool of random units, keeps those that lower the ridge
    objective most, and refits the readout in closed form. Targets are scaled internally.

    Parameters
    ----------
    {units}
    {shared}

    Attributes
    ----------
    readout_ : ndarray of shape (n_hidden_,) or (n_targets, n_hidden_)
        Readout weights of the hidden units.
    readout_intercept_ : float or ndarray of shape (n_targets,)
        Intercept of the readout, including the mean of the targets.
    {hidden}
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from stagenets import ELMRegressor
    >>> X, y = make_friedman1(500, random_state=0)
    >>> model = ELMRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True
    """

    _links_inputs = False
