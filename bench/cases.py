"""The timed fits: their sizes, their synthetic data and the targets set for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagenets import RVFLClassifier

FloatArray = NDArray[np.floating[Any]]
LabelArray = NDArray[np.int64]

ALPHA = 1.0


@dataclass(frozen=True)
class Case:
    """A fit with n rows, p inputs, q classes and h units; each stage keeps k from a pool of M."""

    name: str
    n: int
    p: int
    q: int
    h: int
    M: int
    k: int
    incremental_bar: float | None = None
    refit_bar: float | None = None
    weights: str = "sparse"

    @property
    def dense(self) -> Case:
        """The same case with units that see all inputs, as in classic networks."""
        return replace(self, name=f"{self.name}, dense", weights="uniform")

    @property
    def stages(self) -> int:
        return -(-self.h // self.k)

    @property
    def columns(self) -> int:
        """Columns of the finished design: the constant, the inputs, the units."""
        return 1 + self.p + self.h

    def network(self, **params: Any) -> RVFLClassifier:
        own = {"n_hidden": self.h, "pool_size": self.M, "block_size": self.k}
        method = {"loss": "squared", "selection": "residual", "weight_init": self.weights}
        fixed = {**method, "alpha": ALPHA, "random_state": 0}
        return RVFLClassifier(**{**own, **fixed, **params})

    def data(self, dtype: Any = np.float64, seed: int = 0) -> tuple[FloatArray, LabelArray]:
        """Rows of a few latent factors plus noise; classes from a curved function of them."""
        rng = np.random.default_rng(seed)
        factors = rng.standard_normal((self.n, 8), dtype=np.float32)
        X = factors @ rng.standard_normal((8, self.p), dtype=np.float32)
        X += 2 * rng.standard_normal((self.n, self.p), dtype=np.float32)
        curved = np.tanh(factors @ rng.standard_normal((8, 12))) @ rng.standard_normal((12, self.q))
        y = np.argmax(curved + 0.3 * rng.standard_normal((self.n, self.q)), axis=1)
        y[: self.q] = np.arange(self.q)
        return X.astype(dtype), y


SMALL = Case("small", 2_000, 20, 3, 200, 100, 1, incremental_bar=8, refit_bar=20)
MEDIUM = Case("medium", 20_000, 50, 5, 200, 100, 2, incremental_bar=6, refit_bar=10)
LARGE = Case("large", 100_000, 50, 2, 500, 200, 4, incremental_bar=6)
IMAGES = Case("images", 60_000, 784, 10, 200, 100, 2, incremental_bar=3)
WIDE = Case("wide", 500, 5_000, 3, 200, 100, 2, incremental_bar=4, refit_bar=8)
TINY = Case("tiny", 150, 4, 3, 50, 100, 1)

CASES = {case.name: case for case in (SMALL, MEDIUM, LARGE, IMAGES, WIDE)}
