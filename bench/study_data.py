"""Training and test data for the benchmarks: UCI data from a folder, and two synthetic problems."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification, make_friedman1
from sklearn.model_selection import train_test_split

SYNTHETIC = ("classification", "friedman1")


@dataclass(frozen=True)
class Dataset:
    """Rows to fit on and rows to test on."""

    name: str
    task: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]

    @property
    def regression(self) -> bool:
        return self.task == "regression"

    @property
    def score_name(self) -> str:
        return "test R²" if self.regression else "test accuracy"


def _rows(name: str, folder: Path | None, size: int) -> tuple[NDArray[Any], NDArray[Any]]:
    if name == "classification":
        return make_classification(
            size, 50, n_informative=20, n_redundant=10, n_classes=5, random_state=0
        )
    if name == "friedman1":
        return make_friedman1(size, 10, noise=1.0, random_state=0)
    if folder is None:
        raise SystemExit(f"{name} needs the UCI data: --data DIR or STAGENETS_DATA")
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        return np.asarray(file["X"], dtype=np.float64), file["y"]


def load(name: str, folder: Path | None = None, *, split: int = 0, size: int = 20_000) -> Dataset:
    """A UCI data set by name, "classification" or "friedman1" (`size` rows); 70 % for fitting."""
    X, y = _rows(name, folder, size)
    regression = name == "friedman1"
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=0.7, random_state=split, stratify=None if regression else y
    )
    return Dataset(name, "regression" if regression else "classes", X, y, X_test, y_test)


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """--data DIR, by default from STAGENETS_DATA."""
    default = os.environ.get("STAGENETS_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        default=Path(default) if default else None,
        help="folder of UCI data as NAME.npz with X and y (default: STAGENETS_DATA)",
    )
