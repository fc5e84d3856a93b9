"""Upgrades of model files in earlier versions of the format, one version at a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from reprlib import repr as short
from typing import Any

import numpy as np

from stagenets.export._model_state import Arrays, ModelState

# Names in version 1: for each layer, the parameter with its activation, then its arrays. Networks
# without feature nodes had only the last layer.
_LAYERS_1 = (
    ("feature_activation", "feature_weights_", "feature_biases_", "feature_scales_",
     "feature_offsets_"),
    ("enhancement_activation", "hidden_weights_", "hidden_biases_"),
)  # fmt: skip
_NAMES = ("weights", "biases", "scales", "offsets")


def _from_1(state: ModelState) -> ModelState:
    """Version 1 stored the fitted attributes, and the activations among the parameters."""
    arrays, header = dict(state.arrays), dict(state.header)
    params = header["params"]
    broad = "feature_weights_" in arrays
    layers = _LAYERS_1 if broad else (("activation", *_LAYERS_1[1][1:]),)
    new: Arrays = {}
    for number, (_, *names) in enumerate(layers):
        for name, old in zip(_NAMES, names, strict=False):
            new[f"layer{number}.{name}"] = arrays.pop(old)
    coef, intercept = arrays.pop("coef_"), arrays.pop("intercept_")
    new["readout"] = np.vstack([np.atleast_2d(coef).T, np.reshape(intercept, (1, -1))])
    header["activations"] = [params[layer[0]] for layer in layers]
    header["one_target"] = coef.ndim == 1
    for name, array in arrays.items():  # objective_path_ and so on; path.start and so on
        new[name.removesuffix("_")] = array
    return ModelState(header, new)


def _from_2(state: ModelState) -> ModelState:
    """Version 2 stored what columns become with the table, and the network took the inputs."""
    if "table" not in state.header:
        return state
    arrays, header = dict(state.arrays), dict(state.header)
    columns, names, fills = [], [], []
    categories: list[list[Any]] = []
    for column in header["table"]["columns"]:
        match column:
            case {"name": str(name), "start": str(start), "fill": float(days), "day_first": first}:
                columns.append({"name": name, "kind": "date", "start": start, "day_first": first})
                names += [f"{name}: {part}" for part in ("year", "month", "day of week", "days")]
                filled = datetime.fromisoformat(start) + timedelta(days=days)
                fills += [filled.year, filled.month, filled.weekday(), days]
            case {"name": str(name), "fill": float(fill)}:
                columns.append({"name": name, "kind": "number"})
                names.append(name)
                fills.append(fill)
            case {"name": str(name), "categories": list(labels)}:
                columns.append({"name": name, "kind": "text"})
                categories.append([len(names), [label or None for label in labels]])
                names.append(name)
                fills.append(0.0)
            case _:
                raise ValueError(
                    f"the table must have columns as of version 2; got {short(column)}"
                )
    header["table"] = {**header["table"], "columns": columns}
    header |= {"feature_names": names, "categories": categories}
    arrays["encoding.fills"] = np.array(fills, dtype=np.float64)
    arrays["encoding.flagged"] = np.zeros(len(fills), dtype=np.int64)
    if "importances" in arrays:  # of the inputs
        widths = np.ones(len(fills), dtype=np.int64)
        for number, labels in categories:
            widths[number] = len(labels)
        arrays["importances"] = np.add.reduceat(arrays["importances"], np.cumsum(widths) - widths)
    return ModelState(header, arrays)


def _checked(upgrade: Callable[[ModelState], ModelState]) -> Callable[[ModelState], ModelState]:
    def checked(state: ModelState) -> ModelState:
        try:
            return upgrade(state)
        except KeyError as error:
            raise ValueError(f"{error.args[0]} is missing") from error
        except (TypeError, AttributeError, IndexError, OverflowError) as error:
            raise ValueError(f"its content does not match its version: {error}") from error

    return checked


#: Entry v converts a state written by version v to the state version v + 1 would have written.
UPGRADES: dict[int, Callable[[ModelState], Any]] = {
    1: _checked(_from_1),
    2: _checked(_from_2),
}
