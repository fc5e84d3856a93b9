"""Export of the prediction functions as Python source that needs NumPy alone."""

from __future__ import annotations

import base64
from reprlib import repr as short
from typing import Any

from numpy.typing import NDArray

import residuum
from residuum._fitted_network import SELU_ALPHA, SELU_SCALE, FittedNetwork, Matrix

_ACTIVATIONS = {
    "sigmoid": "(1 + np.tanh(z / 2)) / 2",
    "tanh": "np.tanh(z)",
    "relu": "np.maximum(z, 0)",
    "sine": "np.sin(z)",
    "selu": f"{SELU_SCALE} * np.where(z > 0, z, {SELU_ALPHA} * np.expm1(np.minimum(z, 0)))",
    "tribas": "np.maximum(1 - np.abs(z), 0)",
    "radbas": "np.exp(-z * z)",
    "identity": "z",
}

_HEADER = '''\
"""Predictions of a network that residuum {version} has fitted. Needs NumPy alone."""

import base64

import numpy as np
'''

_CLASSIFIER = '''
def predict(X):
    """The class of every row of X."""
    return CLASSES[np.argmax(scores(X), axis=1)]


def predict_proba(X):
    """The probability of every class, in the order of CLASSES, for every row of X."""
    z = TEMPERATURE * scores(X)
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return z / z.sum(axis=1, keepdims=True)


def decision_function(X):
    """The score of every class; of two classes, that of the second minus that of the first."""
    z = scores(X)
    return z[:, 1] - z[:, 0] if len(CLASSES) == 2 else z
'''

_REGRESSOR = '''
def predict(X):
    """The prediction for every row of X."""
    return scores(X)
'''

_REGRESSOR_OF_ONE = '''
def predict(X):
    """The prediction for every row of X."""
    return scores(X)[:, 0]
'''

_SCORES = '''
def scores(X):
    """What the readout gives for every row of X and every output."""
    x = np.asarray(X, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != {n_inputs}:
        raise ValueError(f"X must have shape (n, {n_inputs}); got {{x.shape}}")
{layers}
    return {design} @ READOUT + INTERCEPT
'''

_FUNCTION = """
def {name}(z):
    return {expression}
"""

_DECODER = '''
def decoded(shape, text):
    """An array from the base64 text of its bytes."""
    return np.frombuffer(base64.b64decode(text), dtype="<f8").reshape(shape)
'''


def to_numpy_source(model: Any) -> str:
    """Write the prediction functions of a fitted estimator as a Python module.

    The module needs NumPy alone, and has ``predict(X)``; for classifiers ``predict_proba(X)`` and
    ``decision_function(X)`` as well. Weights are in it to the last bit. It computes in float64 and
    agrees with the estimator to rounding.

    Parameters
    ----------
    model : estimator
        A fitted estimator, or a search (such as GridSearchCV) whose ``best_estimator_`` is one.

    Returns
    -------
    str
        Source of the module, for a file of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from residuum import ELMClassifier, to_numpy_source
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMClassifier(n_hidden=20, random_state=0).fit(X, y)
    >>> source = to_numpy_source(model)
    >>> module = {}
    >>> exec(source, module)  # or write it to a file, and import that where NumPy is all there is
    >>> bool(np.allclose(module["predict_proba"](X), model.predict_proba(X)))
    True
    """
    network = FittedNetwork.of(model)
    parts = [_HEADER.format(version=residuum.__version__), _predictions(network), _scores(network)]
    activations = [layer.activation for layer in (network.features, network.hidden) if layer]
    for name in dict.fromkeys(activations):
        parts.append(_FUNCTION.format(name=name, expression=_ACTIVATIONS[name]))
    return "\n".join([*parts, _DECODER, _constants(network)])


def _predictions(network: FittedNetwork) -> str:
    if network.classes is not None:
        return _CLASSIFIER
    return _REGRESSOR_OF_ONE if network.one_target else _REGRESSOR


def _scores(network: FittedNetwork) -> str:
    layers = []
    if network.features:
        units = f"{network.features.activation}(x @ FEATURE_WEIGHTS + FEATURE_BIASES)"
        layers.append(f"    x = {units} * FEATURE_SCALES + FEATURE_OFFSETS")
    layers.append(f"    hidden = {network.hidden.activation}(x @ HIDDEN_WEIGHTS + HIDDEN_BIASES)")
    design = "np.hstack([x, hidden])" if network.linked else "hidden"
    return _SCORES.format(n_inputs=network.n_inputs, layers="\n".join(layers), design=design)


def _constants(network: FittedNetwork) -> str:
    lines = []
    if network.feature_names:
        lines.append(f"FEATURE_NAMES = {network.feature_names!a}")
    if network.classes is not None:
        lines.append(f"CLASSES = {_labels(network.classes)}")
        lines.append(f"TEMPERATURE = {network.temperature!r}")
    arrays = {"READOUT": network.coef.T, "INTERCEPT": network.intercept}
    arrays |= {"HIDDEN_WEIGHTS": network.hidden.weights, "HIDDEN_BIASES": network.hidden.biases}
    if network.features:
        arrays |= {
            "FEATURE_WEIGHTS": network.features.weights,
            "FEATURE_BIASES": network.features.biases,
            "FEATURE_SCALES": network.features.scales,
            "FEATURE_OFFSETS": network.features.offsets,
        }
    lines += [_encoded(name, array) for name, array in arrays.items()]
    return "\n" + "\n".join(lines) + "\n"


def _labels(classes: NDArray[Any]) -> str:
    labels = classes.tolist()
    if not all(isinstance(label, (bool, int, float, str)) for label in labels):
        raise ValueError(f"labels must be numbers, booleans or strings; got {short(labels)}")
    return f"np.array({labels!a}, dtype={classes.dtype.str!r})"


def _encoded(name: str, array: Matrix) -> str:
    text = base64.encodebytes(array.astype("<f8").tobytes()).decode()
    return f'{name} = decoded({array.shape}, """\n{text}""")'
