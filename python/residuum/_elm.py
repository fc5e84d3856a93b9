"""Extreme learning machines."""

from __future__ import annotations

from residuum._classifier import NetworkClassifier
from residuum._documentation import documented
from residuum._network import AffineNetwork
from residuum._regressor import NetworkRegressor


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

    Attributes
    ----------
    {classes}
    coef_ : ndarray of shape (n_classes, n_hidden_)
        Readout: the hidden units.
    intercept_ : ndarray of shape (n_classes,)
        Readout of the constant.
    {hidden}
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from residuum import ELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    >>> bool(model.objective_path_[-1] < model.objective_path_[0])
    True
    """

    _architecture = "elm"


@documented
class ELMRegressor(NetworkRegressor, AffineNetwork):
    """Extreme learning machine regressor with residual-guided hidden units.

    A single hidden layer of random units, built in stages; only the hidden units feed the readout,
    not the inputs. Every stage draws a pool of random units, keeps those that lower the ridge
    objective most, and refits the readout in closed form. Targets are centred inside.

    Parameters
    ----------
    {units}
    {shared}

    Attributes
    ----------
    coef_ : ndarray of shape (n_hidden_,) or (n_targets, n_hidden_)
        Readout: the hidden units.
    intercept_ : float or ndarray of shape (n_targets,)
        Readout of the constant, plus the targets' mean.
    {hidden}
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from residuum import ELMRegressor
    >>> X, y = make_friedman1(500, random_state=0)
    >>> model = ELMRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True
    """

    _architecture = "elm"
