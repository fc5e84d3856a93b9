"""A fitted network as an ONNX graph of standard operators."""

from __future__ import annotations

from collections.abc import Callable
from reprlib import repr as short
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import stagenets
from stagenets import _core
from stagenets.export._activations import SELU_ALPHA, SELU_SCALE
from stagenets.export._onnx_inputs import element_types, encoded_inputs, text_columns
from stagenets.fitting._fitted_network import FittedNetwork

# The operators used here have not changed since opset 13; IR 8 came with opset 17, in 2022.
OPSET, IR_VERSION = 17, 8
ML_OPSET = 3  # for the categories of texts


def onnx_model(
    network: FittedNetwork,
    dtype: np.dtype[Any],
    *,
    input_type: int | None = None,
    opset: int = OPSET,
    raw_scores: bool = False,
) -> onnx.ModelProto:
    """The model with arithmetic in `dtype`, and inputs of that type unless `input_type` is given.

    With `raw_scores`, decisions replace the probabilities; for two classes, they are (-d, d).
    """
    graph = Graph(dtype)
    numbers = graph.element_type
    encoding = network.encoding
    columns = network.n_inputs if encoding is None else encoding.n_columns
    given = element_types(input_type or numbers, columns, len(text_columns(encoding)))
    names = {name for name, _, _ in given}
    inputs = "X" if input_type in (None, numbers) else graph.apply("Cast", "X", to=numbers)
    if encoding is not None:
        inputs = encoded_inputs(graph, encoding, inputs if "X" in names else "", "texts")
    scores = _scores(graph, network, inputs)
    matrix: tuple[str, int] = ("n", network.n_outputs)
    if network.classes is None:
        graph.apply("Identity", scores, output="variable")
        outputs = [helper.make_tensor_value_info("variable", numbers, matrix)]
    elif network.thresholds is not None:
        _find_labels(graph, scores, network, raw_scores=raw_scores)
        outputs = [
            helper.make_tensor_value_info("label", TensorProto.INT64, matrix),
            helper.make_tensor_value_info("probabilities", numbers, matrix),
        ]
    else:
        labels = _classify(graph, scores, network.classes)
        if not raw_scores:
            _calibrate(graph, scores, float(network.temperature))
        elif len(network.classes) == 2:
            differences = graph.constant([[1, -1], [-1, 1]], "differences")
            graph.apply("MatMul", scores, differences, output="probabilities")
        else:
            graph.apply("Identity", scores, output="probabilities")
        outputs = [
            helper.make_tensor_value_info("label", labels, ["n"]),
            helper.make_tensor_value_info("probabilities", numbers, matrix),
        ]
    infos = [helper.make_tensor_value_info(name, kind, ["n", width]) for name, kind, width in given]
    domains = {"": opset, **({"ai.onnx.ml": ML_OPSET} if "texts" in names else {})}
    return helper.make_model(
        helper.make_graph(graph.nodes, "stagenets", infos, outputs, graph.constants),
        opset_imports=[helper.make_opsetid(*domain) for domain in domains.items()],
        ir_version=IR_VERSION,
        producer_name="stagenets",
        producer_version=stagenets.__version__,
    )


