"""What the columns of a table are for a network: numbers, and one input per category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from stagenets.fitting._rows import Label, Rows

if TYPE_CHECKING:
    from stagenets.fitting._fitted_network import FloatArray, Matrix
    from stagenets.fitting._weights import Weights

# Values that tell the medians of columns that are complete well enough, in 50 to 500 rows.
_MOST_VALUES = 100_000


@dataclass(frozen=True, eq=False)
class InputEncoding:
    """How columns become inputs, in their order.

    A column of numbers is one input, with its entry of `fills` where values are missing; if it is
    `flagged`, a second input is 1 where they are missing and 0 elsewhere. A column that is listed
    in `categories` is one input per category, 1 where it applies; None is the category of missing
    values, and labels that are not listed are zeros.
    """

    fills: Matrix
    flagged: NDArray[np.bool_]
    categories: Mapping[int, Sequence[Label]]

    @classmethod
    def learnt(cls, rows: Rows, weights: Weights | None, max_categories: int) -> InputEncoding:
        """The encoding for training rows, in which rows count by their weights."""
        if issparse(rows.values):  # mostly zeros, so these are the medians
            columns = rows.shape[1]
            return cls(np.zeros(columns), np.zeros(columns, dtype=bool), {})
        categories = {
            column: _frequent(labels, rows.values[:, column], weights, max_categories)
            for column, labels in rows.labels.items()
        }
        flagged: NDArray[np.bool_] = np.zeros(rows.shape[1], dtype=bool)
        if not rows.complete:
            np.isnan(rows.values).any(axis=0, out=flagged)
        flagged[list(categories)] = False
        most = np.clip(_MOST_VALUES // max(rows.shape[1], 1), 50, 500)
        some = np.linspace(0, len(rows) - 1, min(len(rows), int(most))).astype(np.intp)
        fills = _medians(rows.values[some], None if weights is None else weights[some])
        fills[flagged] = _medians(rows.values[:, flagged], weights)
        fills[list(categories)] = 0
        without = np.isnan(fills)  # any value: such inputs are constant and get no weight
        return cls(np.where(without, 0.0, fills), flagged & ~without, categories)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.fills)

    @property
    def is_identity(self) -> bool:
        """Whether columns without missing values are the inputs."""
        return not self.categories and not self.flagged.any()

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """Where the inputs of each column end."""
        widths = 1 + self.flagged.astype(np.int64)
        for column, labels in self.categories.items():
            widths[column] = len(labels)
        return np.cumsum(widths)

    def inputs(self, rows: Rows) -> FloatArray:
        """The inputs that these rows are; the values themselves if there is nothing to change."""
        values = rows.values
        if self.is_identity:
            if rows.complete:
                return values
            return np.where(np.isnan(values), self.fills.astype(values.dtype), values)
        if issparse(values):  # a fit to dense rows has added inputs for missing values
            values = csr_array(values).toarray()
        inputs = np.zeros((len(values), int(self.ends[-1])), dtype=values.dtype, order="F")
        starts = self.ends - np.diff(self.ends, prepend=0)
        numeric = np.setdiff1d(np.arange(self.n_columns), list(self.categories))
        numbers = values[:, numeric]
        missing = np.isnan(numbers)
        inputs[:, starts[numeric]] = np.where(missing, self.fills[numeric], numbers)
        inputs[:, starts[self.flagged] + 1] = missing[:, self.flagged[numeric]]
        for column, categories in self.categories.items():
            places = _places(values[:, column], rows.labels[column], categories)
            known = np.flatnonzero(places >= 0)
            inputs[known, starts[column] + places[known]] = 1
        return inputs

    def names(self, columns: Sequence[str]) -> list[str]:
        """Names of the inputs, from those of the columns: "age", "age: missing", "colour=red"."""
        names = []
        for number, column in enumerate(columns):
            if number in self.categories:
                names += [
                    f"{column}: missing" if label is None else f"{column}={label}"
                    for label in self.categories[number]
                ]
            else:
                names += [column, f"{column}: missing"][: 1 + int(self.flagged[number])]
        return names


def _frequent(
    labels: Sequence[Label], places: NDArray[Any], weights: Weights | None, most: int
) -> tuple[Label, ...]:
    """The most frequent labels in their order, and None at the end if some are missing."""
    known = ~np.isnan(places)
    counts = np.bincount(
        places[known].astype(np.intp),
        None if weights is None else weights[known],
        minlength=len(labels),
    )
    ranked = np.argsort(-counts, kind="stable")[:most]
    kept: tuple[Label, ...] = tuple(labels[i] for i in np.sort(ranked) if counts[i] > 0)
    return kept if known.all() else (*kept, None)


def _places(
    values: NDArray[Any], labels: Sequence[Label], categories: Sequence[Label]
) -> NDArray[np.intp]:
    """The place of each value among the categories, or -1."""
    place = {label: number for number, label in enumerate(categories)}
    places = np.array([place.get(label, -1) for label in (*labels, None)], dtype=np.intp)
    return places[np.where(np.isnan(values), len(labels), values).astype(np.intp)]


def _medians(values: NDArray[Any], weights: Weights | None) -> Matrix:
    """The median of each column, with values counted by weight; NaN if it has none."""
    if weights is None and not np.isnan(values).any():
        rows = np.ascontiguousarray(values.T, dtype=np.float64)
        middle = (len(values) - 1) // 2, len(values) // 2
        return _mean(*np.partition(rows, middle, axis=1)[:, middle].T)
    values = values.astype(np.float64)
    order = np.argsort(values, axis=0)  # NaN at the end
    values = np.take_along_axis(values, order, axis=0)
    counts = np.ones(len(values)) if weights is None else weights
    counts = np.where(np.isnan(values), 0.0, counts[order])
    reached = np.cumsum(counts, axis=0)
    half = reached[-1] / 2
    lower = np.argmax(reached >= half, axis=0)
    upper = np.argmax(reached > half, axis=0)
    columns = np.arange(values.shape[1])
    return _mean(values[lower, columns], values[upper, columns])


def _mean(one: Matrix, other: Matrix) -> Matrix:
    return 0.5 * one + 0.5 * other  # the sum of two large numbers may be too large
