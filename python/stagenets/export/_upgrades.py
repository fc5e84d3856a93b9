"""Upgrades of model files in earlier versions of the format, one version at a time."""

from __future__ import annotations

from collections.abc import Callable
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


def _checked(upgrade: Callable[[ModelState], ModelState]) -> Callable[[ModelState], ModelState]:
    def checked(state: ModelState) -> ModelState:
        try:
            return upgrade(state)
        except KeyError as error:
            raise ValueError(f"{error.args[0]} is missing") from error
        except (TypeError, AttributeError) as error:
            raise ValueError(f"its content does not match its version: {error}") from error

    return checked


#: Entry v converts a state written by version v to the state version v + 1 would have written.
UPGRADES: dict[int, Callable[[ModelState], Any]] = {1: _checked(_from_1)}
