"""``stagenets export``: a model for use without stagenets."""

from __future__ import annotations

import argparse
import json
from typing import Any

from stagenets.cli._usage import check_output, load_model, remark

_EXAMPLES = """examples:
  stagenets export iris.model --to onnx --out iris.onnx
  stagenets export iris.model --to numpy --out iris_model.py

The result is the network, which takes the columns that are printed, also kept in the file
(FEATURE_NAMES of the module, "columns" among the metadata of the graph): numbers, NaN where they
are missing, parts of dates as numbers, and texts. An ONNX graph takes columns of text apart from
the others, as "texts".
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

    from stagenets import to_numpy_source
    from stagenets.export._atomic import write_whole

    check_output(options.out, options.model)
    model = load_model(options.model)
    columns: list[str] | None = None
    if isinstance(model, Pipeline):
        types, model = model
        columns = types.get_feature_names_out().tolist()
        remark(options, f"the network takes {len(columns)} columns: {', '.join(columns)}")
    data = _onnx(model, columns) if options.to == "onnx" else to_numpy_source(model).encode()
    write_whole(options.out, data)
    return 0


def _onnx(model: Any, columns: list[str] | None) -> bytes:
    from stagenets import to_onnx

    graph = to_onnx(model)
    if columns is not None:
        note = graph.metadata_props.add()
        note.key, note.value = "columns", json.dumps(columns)
    return bytes(graph.SerializeToString())
