"""``stagenets export``: a model for use without stagenets."""

from __future__ import annotations

import argparse
import json
from typing import Any

from stagenets.cli._usage import check_output, load_model, remark

_EXAMPLES = """examples:
  stagenets export iris.model --to onnx --out iris.onnx
  stagenets export iris.model --to numpy --out iris_model.py

The result is the network, which takes numbers: the inputs that the table's columns become, in the
order that is printed and also kept in the file (INPUTS of the module, "inputs" among the metadata
of the graph).
"""


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "export",
        help="write a model as an ONNX graph or a NumPy module",
        description="Write the network of a model file in a form that does not need stagenets.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="model file")
    parser.add_argument("--to", required=True, choices=("onnx", "numpy"), help="form of the result")
    parser.add_argument("--out", required=True, metavar="FILE", help="file to write")
    parser.add_argument("--quiet", action="store_true", help="no remarks")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Load, convert, write."""
    from sklearn.pipeline import Pipeline

    from stagenets.export._atomic import write_whole

    check_output(options.out, options.model)
    model = load_model(options.model)
    inputs: list[str] | None = None
    if isinstance(model, Pipeline):
        encoder, model = model
        inputs = encoder.get_feature_names_out().tolist()
        remark(options, f"the network takes {len(inputs)} numbers per row: {', '.join(inputs)}")
    data = _onnx(model, inputs) if options.to == "onnx" else _numpy_module(model, inputs)
    write_whole(options.out, data)
    return 0


def _onnx(model: Any, inputs: list[str] | None) -> bytes:
    from stagenets import to_onnx

    graph = to_onnx(model)
    if inputs is not None:
        note = graph.metadata_props.add()
        note.key, note.value = "inputs", json.dumps(inputs)
    return bytes(graph.SerializeToString())


def _numpy_module(model: Any, inputs: list[str] | None) -> bytes:
    from stagenets import to_numpy_source

    source = to_numpy_source(model)
    if inputs is not None:
        source += f"\n#: What the columns of X are.\nINPUTS = {inputs!r}\n"
    return source.encode()