class Graph:
    """A graph under construction. Methods return the name of the value they add."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.element_type = helper.np_dtype_to_tensor_dtype(dtype)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, values: Any, name: str = "") -> str:
        name = name or f"constant_{len(self.constants)}"
        array = np.asarray(values, dtype=self.dtype, order="C")
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def index(self, values: NDArray[np.int64]) -> str:
        name = f"index_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(values.astype(np.int64), name))
        return name

    def apply(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"{operator.lower()}_{len(self.nodes)}"
        node = helper.make_node(operator, inputs, [output], name=f"get_{output}", **attributes)
        self.nodes.append(node)
        return output


def _selu(graph: Graph, z: str) -> str:
    # onnxruntime has no Selu for double: scale · (max(z, 0) + alpha · (exp(min(z, 0)) − 1)).
    grown = graph.apply("Exp", graph.apply("Min", z, graph.constant(0)))
    below = graph.apply("Sub", grown, graph.constant(1))
    bent = graph.apply("Mul", below, graph.constant(SELU_ALPHA))
    joined = graph.apply("Add", graph.apply("Relu", z), bent)
    return graph.apply("Mul", joined, graph.constant(SELU_SCALE))


def _tribas(graph: Graph, z: str) -> str:
    return graph.apply("Relu", graph.apply("Sub", graph.constant(1), graph.apply("Abs", z)))


def _radbas(graph: Graph, z: str) -> str:
    return graph.apply("Exp", graph.apply("Neg", graph.apply("Mul", z, z)))


_ACTIVATIONS: dict[str, Callable[[Graph, str], str]] = {
    "sigmoid": lambda graph, z: graph.apply("Sigmoid", z),
    "tanh": lambda graph, z: graph.apply("Tanh", z),
    "relu": lambda graph, z: graph.apply("Relu", z),
    "sine": lambda graph, z: graph.apply("Sin", z),
    "selu": _selu,
    "tribas": _tribas,
    "radbas": _radbas,
    "identity": lambda graph, z: z,
}


def _least_terms(graph: Graph, z: str, ends: NDArray[np.int64]) -> str:
    """The least of each unit's terms: the first of all units, the second (or the last), and so on.

    ReduceMin would change with the opset.
    """
    starts = np.concatenate([[0], ends[:-1]])
    places = range(int((ends - starts).max()))
    terms = [np.minimum(starts + place, ends - 1) for place in places]
    return graph.apply("Min", *(graph.apply("Gather", z, graph.index(t), axis=1) for t in terms))


def _layer(graph: Graph, layer: _core.Layer, inputs: str, name: str) -> str:
    weights = graph.constant(layer.weights, f"{name}_weights")
    biases = graph.constant(layer.biases, f"{name}_biases")
    z = graph.apply("Gemm", inputs, weights, biases)
    if layer.ends is not None:
        z = _least_terms(graph, z, layer.ends)
    units = _ACTIVATIONS[layer.activation](graph, z)
    if layer.scales is None:
        return units
    scaled = graph.apply("Mul", units, graph.constant(layer.scales, f"{name}_scales"))
    return graph.apply("Add", scaled, graph.constant(layer.offsets, f"{name}_offsets"))


def _within_bounds(graph: Graph, network: FittedNetwork, inputs: str) -> str:
    if network.bounds is None:
        return inputs
    lower, upper = network.bounds
    raised = graph.apply("Max", inputs, graph.constant(lower, "lower_bounds"))
    return graph.apply("Min", raised, graph.constant(upper, "upper_bounds"))


def _scores(graph: Graph, network: FittedNetwork, inputs: str) -> str:
    inputs = _within_bounds(graph, network, inputs)
    parts, read = [inputs] if network.direct_links else [], inputs
    for number, layer in enumerate(network.layers, 1):
        read = _layer(graph, layer, read, f"layer_{number}")
        parts.append(read)
    design = graph.apply("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]
    readout = graph.constant(network.readout, "readout")
    return graph.apply("Gemm", design, readout, graph.constant(network.intercept, "intercept"))


def _classify(graph: Graph, scores: str, classes: NDArray[Any]) -> int:
    """Add the output "label"; returns its element type."""
    labels = _label_tensor(classes)
    graph.constants.append(labels)
    best = graph.apply("ArgMax", scores, axis=1, keepdims=0)
    graph.apply("Gather", labels.name, best, output="label")
    return int(labels.data_type)


def _find_labels(graph: Graph, scores: str, network: FittedNetwork, *, raw_scores: bool) -> None:
    """Add the outputs "label" and "probabilities" of several labels."""
    decisions = graph.apply("Sub", scores, graph.constant(network.thresholds, "thresholds"))
    present = graph.apply("Greater", decisions, graph.constant(0))
    graph.apply("Cast", present, to=TensorProto.INT64, output="label")
    if raw_scores:
        graph.apply("Identity", decisions, output="probabilities")
        return
    scaled = graph.apply("Mul", decisions, graph.constant(network.temperature, "temperatures"))
    graph.apply("Sigmoid", scaled, output="probabilities")


def _calibrate(graph: Graph, scores: str, temperature: float) -> None:
    scaled = graph.apply("Mul", scores, graph.constant(temperature, "temperature"))
    graph.apply("Softmax", scaled, axis=1, output="probabilities")


def _label_tensor(classes: NDArray[Any]) -> onnx.TensorProto:
    labels = classes.tolist()
    if all(isinstance(label, str) for label in labels):
        encoded = [label.encode() for label in labels]
        return helper.make_tensor("classes", TensorProto.STRING, [len(labels)], encoded)
    if classes.dtype.kind not in "biuf" or not all(-(2**63) <= label < 2**63 for label in labels):
        raise ValueError(f"labels must be strings or 64-bit integers in ONNX; got {short(labels)}")
    return numpy_helper.from_array(classes.astype(np.int64), "classes")
