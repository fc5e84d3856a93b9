"""Classification data sets from a folder of ``NAME.npz`` files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Dataset:
    """Rows in file order, classes coded 0 … q-1.

    `collection` holds another coding of the same inputs, for data sets that have one.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    collection: NDArray[np.float64] | None = None

    @property
    def n_outputs(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1


def load(folder: Path, name: str) -> Dataset:
    """Read ``NAME.npz``: X (n × p), y (n) and optionally X_collection (n × p)."""
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        for needed in ("X", "y"):
            if needed not in file:
                raise ValueError(
                    f"{name}.npz must hold X and y; got {', '.join(file) or 'nothing'}"
                )
        X, y = np.asarray(file["X"], dtype=np.float64), file["y"]
        other = None
        if "X_collection" in file:
            other = np.asarray(file["X_collection"], dtype=np.float64)
    for label, inputs in (("X", X), ("X_collection", other)):
        if inputs is None:
            continue
        if inputs.ndim != 2 or y.ndim != 1 or len(inputs) != len(y) or inputs.size == 0:
            raise ValueError(
                f"{label} of {name}.npz must be a table with one row per label in y; "
                f"got shapes {inputs.shape} and {y.shape}"
            )
        if not np.isfinite(inputs).all():
            raise ValueError(f"{label} of {name}.npz must be finite; got NaN or infinity")
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y of {name}.npz must have at least two classes; got {len(classes)}")
    return Dataset(name, X, codes.astype(np.int64), other)


def available(folder: Path) -> list[str]:
    """Names of the data sets in a folder."""
    return sorted(path.stem for path in folder.glob("*.npz"))


def choose(folder: Path | None, wanted: Sequence[str] | None) -> list[str]:
    """The requested data sets, or all of them."""
    if folder is None:
        raise ValueError("--data must name a folder of NAME.npz files")
    names = available(folder)
    if not names:
        raise ValueError(f"--data must be a folder of NAME.npz files; found none in {folder}")
    return requested(names, wanted, f"files in {folder}")


def requested(names: list[str], wanted: Sequence[str] | None, kind: str) -> list[str]:
    """Those of the names that are wanted, each once, or all; `kind` says what they name."""
    missing = [name for name in wanted or () if name not in names]
    if missing:
        raise ValueError(
            f"--sets must name {kind}; got {', '.join(missing)}, available: {', '.join(names)}"
        )
    return list(dict.fromkeys(wanted)) if wanted else names
