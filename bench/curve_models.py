"""The models whose accuracy-over-time curves are compared: settings, and how each is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from residuum import RVFLClassifier, RVFLRegressor
from study_data import Dataset

ONE_SHOT = "one-shot"

# "guided" is the paper's choice; the others need what the installed version may not have yet.
GUIDED: dict[str, dict[str, Any]] = {
    "guided": {"pool_size": 100, "block_size": 4},
    "guided, sparse": {"pool_size": 100, "block_size": 4, "weight_init": "sparse"},
    "guided, joint": {"pool_size": 100, "block_size": 4, "selection": "joint"},
    "guided, large blocks": {
        "pool_size": 512,
        "block_size": 32,
        "selection": "joint",
        "score_fraction": 0.2,
        "weight_init": "sparse",
    },
}

SIZES = (50, 100, 200, 400, 800, 1600, 3200)


@dataclass(frozen=True)
class Point:
    """A model that is fitted for one point of its curve."""

    method: str
    setting: str
    units: int | None
    make: Callable[[Dataset, int], Any]


def network(data: Dataset, units: int, seed: int, **params: Any) -> Any:
    kind = RVFLRegressor if data.regression else RVFLClassifier
    return kind(n_hidden=units, random_state=seed, **params)


@cache
def refusal(method: str) -> str | None:
    """Why the installed version does not take these parameters, or None."""
    params = {**GUIDED[method], "n_hidden": 8}
    params.update(pool_size=16, block_size=min(4, params["block_size"]))
    X = np.random.default_rng(0).normal(size=(64, 3))
    try:
        RVFLClassifier(**params).fit(X, (X[:, 0] > 0).astype(int))
    except (TypeError, ValueError) as error:
        print(f"left out: {method}: {error}")
        return str(error)
    return None


def guided_networks(data: Dataset, units: int, seed: int) -> Iterator[tuple[str, Any]]:
    """The guided networks that the installed version can make."""
    for method, params in GUIDED.items():
        if refusal(method) is None:
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
        yield Point(ONE_SHOT, f"h = {units}", units, _one_shot(units, "uniform"))
        yield Point(f"{ONE_SHOT}, sparse", f"h = {units}", units, _one_shot(units, "sparse"))
    for units in sizes:
        if units < len(data.X):
            yield Point("Nystroem + ridge", f"{units} rows", units, _nystroem(units))
    for epochs in (2, 5, 10, 20, 40):
        yield Point("MLP", f"200 units, {epochs} epochs", None, _mlp(epochs))
    if _lightgbm_is_here():
        for trees in (5, 20, 50, 100, 200):
            yield Point("LightGBM", f"{trees} trees", None, _lightgbm(trees))
