"""Classification data sets from openml.org, in the format that the study reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml


@dataclass(frozen=True)
class Fetched:
    """What was written where."""

    path: Path
    samples: int
    inputs: int
    classes: list[str]
    filled: int
    dropped: int

    def __str__(self) -> str:
        text = f"{self.path}: {self.samples} × {self.inputs}, {len(self.classes)} classes"
        if self.filled:
            text += f", {self.filled} missing values filled in"
        if self.dropped:
            text += f", {self.dropped} rows without a class left out"
        return text


def fetch(name: str, folder: Path, *, one_hot: bool = False) -> Fetched:
    """Fetch ``NAME``, ``NAME:VERSION`` or a data set's number, and write ``NAME.npz``.

    Categories are coded 0, 1, … in the order in which the data set declares them, or get one column
    each. Missing values are replaced by the column's mean or its most frequent category.
    """
    # If asked for the target separately, scikit-learn fails on rows without a class.
    bunch = fetch_openml(
        **_request(name), target_column=None, as_frame=False, parser="liac-arff", cache=False
    )
    names, categories = list(bunch.feature_names), bunch.categories or {}
    table = bunch.data.toarray() if hasattr(bunch.data, "toarray") else bunch.data
    target = bunch.details.get("default_target_attribute")
    if target not in names or target not in categories:
        raise ValueError(f"the target must be one column of classes; got {target!r}")
    codes = table[:, names.index(target)]
    known = ~np.isnan(codes)
    labels = np.array(categories[target], dtype=str)[codes[known].astype(int)]
    classes, y = np.unique(labels, return_inverse=True)
    X = np.delete(table, names.index(target), axis=1)[known]
    names.remove(target)
    filled = int(np.isnan(X).sum())
    X, names = _encoded(X, names, categories, one_hot)
    folder.mkdir(parents=True, exist_ok=True)
    stem = bunch.details["name"] if name.isdecimal() else name.partition(":")[0]
    path = folder / (re.sub(r"[^\w.-]+", "_", stem) + ".npz")
    np.savez_compressed(
        path, X=X, y=y.astype(np.int64), classes=classes, feature_names=np.array(names, dtype=str)
    )
    samples, inputs = X.shape
    return Fetched(path, samples, inputs, classes.tolist(), filled, int((~known).sum()))


def _request(name: str) -> dict[str, Any]:
    if name.isdecimal():
        return {"data_id": int(name)}
    name, _, version = name.partition(":")
    if not name or (version and not version.isdecimal()):
        raise ValueError("a name must be NAME, NAME:VERSION or the number of a data set")
    return {"name": name, "version": int(version) if version else "active"}


def _encoded(
    X: NDArray[np.float64], names: Sequence[str], categories: dict[str, Any], one_hot: bool
) -> tuple[NDArray[np.float64], list[str]]:
    """Columns without missing values; categories become codes or columns of their own."""
    columns: list[NDArray[np.float64]] = []
    headings: list[str] = []
    for name, column in zip(names, X.T, strict=True):
        present = column[~np.isnan(column)]
        if name not in categories:
            filler = present.mean() if present.size else 0.0
        else:
            filler = float(np.bincount(present.astype(int)).argmax()) if present.size else 0.0
        column = np.where(np.isnan(column), filler, column)
        if one_hot and len(categories.get(name, ())) > 2:
            for code, category in enumerate(categories[name]):
                columns.append((column == code).astype(np.float64))
                headings.append(f"{name}={category}")
        else:
            columns.append(column)
            headings.append(name)
    if not columns:
        raise ValueError("a data set must have at least one input; this one has none")
    return np.column_stack(columns), headings
