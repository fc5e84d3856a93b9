"""``stagenets info``: what is in a model file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from stagenets.cli._usage import counted, load_model

_MOST_CATEGORIES_SHOWN = 8


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "info",
        help="show the sizes, parameters and columns of a model file",
        description="Show the contents of a model file, written by stagenets fit or by an "
        "estimator's save method.",
    )
    parser.add_argument("model", metavar="MODEL", help="model file")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Load and describe."""
    from sklearn.pipeline import Pipeline

    from stagenets.export._files import notes_in

    model = load_model(options.model)
    types, network = model if isinstance(model, Pipeline) else (None, model)
    facts = {**_facts(types, network), "scores": notes_in(options.model).get("scores")}
    if options.json:
        print(json.dumps(facts, ensure_ascii=False))
    else:
        print("\n".join(_lines(facts)))
    return 0


def _facts(types: Any, network: Any) -> dict[str, Any]:
    """Everything to report, as plain data."""
    facts: dict[str, Any] = {
        "estimator": type(network).__name__,
        "inputs": network.network_.n_inputs,
        "units": network.n_hidden_,
        "stages": network.n_iter_,
        "penalty": getattr(network, "alpha_", None),
        "objective": network.objective_path_.tolist(),
        "parameters": network.get_params(),
    }
    if hasattr(network, "classes_"):
        facts["classes"] = network.classes_.tolist()
    if types is not None:
        facts |= types.to_plain()
        for column, learnt in zip(facts["columns"], _learnt(types, network), strict=True):
            column |= learnt
    return facts


def _learnt(types: Any, network: Any) -> Iterator[dict[str, Any]]:
    """What the network puts in the place of each column, as far as one can say it."""
    names = types.get_feature_names_out().tolist()
    encoding = network.network_.encoding
    for column in types.columns_:
        number = names.index(column.names[0])
        if number in encoding.categories:
            yield {"categories": list(encoding.categories[number])}
        else:
            yield {"fill": float(encoding.fills[number])} if len(column.names) == 1 else {}


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    from stagenets.cli._demo_table import sparkline

    units = counted(facts["units"], "hidden unit")
    yield f"{facts['estimator']}: {units}, built in {counted(facts['stages'], 'stage')}"
    if "target" in facts:
        target = facts["target"]
        yield f"target      {target if isinstance(target, str) else ', '.join(target)}"
    if "classes" in facts:
        yield f"classes     {_some(facts['classes'])}"
    match facts["scores"]:
        case {"held_out": {"folds": folds, "mean": {**mean}, "std": {**std}}}:
            scores = ", ".join(
                f"{name} {mean[name]:.4g} ± {std[name]:.2g}"
                for name in mean
                if isinstance(mean[name], float) and isinstance(std.get(name), float)
            )
            yield f"held out    {scores} ({folds} folds)"
    path = facts["objective"]
    yield f"objective   {path[0]:.6g} {sparkline(path)} {path[-1]:.6g}"
    if facts["penalty"] is not None:
        by = ", chosen by cross-validation" if facts["parameters"]["alpha"] == "auto" else ""
        yield f"penalty     {facts['penalty']:g}{by}"
    yield f"parameters  {', '.join(_changed(facts)) or 'all at their defaults'}"
    yield f"inputs      {facts['inputs']}"
    for column in facts.get("columns", []):
        yield f"  {column['name']}: {_kind(column)}"


def _kind(column: dict[str, Any]) -> str:
    match column["kind"]:
        case "text":
            return f"text: {_some(column['categories'])}"
        case "date":
            return f"date, from {column['start']} on"
    return f"number, {column['fill']:g} if missing"


def _changed(facts: dict[str, Any]) -> Iterator[str]:
    """The parameters that differ from their defaults."""
    import stagenets

    defaults = getattr(stagenets, facts["estimator"])().get_params()
    for name, value in facts["parameters"].items():
        if value != defaults[name]:
            yield f"{name}={value!r}"


def _some(values: list[Any]) -> str:
    shown = ", ".join(
        "(missing)" if value is None else str(value) for value in values[:_MOST_CATEGORIES_SHOWN]
    )
    more = len(values) - _MOST_CATEGORIES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
