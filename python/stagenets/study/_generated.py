"""Regression data sets that are generated, for what collections seldom hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3, make_regression

Data = tuple[NDArray[np.float64], NDArray[np.float64]]


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def _linear(rng: np.random.Generator) -> Data:
    X, y = make_regression(500, 30, n_informative=10, noise=20.0, random_state=_seed(rng))
    return X, y


def _curve(rng: np.random.Generator) -> Data:
    X = rng.uniform(-3, 3, size=(500, 1))
    return X, np.sin(4 * X[:, 0]) * np.exp(-np.abs(X[:, 0]) / 2) + 0.1 * rng.normal(size=500)


def _steps(rng: np.random.Generator) -> Data:
    X = rng.uniform(size=(1000, 4))
    return X, np.floor(4 * X[:, 0]) + 2 * (X[:, 1] > X[:, 2]) + 0.2 * rng.normal(size=1000)


def _noise(rng: np.random.Generator) -> Data:
    return rng.normal(size=(300, 8)), rng.normal(size=300)


def _skewed_target(rng: np.random.Generator) -> Data:
    X = rng.normal(size=(1000, 6))
    return X, np.exp(1.5 * np.tanh(X[:, 0]) + X[:, 1] / 2 + 0.3 * rng.normal(size=1000))


def _large_target(rng: np.random.Generator) -> Data:
    X, y = make_friedman1(600, noise=1.0, random_state=_seed(rng))
    return X, 1e9 + 1e6 * y


def _growing_noise(rng: np.random.Generator) -> Data:
    X = rng.uniform(-1, 1, size=(800, 5))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + np.exp(X[:, 2]) * 0.2 * rng.normal(size=800)


def _unlike_targets(rng: np.random.Generator) -> Data:
    X, y = make_friedman1(600, noise=1.0, random_state=_seed(rng))
    other = np.sin(5 * X[:, 5]) + X[:, 6] + 0.1 * rng.normal(size=600)
    return X, np.column_stack([y, 1e5 * other, 1e-5 * (y * other)])


def _heavy_tails(rng: np.random.Generator) -> Data:
    X = np.exp(2 * rng.normal(size=(800, 8)))
    return X, np.log(X[:, 0]) + np.log(X[:, 1] + X[:, 2]) + 0.1 * rng.normal(size=800)


def _wild_rows(rng: np.random.Generator) -> Data:
    X, y = make_friedman1(800, noise=1.0, random_state=_seed(rng))
    wild = rng.random(X.shape) < 0.002
    X[wild] = 1e6 * rng.normal(size=int(wild.sum()))
    return X, y


def _categories(rng: np.random.Generator) -> Data:
    kind = rng.integers(25, size=800)
    effects = rng.normal(size=25)
    X = np.column_stack([np.eye(25)[kind], rng.random((800, 3)) < 0.3, np.ones(800)])
    return X, effects[kind] + X[:, 25] * X[:, 26] + 0.2 * rng.normal(size=800)


_GENERATORS: dict[str, Callable[[np.random.Generator], Data]] = {
    "friedman1": lambda rng: make_friedman1(800, noise=1.0, random_state=_seed(rng)),
    "friedman2": lambda rng: make_friedman2(800, noise=125.0, random_state=_seed(rng)),
    "friedman3": lambda rng: make_friedman3(800, noise=0.1, random_state=_seed(rng)),
    "linear": _linear,
    "curve": _curve,
    "steps": _steps,
    "noise": _noise,
    "skewed_target": _skewed_target,
    "large_target": _large_target,
    "growing_noise": _growing_noise,
    "unlike_targets": _unlike_targets,
    "heavy_tails": _heavy_tails,
    "wild_rows": _wild_rows,
    "categories": _categories,
}

GENERATED = tuple(_GENERATORS)


def generate(name: str) -> Data:
    """The data set of this name, the same every time: X (n × p) and y (n or n × q)."""
    return _GENERATORS[name](np.random.default_rng(GENERATED.index(name)))
