"""The models whose accuracy-over-time curves are compared: settings and constructors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stagenets import RVFLClassifier, RVFLRegressor
from study_data import Dataset

ONE_SHOT = "one-shot"

GUIDED: dict[str, dict[str, Any]] = {
    "guided": {"block_size": 4},
    "guided, joint": {"block_size": 4, "selection": "joint"},
    "guided, default": {},
    "guided, dense": {"block_size": 4, "weight_init": "uniform"},
}

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


def guided_networks(data: Dataset, units: int, seed: int) -> Iterator[tuple[str, Any]]:
    """The guided networks, each to be fitted once."""
    for method, params in GUIDED.items():
        yield method, network(data, units, seed, **params)


def _one_shot(units: int, family: str) -> Callable[[Dataset, int], Any]:
    return lambda data, seed: network(data, units, seed, selection="random", weight_init=family)


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


@lru_cache(maxsize=1)
def _lightgbm_is_here() -> bool:
    try:
        import lightgbm  # noqa: F401
    except ImportError:
        print("left out: LightGBM is not installed")
        return False
    return True


def points(data: Dataset, most_units: int) -> Iterator[Point]:
    """One-shot networks, Nystroem + ridge, MLP and LightGBM, smallest first."""
    sizes = [size for size in SIZES if size <= most_units]
    for units in sizes:
        yield Point(ONE_SHOT, f"h = {units}", units, _one_shot(units, "sparse"))
        yield Point(f"{ONE_SHOT}, dense", f"h = {units}", units, _one_shot(units, "uniform"))
    for units in sizes:
        if units < len(data.X):
            yield Point("Nystroem + ridge", f"{units} rows", units, _nystroem(units))
    for epochs in (2, 5, 10, 20, 40):
        yield Point("MLP", f"200 units, {epochs} epochs", None, _mlp(epochs))
    if _lightgbm_is_here():
        for trees in (5, 20, 50, 100, 200):
            yield Point("LightGBM", f"{trees} trees", None, _lightgbm(trees))
