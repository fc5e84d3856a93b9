"""Conversion of a fitted estimator to plain data and back, with all sizes checked."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stagenets import _core
from stagenets.estimators._bls import BLSClassifier, BLSRegressor
from stagenets.estimators._classifier import NetworkClassifier
from stagenets.estimators._elm import ELMClassifier, ELMRegressor
from stagenets.estimators._network import StagewiseNetwork
from stagenets.estimators._rvfl import RVFLClassifier, RVFLRegressor
from stagenets.export._plain_encoding import encoding_of, plain_categories
from stagenets.fitting._fitted_network import (
    FitHistory,
    FittedNetwork,
    core_network,
    no_path,
    plain_network,
)
from stagenets.fitting._input_encoding import InputEncoding
from stagenets.fitting._parameters import ACTIVATIONS, check_choice, check_flag
from stagenets.fitting._uncertainty import Uncertainty

ESTIMATORS: dict[str, type[StagewiseNetwork]] = {
    cls.__name__: cls
    for cls in (
        RVFLClassifier,
        RVFLRegressor,
        ELMClassifier,
        ELMRegressor,
        BLSClassifier,
        BLSRegressor,
    )
}

Arrays = dict[str, NDArray[Any]]

# The arrays in a model file and their dimensions. A dimension has the same size wherever it is
# named; {i} counts the layers. Arrays under _OPTIONAL may be missing; without ends, every unit of a
# layer has one term.
Layout = dict[str, tuple[str, ...]]
_LAYER: Layout = {
    "layer{i}.weights": ("outputs of layer {j}", "terms of layer {i}"),
    "layer{i}.biases": ("terms of layer {i}",),
}
# Networks without bounds extrapolate, as all did before there were any.
_INPUTS_OPTIONAL: Layout = {
    "bounds": ("ends of a range", "outputs of layer -1"),
    "importances": ("columns",),
}
# Both or none, if the columns are the inputs and must be complete.
_ENCODING: Layout = {"encoding.fills": ("columns",), "encoding.flagged": ("columns",)}
_LAYER_OPTIONAL: Layout = {
    "layer{i}.scales": ("outputs of layer {i}",),
    "layer{i}.offsets": ("outputs of layer {i}",),
    "layer{i}.ends": ("outputs of layer {i}",),
}
_READOUT: Layout = {"readout": ("columns and ones", "outputs")}
# All of these or none, if the stages are left out.
_PATH: Layout = {
    "path.start": ("columns and ones", "outputs"),
    "path.directions": ("columns and ones", "steps"),
    "path.steps": ("steps", "outputs"),
    "path.ends": ("kept points",),
}
_CLASSES: Layout = {"classes": ("outputs",), "temperature": ()}
_SEVERAL_LABELS: Layout = {
    "classes": ("outputs",),
    "temperature": ("outputs",),
    "thresholds": ("outputs",),
}
_HISTORY: Layout = {
    "selected": ("units", "numbers of a unit"),
    "objective_path": ("points",),
    "residual_path": ("points",),
}
_HISTORY_OPTIONAL: Layout = {
    "best_iter": (),
    "units_path": ("points",),
    "unit_scores": ("units",),
    "pool_quantiles": ("stages", "quantiles"),
    "loo_path": ("points",),
    "loo_accuracy_path": ("points",),
    "validation_path": ("points",),
    "cv_sizes": ("sizes tried",),
    "cv_path": ("sizes tried",),
    "alpha": (),
}
# Of networks that know their errors; the last two of regressors only.
_UNCERTAINTY: Layout = {
    "uncertainty.errors": ("errors", "sorts of errors"),
    "uncertainty.root": ("columns and ones", "columns of the root"),
    "uncertainty.noise": ("outputs",),
}
_INTEGERS = ("selected", "best_iter", "units_path", "cv_sizes", "encoding.flagged")  # and all ends
_PLAIN = (bool, int, float, str)
_COLUMNS = "categorical_features"  # the only parameter that may be a list
_OUTPUTS = ("default", "pandas", "polars")
# In a NumPy array of strings each takes the space of the longest: a small file could claim a lot.
_MOST_CHARACTERS = 2**24


@dataclass
class ModelState:
    """The content of a model file: JSON data and arrays."""

    header: dict[str, Any]
    arrays: Arrays


def _type_of(name: str) -> type[np.generic]:
    """The element type of an array in a model file, other than the classes."""
    # int alone is shorter on some systems.
    return np.int64 if name in _INTEGERS or name.endswith(".ends") else np.float64


def _layout(cls: type[StagewiseNetwork], arrays: Arrays) -> Layout:
    """The arrays that a model of this class has, including the optional ones that are present."""
    layout, optional = {**_READOUT, **_HISTORY}, {**_INPUTS_OPTIONAL, **_HISTORY_OPTIONAL}
    if _UNCERTAINTY.keys() & arrays.keys():
        names = ["uncertainty.errors"] if issubclass(cls, NetworkClassifier) else _UNCERTAINTY
        layout |= {name: _UNCERTAINTY[name] for name in names}
    for layer in range(cls._n_layers):
        for template, target in ((_LAYER, layout), (_LAYER_OPTIONAL, optional)):
            for name, dimensions in template.items():
                numbered = tuple(d.format(i=layer, j=layer - 1) for d in dimensions)
                target[name.format(i=layer)] = numbered
    if issubclass(cls, NetworkClassifier):
        layout |= _SEVERAL_LABELS if "thresholds" in arrays else _CLASSES
    for together in (_PATH, _ENCODING):
        if together.keys() & arrays.keys():
            layout |= together
    return layout | {name: optional[name] for name in optional if name in arrays}


def state_of(model: StagewiseNetwork, *, staged: bool = True) -> ModelState:
    """The state of a fitted estimator; `staged` says whether to keep the readouts of its stages."""
    cls = type(model)
    if ESTIMATORS.get(cls.__name__) is not cls:
        raise ValueError(f"model must be one of {', '.join(ESTIMATORS)}; got {cls.__name__}")
    check_is_fitted(model)
    network = model.network_
    plain = plain_network(network.core)
    values: dict[str, Any] = {"readout": plain["readout"], "bounds": plain["bounds"]}
    values["importances"] = network.importances
    if network.encoding is not None:
        values["encoding.fills"] = network.encoding.fills
        values["encoding.flagged"] = network.encoding.flagged
    for number, layer in enumerate(plain["layers"]):
        values |= {f"layer{number}.{name}": layer[name] for name in layer if name != "activation"}
    if staged and network.is_staged:
        values |= {f"path.{name}": array for name, array in plain["path"].items()}
    values |= {field.name: getattr(network.history, field.name) for field in fields(FitHistory)}
    if network.uncertainty is not None:
        for name in ("errors", "root", "noise"):
            values[f"uncertainty.{name}"] = getattr(network.uncertainty, name)
    if network.classes is not None:
        values |= {"classes": network.classes, "temperature": network.temperature}
        values["thresholds"] = network.thresholds
    arrays = {
        name: np.asarray(value, dtype=None if name == "classes" else _type_of(name), order="C")
        for name, value in values.items()
        if value is not None
    }
    _checked_sizes(cls, arrays)
    header: dict[str, Any] = {
        "estimator": cls.__name__,
        "params": _plain_params(model),
        "activations": [layer.activation for layer in network.layers],
        "one_target": network.one_target,
    }
    if network.encoding is not None and network.encoding.categories:
        header["categories"] = plain_categories(network.encoding)
    if network.uncertainty is not None:
        header["intervals"] = network.uncertainty.kind
    if "classes" in arrays and not _is_storable(arrays["classes"].dtype):
        header["classes"] = _plain_labels(arrays.pop("classes"))
    if hasattr(model, "feature_names_in_"):
        header["feature_names"] = model.feature_names_in_.tolist()
    output = getattr(model, "_sklearn_output_config", {}).get("transform")
    if output is not None:
        header["output"] = output
    return ModelState(header, arrays)


def model_of(state: ModelState) -> StagewiseNetwork:
    """The estimator described by a state; ValueError unless it is complete and consistent."""
    header, arrays = state.header, dict(state.arrays)
    cls = ESTIMATORS[check_choice("estimator", header.get("estimator"), ESTIMATORS)]
    model = cls(**_checked_params(cls, header.get("params")))
    if "classes" in header:
        arrays["classes"] = _labels(header["classes"])
    sizes = _checked_sizes(cls, arrays)
    one_target = check_flag("one_target", header.get("one_target"))
    if one_target and (sizes["outputs"] != 1 or issubclass(cls, NetworkClassifier)):
        raise ValueError(f"one_target must be False with {sizes['outputs']} outputs")
    names = None
    if "feature_names" in header:
        names = _checked_strings("feature_names", header["feature_names"])
        if len(names) != sizes["columns"]:
            raise ValueError(f"there must be {sizes['columns']} feature_names; got {len(names)}")
        model.feature_names_in_ = np.array(names, dtype=object)
    model.n_features_in_ = sizes["columns"]
    model.network_ = FittedNetwork(
        _core_network(cls, arrays, header.get("activations")),
        _history(arrays),
        one_target=one_target,
        classes=arrays.get("classes"),
        temperature=_temperature(arrays),
        thresholds=arrays.get("thresholds"),
        feature_names=tuple(names or ()),
        importances=arrays.get("importances"),
        encoding=_encoding(arrays, header.get("categories", []), sizes["inputs"]),
        uncertainty=_uncertainty(cls, arrays, header.get("intervals")),
    )
    if "output" in header:
        model.set_output(transform=check_choice("output", header["output"], _OUTPUTS))
    return model


def _core_network(cls: type[StagewiseNetwork], arrays: Arrays, activations: Any) -> _core.Network:
    names = _checked_strings("activations", activations)
    if len(names) != cls._n_layers:
        raise ValueError(f"there must be {cls._n_layers} activations; got {len(names)}")
    layers = [
        {
            "activation": check_choice("an activation", activation, ACTIVATIONS),
            **_part(arrays, f"layer{number}."),
        }
        for number, activation in enumerate(names)
    ]
    return core_network(
        {
            "layers": layers,
            "direct_links": cls._links_inputs,
            "bounds": arrays.get("bounds"),
            "readout": arrays["readout"],
            "path": _part(arrays, "path.") or no_path(arrays["readout"]),
        }
    )


def _part(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names begin with `prefix`, by the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _history(arrays: Arrays) -> FitHistory:
    found: dict[str, Any] = {field.name: arrays.get(field.name) for field in fields(FitHistory)}
    if "best_iter" in arrays:
        found["best_iter"] = int(arrays["best_iter"])
    if "cv_path" in arrays and "cv_sizes" not in arrays:  # older files: all sizes were tried
        found["cv_sizes"] = np.arange(1, len(arrays["cv_path"]) + 1)
    if "alpha" in arrays:
        found["alpha"] = float(arrays["alpha"])
    return FitHistory(**found)


def _temperature(arrays: Arrays) -> Any:
    if "thresholds" in arrays:
        if not np.array_equal(arrays["classes"], np.arange(len(arrays["thresholds"]))):
            raise ValueError("the classes of several labels must be their numbers, from 0 on")
        return arrays["temperature"]
    return float(arrays.get("temperature", 1.0))


def _encoding(arrays: Arrays, categories: Any, inputs: int) -> InputEncoding | None:
    found = _part(arrays, "encoding.")
    if not found:
        return None
    return encoding_of(found["fills"], found["flagged"], categories, inputs)


def _uncertainty(cls: type[StagewiseNetwork], arrays: Arrays, kind: Any) -> Uncertainty | None:
    found = _part(arrays, "uncertainty.")
    if not found:
        return None
    kind = check_choice("intervals", kind, cls._interval_kinds)
    errors = found["errors"]
    if len(errors) == 0 or (errors < 0).any() or (np.diff(errors, axis=0) < 0).any():
        raise ValueError("uncertainty.errors must not be negative, and rise")
    sorts = 1 if issubclass(cls, NetworkClassifier) else arrays["readout"].shape[1]
    if errors.shape[1] != sorts:
        raise ValueError(f"uncertainty.errors must have {sorts} columns; got {errors.shape[1]}")
    return Uncertainty(kind, **found)


def _plain_params(model: StagewiseNetwork) -> dict[str, Any]:
    params = {name: _plain(value) for name, value in model.get_params(deep=False).items()}
    columns = getattr(model, _COLUMNS)
    if columns is not None and not isinstance(columns, str):
        params[_COLUMNS] = np.asarray(columns).tolist()
    # Threads depend on the machine; a file must not be able to request a million of them.
    return {**params, "n_jobs": None}


def _plain(value: Any) -> Any:
    """The value if it is a string, a finite number or a flag, otherwise None."""
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, _PLAIN) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value


def _checked_params(cls: type[StagewiseNetwork], params: Any) -> dict[str, Any]:
    names = cls._get_param_names()
    if not isinstance(params, dict):
        raise ValueError(f"params must be a table of parameters; got {short(params)}")
    for name, value in params.items():
        check_choice("a parameter", name, names)
        entries = value if name == _COLUMNS and isinstance(value, list) else [value]
        if not all(entry is None or isinstance(entry, _PLAIN) for entry in entries):
            raise ValueError(f"{name} must be text, a number, a flag or None; got {short(value)}")
        if name.endswith("activation"):
            check_choice(name, value, ACTIVATIONS)
    return {**params, "n_jobs": None}


def _is_storable(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "biuf" and dtype.itemsize <= 8  # long double is not


def _plain_labels(classes: NDArray[Any]) -> dict[str, Any]:
    labels = classes.tolist()
    if not all(isinstance(label, str) for label in labels):
        raise ValueError(
            "classes_ must be numbers, booleans or strings to be written to a file; got "
            f"{short(labels)} of dtype {classes.dtype}"
        )
    plain = {"labels": labels, "dtype": "object" if classes.dtype == object else "str"}
    _labels(plain)
    return plain


def _labels(plain: Any) -> NDArray[Any]:
    if not isinstance(plain, dict):
        raise ValueError(f"classes must be a table of labels and their dtype; got {short(plain)}")
    labels = _checked_strings("labels", plain.get("labels"))
    dtype = check_choice("dtype", plain.get("dtype"), ("object", "str"))
    characters = len(labels) * max(map(len, labels), default=0)
    if dtype == "str" and characters > _MOST_CHARACTERS:
        raise ValueError(
            f"labels of dtype str must have at most {_MOST_CHARACTERS} characters, each counted as "
            f"long as the longest; got {characters} (dtype object has no limit)"
        )
    return np.array(labels, dtype=dtype)


def _checked_strings(name: str, values: Any) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{name} must be a list of strings; got {short(values)}")
    return values


def _check_values(arrays: Arrays, layout: Layout) -> None:
    """Check that the arrays are those expected and hold numbers of the expected kind."""
    for name in sorted(arrays.keys() ^ layout.keys()):
        raise ValueError(f"{name} is {'missing' if name in layout else 'not expected'}")
    for name, array in arrays.items():
        if name == "classes":
            continue
        expected = _type_of(name)
        if array.dtype != expected:
            raise ValueError(f"{name} must be of type {expected.__name__}; got {array.dtype}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite; got inf or NaN")
    if (arrays["selected"] < 0).any():
        raise ValueError("selected must not be negative")
    ends = arrays.get("path.ends", np.zeros(1))
    if ends.ndim != 1 or len(ends) == 0 or ends[0] != 0 or (np.diff(ends) < 0).any():
        raise ValueError("path.ends must be a list of integers that starts at 0 and never falls")
    if "classes" in arrays:
        classes = arrays["classes"]
        if classes.dtype.kind == "c" or not np.array_equal(np.unique(classes), classes):
            raise ValueError(
                "classes must be real numbers or strings, sorted and without duplicates"
            )
        if len(classes) < 2:
            raise ValueError(f"there must be at least two classes; got {len(classes)}")


def _checked_sizes(cls: type[StagewiseNetwork], arrays: Arrays) -> dict[str, int]:
    """The size of every dimension; ValueError unless all arrays are present and agree on it."""
    layout = _layout(cls, arrays)
    _check_values(arrays, layout)
    sizes = {"numbers of a unit": 2, "ends of a range": 2, "quantiles": 5}
    for name, dimensions in layout.items():
        shape = arrays[name].shape
        if len(shape) != len(dimensions):
            raise ValueError(f"{name} must have {len(dimensions)} dimensions; got shape {shape}")
        for dimension, size in zip(dimensions, shape, strict=True):
            if sizes.setdefault(dimension, size) != size:
                raise ValueError(
                    f"{name} has shape {shape}, but the number of {dimension} is {sizes[dimension]}"
                )
    for layer in range(cls._n_layers):
        terms, ends = sizes[f"terms of layer {layer}"], arrays.get(f"layer{layer}.ends")
        if ends is None and sizes.setdefault(f"outputs of layer {layer}", terms) != terms:
            raise ValueError(f"layer {layer} must have one term per unit or say where they end")
        if ends is not None and (len(ends) == 0 or ends[-1] != terms):
            raise ValueError(f"layer{layer}.ends must rise to {terms}")
    sizes["inputs"] = sizes["outputs of layer -1"]
    if (
        "encoding.fills" not in arrays
        and sizes.setdefault("columns", sizes["inputs"]) != sizes["inputs"]
    ):
        raise ValueError(f"importances must be of {sizes['inputs']} inputs; got {sizes['columns']}")
    units = sum(sizes[f"outputs of layer {layer}"] for layer in range(cls._n_layers))
    columns = units + (sizes["inputs"] if cls._links_inputs else 0)
    expected = {
        "units": units,
        "columns and ones": columns + 1,
        "steps": int(arrays["path.ends"][-1]) if "path.ends" in arrays else 0,
        "stages": sizes["points"] - 1,
        # Early stopping keeps fewer stages than were run.
        "kept points": int(arrays.get("best_iter", sizes["points"] - 1)) + 1,
    }
    if expected["kept points"] > sizes["points"]:
        raise ValueError(f"best_iter must be below {sizes['points']}; got {arrays['best_iter']}")
    for dimension, size in expected.items():
        if sizes.get(dimension, size) != size:
            raise ValueError(f"the number of {dimension} must be {size}; got {sizes[dimension]}")
    return sizes
