"""The encoding of a network's inputs as part of an ONNX graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto

from stagenets.fitting._input_encoding import InputEncoding

if TYPE_CHECKING:
    from stagenets.export._onnx_graph import Graph
    from stagenets.fitting._rows import Label


def text_columns(encoding: InputEncoding | None) -> list[int]:
    """The columns whose categories are texts; ValueError if some hold anything but numbers."""
    found = []
    for column, labels in ({} if encoding is None else encoding.categories).items():
        known = [label for label in labels if label is not None]
        texts = sum(isinstance(label, str) for label in known)
        numbers = sum(isinstance(label, (bool, int, float)) for label in known)
        if len(known) not in (texts, numbers):
            raise ValueError(
                f"categories of a column must be all texts or all numbers in ONNX; got {known}"
            )
        if texts:
            found.append(column)
    return found


def encoded_inputs(graph: Graph, encoding: InputEncoding, X: str, texts: str) -> str:
    """The inputs made of the columns of numbers, `X`, and of those of texts, each in order."""
    missing = graph.apply("IsNaN", X) if X else ""
    if encoding.is_identity:
        return graph.apply("Where", missing, graph.constant(encoding.fills, "fills"), X)
    apart = text_columns(encoding)
    place = {column: number for number, column in enumerate(_others(encoding, apart))}
    numeric = _others(encoding, encoding.categories)
    starts = encoding.ends - np.diff(encoding.ends, prepend=0)
    parts, inputs = [], []
    if numeric:
        chosen = graph.index(np.array([place[column] for column in numeric]))
        holes = graph.apply("Gather", missing, chosen, axis=1)
        numbers = graph.apply("Gather", X, chosen, axis=1)
        fills = graph.constant(encoding.fills[numeric], "fills")
        parts.append(graph.apply("Where", holes, fills, numbers))
        inputs += starts[numeric].tolist()
    flagged = np.flatnonzero(encoding.flagged).tolist()
    if flagged:
        chosen = graph.index(np.array([place[column] for column in flagged]))
        parts.append(_as_numbers(graph, graph.apply("Gather", missing, chosen, axis=1)))
        inputs += (starts[flagged] + 1).tolist()
    for column, labels in encoding.categories.items():
        if column in apart:
            hits = _of_texts(graph, texts, apart.index(column), labels)
        else:
            hits = _of_numbers(graph, X, missing, place[column], labels)
        parts += [_as_numbers(graph, hit) for hit in hits]
        inputs += range(starts[column], encoding.ends[column])
    joined = graph.apply("Concat", *parts, axis=1)
    return graph.apply("Gather", joined, graph.index(np.argsort(inputs)), axis=1)


def _others(encoding: InputEncoding, columns: Any) -> list[int]:
    return [column for column in range(encoding.n_columns) if column not in columns]


def _as_numbers(graph: Graph, flags: str) -> str:
    return graph.apply("Cast", flags, to=graph.element_type)


def _of_texts(graph: Graph, texts: str, column: int, labels: Sequence[Label]) -> list[str]:
    """Which of the labels a text is; the empty one stands for a missing text."""
    keys = ["" if label is None else label for label in labels]
    values = graph.apply("Gather", texts, graph.index(np.array([column])), axis=1)
    places = graph.apply(
        "LabelEncoder",
        values,
        domain="ai.onnx.ml",
        keys_strings=keys,
        values_int64s=list(range(len(keys))),
        default_int64=-1,
    )
    return [graph.apply("Equal", places, graph.index(np.arange(len(keys))))]


def _of_numbers(
    graph: Graph, X: str, missing: str, column: int, labels: Sequence[Label]
) -> list[str]:
    chosen = graph.index(np.array([column]))
    values = graph.apply("Gather", X, chosen, axis=1)
    known = [label for label in labels if label is not None]
    hits = [graph.apply("Equal", values, graph.constant(known))] if known else []
    if None in labels:
        hits.insert(
            0 if labels[0] is None else len(hits), graph.apply("Gather", missing, chosen, axis=1)
        )
    return hits


def element_types(element_type: int, columns: int, texts: int) -> list[tuple[str, int, int]]:
    """Name, type and number of columns of each input of the graph."""
    numbers = [("X", element_type, columns - texts)] if columns > texts else []
    return numbers + ([("texts", TensorProto.STRING, texts)] if texts else [])
