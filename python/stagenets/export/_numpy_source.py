"""Export of the prediction functions as Python source that needs only NumPy."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray

import stagenets
from stagenets.export._activations import SELU_ALPHA, SELU_SCALE
from stagenets.export._exported import network_in
from stagenets.fitting._fitted_network import FittedNetwork, Matrix

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
"""Predictions of a network fitted by stagenets {version}. Needs only NumPy."""

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
    """The score of every class; for two classes, the second score minus the first."""
    z = scores(X)
    return z[:, 1] - z[:, 0] if len(CLASSES) == 2 else z
'''

_SEVERAL_LABELS = '''
def predict(X):
    """Which labels every row of X has, as zeros and ones."""
    return (decision_function(X) > 0).astype(np.int64)


def predict_proba(X):
    """The probability of every label for every row of X."""
    return (1 + np.tanh(TEMPERATURES * decision_function(X) / 2)) / 2


def decision_function(X):
    """The score of every label less its threshold, for every row of X."""
    return scores(X) - THRESHOLDS
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
    """The scores from the readout, for every row of X and every output."""
    x = np.asarray(X, dtype={dtype})
    if x.ndim != 2 or x.shape[1] != {n_columns}:
        raise ValueError(f"X must have shape (n, {n_columns}); got {{x.shape}}")
{layers}
    return {design} @ READOUT + INTERCEPT
'''

_ENCODED = '''
def encoded(x):
    """The inputs that the columns of x are: numbers, flags where they are missing, categories."""
    inputs = []
    for column, values in enumerate(x.T):
        if column in CATEGORIES:
            values = [None if value is None or value != value else value for value in values]
            inputs += [[value == label for value in values] for label in CATEGORIES[column]]
        else:
            values = values.astype(np.float64)
            missing = np.isnan(values)
            inputs.append(np.where(missing, FILLS[column], values))
            inputs += [missing] if column in FLAGGED else []
    return np.array(inputs, dtype=np.float64).T
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

    The module needs only NumPy and has the function ``predict(X)``; for classifiers,
    ``predict_proba(X)`` and ``decision_function(X)`` as well. It contains the exact weights,
    computes in float64 and agrees with the estimator to rounding error. X may be anything that
    NumPy makes an array of shape (n, n_features_in_), with NaN (or None, among categories) for
    missing values.

    Parameters
    ----------
    model : estimator
        A fitted estimator, or a search (such as GridSearchCV) whose ``best_estimator_`` is one.

    Returns
    -------
    str
        Source of the module, to be written to a file.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from stagenets import ELMClassifier, to_numpy_source
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMClassifier(n_hidden=20, random_state=0).fit(X, y)
    >>> source = to_numpy_source(model)
    >>> module = {}
    >>> exec(source, module)  # or write it to a file and import that where only NumPy is installed
    >>> bool(np.allclose(module["predict_proba"](X), model.predict_proba(X)))
    True
    """
    network = network_in(model)
    parts = [_HEADER.format(version=stagenets.__version__), _predictions(network), _scores(network)]
    if network.encoding is not None and not network.encoding.is_identity:
        parts.append(_ENCODED)
    for name in dict.fromkeys(layer.activation for layer in network.layers):
        parts.append(_FUNCTION.format(name=name, expression=_ACTIVATIONS[name]))
    return "\n".join([*parts, _DECODER, _constants(network)])


def _predictions(network: FittedNetwork) -> str:
    if network.thresholds is not None:
        return _SEVERAL_LABELS
    if network.classes is not None:
        return _CLASSIFIER
    return _REGRESSOR_OF_ONE if network.one_target else _REGRESSOR


def _scores(network: FittedNetwork) -> str:
    lines, parts, read = [], ["x"] if network.direct_links else [], "x"
    encoding, inputs = network.encoding, "x"
    if encoding is not None:
        inputs = "np.where(np.isnan(x), FILLS, x)" if encoding.is_identity else "encoded(x)"
    if network.bounds is not None:
        inputs = f"np.clip({inputs}, *BOUNDS)"
    if inputs != "x":
        lines.append(f"    x = {inputs}")
    for number, layer in enumerate(network.layers, 1):
        argument = f"{read} @ WEIGHTS_{number} + BIASES_{number}"
        if layer.ends is not None:  # the least of each unit's terms
            argument = f"np.minimum.reduceat({argument}, STARTS_{number}, axis=1)"
        units = f"{layer.activation}({argument})"
        scaled = f" * SCALES_{number} + OFFSETS_{number}" if layer.scales is not None else ""
        read = f"layer_{number}"
        lines.append(f"    {read} = {units}{scaled}")
        parts.append(read)
    design = f"np.hstack([{', '.join(parts)}])" if len(parts) > 1 else parts[0]
    return _SCORES.format(
        n_columns=network.n_inputs if encoding is None else encoding.n_columns,
        dtype="object" if network.categorical_columns else "np.float64",
        layers="\n".join(lines),
        design=design,
    )


def _constants(network: FittedNetwork) -> str:
    lines = []
    if network.feature_names:
        lines.append(f"FEATURE_NAMES = {list(network.feature_names)!a}")
    if network.classes is not None and network.thresholds is None:
        lines.append(f"CLASSES = {_labels(network.classes)}")
        lines.append(f"TEMPERATURE = {network.temperature!r}")
    for number, layer in enumerate(network.layers, 1):
        if layer.ends is not None:
            lines.append(f"STARTS_{number} = {[0, *layer.ends[:-1].tolist()]}")
    encoding = network.encoding
    if encoding is not None and not encoding.is_identity:
        listed = {column: _listed(labels) for column, labels in encoding.categories.items()}
        lines.append(f"CATEGORIES = {listed!a}")
        lines.append(f"FLAGGED = {set(encoding.flagged.nonzero()[0].tolist())!r}")
    arrays: dict[str, Matrix | None] = {
        "FILLS": None if encoding is None else encoding.fills,
        "BOUNDS": network.bounds,
        "READOUT": network.readout,
        "INTERCEPT": network.intercept,
    }
    if network.thresholds is not None:
        arrays["TEMPERATURES"] = np.asarray(network.temperature)
        arrays["THRESHOLDS"] = network.thresholds
    for number, layer in enumerate(network.layers, 1):
        arrays[f"WEIGHTS_{number}"] = layer.weights
        arrays[f"BIASES_{number}"] = layer.biases
        arrays[f"SCALES_{number}"] = layer.scales
        arrays[f"OFFSETS_{number}"] = layer.offsets
    lines += [_encoded(name, array) for name, array in arrays.items() if array is not None]
    return "\n" + "\n".join(lines) + "\n"


def _listed(labels: Iterable[Any]) -> list[Any]:
    listed = list(labels)
    if not all(label is None or isinstance(label, (bool, int, float, str)) for label in listed):
        raise ValueError(f"labels must be numbers, booleans or strings; got {short(listed)}")
    return listed


def _labels(classes: NDArray[Any]) -> str:
    return f"np.array({_listed(classes.tolist())!a}, dtype={classes.dtype.str!r})"


def _encoded(name: str, array: Matrix) -> str:
    text = base64.encodebytes(array.astype("<f8").tobytes()).decode()
    return f'{name} = decoded({array.shape}, """\n{text}""")'
