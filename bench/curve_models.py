"""The models whose accuracy-over-time curves are compared: settings and constructors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from libraries import LIBRARIES, Library
from stagenets import RVFLClassifier, RVFLRegressor
from study_data import Dataset

ONE_SHOT = "one-shot"

# Other libraries for networks of random units, which have classifiers only; and boosted trees.
PEERS = [each for each in LIBRARIES if each.name in ("gfdl", "scikit-elm", "swimnetworks")]
(TREES,) = (each for each in LIBRARIES if each.name == "LightGBM")

# The readouts of guided classifiers minimise the log-loss unless a line says otherwise.
GUIDED_DEFAULT = "guided"
GUIDED: dict[str, dict[str, Any]] = {
    GUIDED_DEFAULT: {},
    "guided, squared error": {"loss": "squared"},
    "guided, dense": {"weight_init": "uniform"},
}

GUIDED_SIZES = (5, 10, 25, 50, 100, 200, 400, 800)
SIZES = (50, 100, 200, 400, 800, 1600, 3200)


@dataclass(frozen=True)
class Point:
    """A model fitted for one point of its curve."""

    method: str
    setting: str
    units: int | None
    make: Callable[[Dataset, int], Any]


def network(data: Dataset, units: int, seed: int, **params: Any) -> Any:
    kind = RVFLRegressor if data.regression else RVFLClassifier
    return kind(n_hidden=units, alpha=1.0, random_state=seed, **params)


def _guided(units: int, params: dict[str, Any]) -> Callable[[Dataset, int], Any]:
    return lambda data, seed: network(data, units, seed, **params)


def _one_shot(units: int, family: str) -> Callable[[Dataset, int], Any]:
    params = {"selection": "random", "loss": "squared", "weight_init": family}
    return lambda data, seed: network(data, units, seed, **params)


def _nystroem(units: int) -> Callable[[Dataset, int], Any]:
    def make(data: Dataset, seed: int) -> Any:
        ridge = Ridge(alpha=1.0) if data.regression else RidgeClassifier(alpha=1.0)
        return make_pipeline(
            StandardScaler(), Nystroem(n_components=units, random_state=seed), ridge
        )

    return make


def _mlp(epochs: int) -> Callable[[Dataset, int], Any]:
    def make(data: Dataset, seed: int) -> Any:
        kind = MLPRegressor if data.regression else MLPClassifier
        model = kind(hidden_layer_sizes=(200,), max_iter=epochs, random_state=seed)
        return make_pipeline(StandardScaler(), model)

    return make


def _lightgbm(trees: int) -> Callable[[Dataset, int], Any]:
    def make(data: Dataset, seed: int) -> Any:
        import lightgbm

        kind = lightgbm.LGBMRegressor if data.regression else lightgbm.LGBMClassifier
        return kind(n_estimators=trees, random_state=seed, verbose=-1)

    return make


def _library(library: Library, units: int) -> Callable[[Dataset, int], Any]:
    return lambda data, seed: library.model(units)


@cache
def _is_here(library: Library) -> bool:
    reason = library.missing()
    if reason:
        print(f"left out: {reason}")
    return not reason


def points(data: Dataset, most_guided: int, most_units: int) -> Iterator[Point]:
    """Guided and one-shot networks, other random features, MLP and LightGBM, smallest first."""
    for method, params in GUIDED.items():
        if data.regression and "loss" in params:
            continue  # the squared error is what regressors minimise by default
        for units in GUIDED_SIZES:
            if units <= most_guided:
                yield Point(method, f"h = {units}", units, _guided(units, params))
    sizes = [size for size in SIZES if size <= most_units]
    for units in sizes:
        yield Point(ONE_SHOT, f"h = {units}", units, _one_shot(units, "sparse"))
        yield Point(f"{ONE_SHOT}, dense", f"h = {units}", units, _one_shot(units, "uniform"))
    for units in sizes:
        if units < len(data.X):
            yield Point("Nystroem + ridge", f"{units} rows", units, _nystroem(units))
    for epochs in (2, 5, 10, 20, 40):
        yield Point("MLP", f"200 units, {epochs} epochs", None, _mlp(epochs))
    if not data.regression:
        for library in filter(_is_here, PEERS):
            for units in sizes:
                yield Point(library.name, f"h = {units}", units, _library(library, units))
    if _is_here(TREES):
        for trees in (5, 20, 50, 100, 200):
            yield Point(TREES.name, f"{trees} trees", None, _lightgbm(trees))
