"""A fitted estimator as plain data and back, with every size checked against the others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from residuum._bls import BLSClassifier, BLSRegressor, BroadNetwork
from residuum._classifier import NetworkClassifier
from residuum._elm import ELMClassifier, ELMRegressor
from residuum._network import StagewiseNetwork
from residuum._regressor import NetworkRegressor
from residuum._rvfl import RVFLClassifier, RVFLRegressor
from residuum._validation import ACTIVATIONS, check_choice

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

# Arrays and their dimensions. A dimension has the same size wherever it is named.
Layout = dict[str, tuple[str, ...]]
_AFFINE_UNITS: Layout = {"hidden_weights_": ("inputs", "units"), "hidden_biases_": ("units",)}
_BROAD_UNITS: Layout = {
    "feature_weights_": ("inputs", "feature nodes"),
    "feature_biases_": ("feature nodes",),
    "feature_scales_": ("feature nodes",),
    "feature_offsets_": ("feature nodes",),
    "hidden_weights_": ("feature nodes", "enhancement nodes"),
    "hidden_biases_": ("enhancement nodes",),
}
_READOUT: Layout = {"coef_": ("outputs", "columns"), "intercept_": ("outputs",)}
_READOUT_OF_ONE: Layout = {"coef_": ("columns",), "intercept_": ()}
_CLASSES: Layout = {"classes_": ("outputs",), "temperature_": ()}
_HISTORY: Layout = {
    "selected_": ("units", "numbers of a unit"),
    "objective_path_": ("points",),
    "residual_path_": ("points",),
}
# What only some fits leave behind: networks built in stages, or stopped by evidence.
_EVIDENCE: Layout = {
    "best_iter_": (),
    "units_path_": ("points",),
    "unit_scores_": ("units",),
    "pool_quantiles_": ("stages", "quantiles"),
    "loo_path_": ("points",),
    "loo_accuracy_path_": ("points",),
    "validation_path_": ("points",),
    "cv_path_": ("sizes tried",),
}
_PATH: Layout = {
    "start": ("columns and ones", "outputs"),
    "directions": ("columns and ones", "steps"),
    "steps": ("steps", "outputs"),
    "ends": ("kept points",),
}
_INTEGERS = ("selected_", "path.ends", "best_iter_", "units_path_")
_PLAIN = (bool, int, float, str)
_OUTPUTS = ("default", "pandas", "polars")
# A NumPy array of strings gives each the room of the longest: a small file could ask for much.
_MOST_CHARACTERS = 2**24


@dataclass
class ModelState:
    """What a model file holds: JSON data, and arrays."""

    header: dict[str, Any]
    arrays: Arrays


def _attributes(cls: type[StagewiseNetwork], *, one_target: bool) -> Layout:
    return {
        **(_BROAD_UNITS if issubclass(cls, BroadNetwork) else _AFFINE_UNITS),
        **(_READOUT_OF_ONE if one_target else _READOUT),
        **(_CLASSES if issubclass(cls, NetworkClassifier) else {}),
        **_HISTORY,
    }


def _whole(attributes: Layout) -> Layout:
    return attributes | {f"path.{name}": dimensions for name, dimensions in _PATH.items()}


def state_of(model: StagewiseNetwork) -> ModelState:
    """The state of a fitted estimator."""
    cls = type(model)
    if ESTIMATORS.get(cls.__name__) is not cls:
        raise ValueError(f"model must be one of {', '.join(ESTIMATORS)}; got {cls.__name__}")
    check_is_fitted(model)
    attributes = _attributes(cls, one_target=np.ndim(model.coef_) == 1)
    attributes |= {name: _EVIDENCE[name] for name in _EVIDENCE if hasattr(model, name)}
    values = {name: getattr(model, name) for name in attributes}
    values |= {f"path.{name}": model._path[name] for name in _PATH}
    integers = dict.fromkeys(_INTEGERS, np.int64)  # int alone is shorter on some systems
    arrays = {
        name: np.asarray(value, dtype=integers.get(name), order="C")
        for name, value in values.items()
    }
    _checked_sizes(cls, arrays, _whole(attributes))
    header: dict[str, Any] = {"estimator": cls.__name__, "params": _plain_params(model)}
    if "classes_" in arrays and not _is_storable(arrays["classes_"].dtype):
        header["classes"] = _plain_labels(arrays.pop("classes_"))
    if hasattr(model, "feature_names_in_"):
        header["feature_names"] = model.feature_names_in_.tolist()
    output = getattr(model, "_sklearn_output_config", {}).get("transform")
    if output is not None:
        header["output"] = output
    return ModelState(header, arrays)


def model_of(state: ModelState) -> StagewiseNetwork:
    """The estimator of a state; ValueError unless all of it is there and fits together."""
    header, arrays = state.header, dict(state.arrays)
    cls = ESTIMATORS[check_choice("estimator", header.get("estimator"), ESTIMATORS)]
    model = cls(**_checked_params(cls, header.get("params")))
    if "classes" in header:
        arrays["classes_"] = _labels(header["classes"])
    one_target = (
        issubclass(cls, NetworkRegressor)
        and arrays.keys() >= {"coef_"}
        and arrays["coef_"].ndim == 1
    )
    attributes = _attributes(cls, one_target=one_target)
    attributes |= {name: _EVIDENCE[name] for name in _EVIDENCE if name in arrays}
    sizes = _checked_sizes(cls, arrays, _whole(attributes))

    # Columns are contiguous in what the core makes; the bits of a product depend on that.
    arrays = {name: np.array(array, order="F") for name, array in arrays.items()}
    for name in attributes:
        setattr(model, name, arrays[name] if arrays[name].ndim else arrays[name].item())
    model._path = {name: arrays[f"path.{name}"] for name in _PATH}
    model._path["ends"] = arrays["path.ends"].tolist()
    model.n_features_in_ = sizes["inputs"]
    model.n_hidden_ = sizes["units"]
    model.n_iter_ = sizes["points"] - 1
    if "feature_names" in header:
        names = _checked_strings("feature_names", header["feature_names"])
        if len(names) != sizes["inputs"]:
            raise ValueError(f"there must be {sizes['inputs']} feature_names; got {len(names)}")
        model.feature_names_in_ = np.array(names, dtype=object)
    if "output" in header:
        model.set_output(transform=check_choice("output", header["output"], _OUTPUTS))
    return model


def _plain_params(model: StagewiseNetwork) -> dict[str, Any]:
    params = {name: _plain(value) for name, value in model.get_params(deep=False).items()}
    # Threads belong to the machine; a file must not be able to ask for a million of them.
    return {**params, "n_jobs": None}


def _plain(value: Any) -> Any:
    """The value if it is a word, a finite number or a flag, else None."""
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
        if value is not None and not isinstance(value, _PLAIN):
            raise ValueError(f"{name} must be a word, a number, a flag or None; got {short(value)}")
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
    """The arrays are those expected, with numbers of the expected kind."""
    for name in sorted(arrays.keys() ^ layout.keys()):
        raise ValueError(f"{name} is {'missing' if name in layout else 'not expected'}")
    for name, array in arrays.items():
        if name == "classes_":
            continue
        expected = np.int64 if name in _INTEGERS else np.float64
        if array.dtype != expected:
            raise ValueError(f"{name} must be of type {expected.__name__}; got {array.dtype}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite; got inf or NaN")
    if (arrays["selected_"] < 0).any():
        raise ValueError("selected_ must not be negative")
    ends = arrays["path.ends"]
    if ends.ndim != 1 or len(ends) == 0 or ends[0] != 0 or (np.diff(ends) < 0).any():
        raise ValueError("path.ends must be a list of integers that starts at 0 and never falls")
    if "classes_" in arrays:
        classes = arrays["classes_"]
        if classes.dtype.kind == "c" or not np.array_equal(np.unique(classes), classes):
            raise ValueError(
                "classes must be real numbers or strings, in order, none of them twice"
            )
        if len(classes) < 2:
            raise ValueError(f"there must be at least two classes; got {len(classes)}")


def _checked_sizes(cls: type[StagewiseNetwork], arrays: Arrays, layout: Layout) -> dict[str, int]:
    """The size of every dimension, if all arrays are there and agree on it; else ValueError."""
    _check_values(arrays, layout)
    sizes = {"numbers of a unit": 2, "quantiles": 5}
    if layout["intercept_"] == ():
        sizes["outputs"] = 1
    for name, dimensions in layout.items():
        shape = arrays[name].shape
        if len(shape) != len(dimensions):
            raise ValueError(f"{name} must have {len(dimensions)} dimensions; got shape {shape}")
        for dimension, size in zip(dimensions, shape, strict=True):
            if sizes.setdefault(dimension, size) != size:
                raise ValueError(
                    f"{name} has shape {shape}, but the number of {dimension} is {sizes[dimension]}"
                )
    units = sizes["units"]
    if issubclass(cls, BroadNetwork):
        units = sizes["feature nodes"] + sizes["enhancement nodes"]
    columns = units + (sizes["inputs"] if cls._architecture == "rvfl" else 0)
    sums = {
        "units": units,
        "columns": columns,
        "columns and ones": columns + 1,
        "steps": int(arrays["path.ends"][-1]),
        "stages": sizes["points"] - 1,
        # Early stopping keeps fewer stages than were run.
        "kept points": int(arrays.get("best_iter_", sizes["points"] - 1)) + 1,
    }
    if sums["kept points"] > sizes["points"]:
        raise ValueError(f"best_iter_ must be below {sizes['points']}; got {arrays['best_iter_']}")
    for dimension, size in sums.items():
        if sizes.get(dimension, size) != size:
            raise ValueError(f"the number of {dimension} must be {size}; got {sizes[dimension]}")
    return sizes
