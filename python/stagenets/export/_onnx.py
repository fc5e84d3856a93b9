"""Export to ONNX."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from stagenets.export._exported import network_in
from stagenets.fitting._parameters import check_choice

if TYPE_CHECKING:
    import onnx


def to_onnx(model: Any, *, dtype: DTypeLike = np.float32) -> onnx.ModelProto:
    """Convert a fitted estimator to ONNX.

    The input of the graph is ``X`` of shape (n, n_features_in_), NaN where values are missing. If
    the model has categories that are texts, their columns are apart in the input ``texts``, in
    order, with empty texts where they are missing, and ``X`` has the other columns. A classifier
    has the outputs ``label`` of shape (n,) and ``probabilities`` of shape (n, n_classes), in the
    order of ``classes_``; with several labels, both have shape (n, n_labels). A regressor has the
    output ``variable`` of shape (n, n_targets). Labels are strings or 64-bit integers; other
    numbers and booleans are converted to integers. The graph uses opset 17 and operators of the
    standard only. For pipelines, see `register_onnx_converters`.

    Parameters
    ----------
    model : estimator
        A fitted estimator, or a search (such as GridSearchCV) whose ``best_estimator_`` is one.
    dtype : {float32, float64}, default=float32
        Type of the inputs, of the outputs and of all arithmetic.

    Returns
    -------
    onnx.ModelProto
        ``model.SerializeToString()`` gives the bytes of an ``.onnx`` file.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from stagenets import RVFLClassifier, to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> converted = to_onnx(RVFLClassifier(random_state=0).fit(X, y))
    >>> [output.name for output in converted.graph.output]
    ['label', 'probabilities']
    >>> data = converted.SerializeToString()  # for a file, or onnxruntime.InferenceSession
    """
    checker = required("onnx").checker
    from stagenets.export._onnx_graph import onnx_model

    if hasattr(getattr(model, "best_estimator_", model), "steps"):
        raise ValueError(
            "model must be a single estimator; got a pipeline: use skl2onnx.to_onnx after calling "
            "stagenets.register_onnx_converters()"
        )
    network = network_in(model)
    name = check_choice("dtype", np.dtype(dtype).name, ("float32", "float64"))
    converted = onnx_model(network, np.dtype(name))
    checker.check_model(converted, full_check=True)
    return converted


def required(module: str) -> Any:
    """The module, or an ImportError that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{module} cannot be imported ({error}); `pip install 'stagenets[onnx]'` installs it"
        ) from error
