"""Converters that let skl2onnx handle our estimators in pipelines and ensembles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from stagenets.export._exported import network_in
from stagenets.export._model_state import ESTIMATORS
from stagenets.export._onnx import required
from stagenets.search._estimators import (
    BLSClassifierCV,
    BLSRegressorCV,
    ELMClassifierCV,
    ELMRegressorCV,
    RVFLClassifierCV,
    RVFLRegressorCV,
)

_SEARCHES: tuple[type, ...] = (
    RVFLClassifierCV,
    RVFLRegressorCV,
    ELMClassifierCV,
    ELMRegressorCV,
    BLSClassifierCV,
    BLSRegressorCV,
)
# The options that scikit-learn's classifiers have.
_CLASSIFIER_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "output_class_labels": [False, True],
    "nocl": [True, False],
    "raw_scores": [True, False],
}


def register_onnx_converters() -> None:
    """Register the estimators of this package with skl2onnx, so that it can convert pipelines.

    Call it once, then use ``skl2onnx.to_onnx`` or ``skl2onnx.convert_sklearn`` as with
    scikit-learn's own estimators. As with those, probabilities are a list of dictionaries unless
    the option ``zipmap`` is False.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import stagenets
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), stagenets.RVFLClassifier(random_state=0)).fit(X, y)
    >>> import skl2onnx
    >>> stagenets.register_onnx_converters()
    >>> converted = skl2onnx.to_onnx(model, X[:1], options={"zipmap": False})
    >>> [output.name for output in converted.graph.output]
    ['label', 'probabilities']
    """
    skl2onnx = required("skl2onnx")
    for cls in (*ESTIMATORS.values(), *_SEARCHES):
        classifier = issubclass(cls, ClassifierMixin)
        skl2onnx.update_registered_converter(
            cls,
            f"Stagenets{cls.__name__}",
            _classifier_shapes if classifier else _regressor_shapes,
            _convert_operator,
            options=_CLASSIFIER_OPTIONS if classifier else None,
        )


def _classifier_shapes(operator: Any) -> None:
    from skl2onnx.common.data_types import Int64TensorType
    from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes

    calculate_linear_classifier_output_shapes(operator)
    network = network_in(operator.raw_operator)
    if network.thresholds is not None:
        shape = [operator.inputs[0].get_first_dimension(), network.n_outputs]
        operator.outputs[0].type = Int64TensorType(shape)
        operator.outputs[1].type.shape = shape


def _regressor_shapes(operator: Any) -> None:
    from skl2onnx.common.shape_calculator import calculate_linear_regressor_output_shapes

    calculate_linear_regressor_output_shapes(operator)
    targets = network_in(operator.raw_operator).n_outputs
    operator.outputs[0].type.shape = [operator.inputs[0].get_first_dimension(), targets]


def _convert_operator(scope: Any, operator: Any, container: Any) -> None:
    """Called by skl2onnx to add one of our estimators to the graph of a pipeline."""
    from onnx import TensorProto
    from skl2onnx.common.data_types import guess_proto_type
    from skl2onnx.common.utils_classifier import get_label_classes

    from stagenets.export._onnx_graph import OPSET, onnx_model
    from stagenets.export._onnx_inputs import text_columns

    _check_end_of_pipeline(scope, operator)
    model = operator.raw_operator
    network = network_in(model)
    if text_columns(network.encoding):
        raise NotImplementedError(
            f"skl2onnx gives {type(model).__name__} one array of numbers, but it was fitted to "
            "categories that are texts: call stagenets.to_onnx for the estimator itself, or put a "
            "ColumnTransformer with a OneHotEncoder before it"
        )
    raw_scores = False
    if network.classes is not None:
        network = replace(network, classes=get_label_classes(scope, model))
        raw_scores = container.get_options(model, {"raw_scores": False})["raw_scores"]
    input_type = guess_proto_type(operator.inputs[0].type)
    dtype = np.dtype(np.float64 if input_type == TensorProto.DOUBLE else np.float32)
    opset = min(OPSET, container.target_opset)
    graph = onnx_model(
        network, dtype, input_type=input_type, opset=opset, raw_scores=raw_scores
    ).graph

    names = {graph.input[0].name: operator.inputs[0].full_name}
    for ours, theirs in zip(graph.output, operator.outputs, strict=True):
        names[ours.name] = theirs.full_name
    for tensor in graph.initializer:
        names[tensor.name] = scope.get_unique_variable_name(tensor.name)
        tensor.name = names[tensor.name]
    for node in graph.node:
        for result in node.output:
            names[result] = names.get(result) or scope.get_unique_variable_name(result)
        node.name = scope.get_unique_operator_name(node.name)
        node.input[:] = [names[value] for value in node.input]
        node.output[:] = [names[result] for result in node.output]
    container.initializers.extend(graph.initializer)
    container.nodes.extend(graph.node)
    container.node_domain_version_pair_sets.add(("", opset))


def _check_end_of_pipeline(scope: Any, operator: Any) -> None:
    """Refuse an estimator whose output other steps read: they need `transform`, not predictions.

    skl2onnx converts the predictions of a classifier or regressor wherever it is in a pipeline.
    """
    results = {variable.onnx_name for variable in operator.outputs}
    for other in scope.operators.values():
        is_step = other.raw_operator is not None or other.type == "SklearnConcat"
        if is_step and results & {variable.onnx_name for variable in other.inputs}:
            raise NotImplementedError(
                f"{type(operator.raw_operator).__name__} can be converted to ONNX as the last step "
                "of a pipeline only, not as a transformer for later steps"
            )
