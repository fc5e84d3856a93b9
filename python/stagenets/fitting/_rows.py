"""Rows as people have them, in arrays and data frames, as an array of numbers."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack
from sklearn.utils import assert_all_finite, check_array, check_X_y
from sklearn.utils.validation import validate_data

from stagenets.fitting._fitted_network import FloatArray
from stagenets.fitting._parameters import refusal

FLOAT_TYPES = (np.float64, np.float32)

Label = Hashable

_MOST_SPARSE = 2**31 - 1  # rows or columns, which the core numbers in 32 bits
_ACCEPTED = "'from_dtype', None, or the categorical columns as a list of names, numbers or flags"


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of numbers, NaN where they are missing; `complete` says that none is.

    In a categorical column, the numbers are places in its `labels`, by column. Values may be
    sparse if they are complete and without categories.
    """

    values: FloatArray
    labels: Mapping[int, Sequence[Label]]
    complete: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        rows, columns = self.values.shape
        return rows, columns

    @property
    def are_inputs(self) -> bool:
        """Whether a network can read the values as they are."""
        return self.complete and not self.labels

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: NDArray[Any]) -> Rows:
        return replace(self, values=self.values[rows])

    def followed_by(self, more: Rows) -> Rows:
        """These rows and more, with the labels of both in the same categorical columns."""
        labels = {j: _sorted({*own, *more.labels[j]}) for j, own in self.labels.items()}
        values = _stacked(self._values_in(labels), more._values_in(labels))
        return Rows(values, labels, self.complete and more.complete)

    def _values_in(self, labels: Mapping[int, Sequence[Label]]) -> FloatArray:
        """The values in terms of other labels, which contain the own ones."""
        if not labels:
            return self.values
        values: FloatArray = self.values.copy()
        for column, wanted in labels.items():
            place = {label: number for number, label in enumerate(wanted)}
            places = np.array([place[label] for label in self.labels[column]])
            known = ~np.isnan(values[:, column])
            values[known, column] = places[values[known, column].astype(np.intp)]
        return values


def _stacked(values: Any, more: Any) -> Any:
    """One table above the other; sparse if both are."""
    if issparse(values) and issparse(more):
        return csr_array(vstack([values, more], format="csr"))
    return np.concatenate([csr_array(v).toarray() if issparse(v) else v for v in (values, more)])


def checked_rows(
    model: Any,
    X: Any,
    y: Any = "no_validation",
    *,
    reset: bool = True,
    categorical: Collection[int] | None = None,
    **checks: Any,
) -> tuple[Rows, Any]:
    """X and y as scikit-learn checks them, but with missing values and categories in X.

    Unless it is given which columns are categorical, those are with `reset` that the model's
    `categorical_features` names, otherwise those of the fit. `checks` are options for y.
    """
    no_y = isinstance(y, str) and y == "no_validation"
    if categorical is None:
        categorical = categorical_columns(model, X) if reset else model.network_.categorical_columns
    if not categorical:
        options = {
            "accept_sparse": "csr",
            "dtype": FLOAT_TYPES,
            "ensure_all_finite": False,
            **checks,
        }
        checked = validate_data(model, X, y, reset=reset, **options)
        values, y = (checked, None) if no_y else checked
        if issparse(values) and max(values.shape) > _MOST_SPARSE:
            raise ValueError(
                f"sparse X must have fewer than 2^31 rows and columns; got shape {values.shape}"
            )
        return Rows(values, {}, _are_complete(values)), y
    if issparse(X):
        raise ValueError("X must be dense to have categorical columns; got a sparse matrix")
    validate_data(model, X, reset=reset, skip_check_array=True)
    rows = _coded(model, X, categorical)
    if no_y:
        return rows, None
    _, y = check_X_y(rows.values, y, ensure_all_finite=False, estimator=model, **checks)
    return rows, y


def categorical_columns(model: Any, X: Any) -> list[int]:
    """Numbers of the columns of X that are categorical according to the model."""
    given = model.categorical_features
    if given is None:
        return []
    frame = _frame(X)
    if isinstance(given, str):
        if given != "from_dtype":
            raise refusal("categorical_features", given, _ACCEPTED)
        kinds = [] if frame is None else frame.schema.values()
        return [j for j, kind in enumerate(kinds) if kind in (nw.Categorical, nw.Enum, nw.String)]
    listed = np.asarray(given)
    names = None if frame is None else frame.columns
    width = np.shape(X)[1] if len(np.shape(X)) == 2 else 0
    if listed.size == 0:
        return []
    if listed.dtype == bool and listed.shape == (width,):
        return [int(number) for number in np.flatnonzero(listed)]
    if listed.ndim == 1 and listed.dtype.kind in "iu":
        if listed.min() < 0 or listed.max() >= width:
            raise refusal("categorical_features", given, f"column numbers below {width}")
        return sorted({int(number) for number in listed})
    if listed.ndim == 1 and all(isinstance(name, str) for name in listed.tolist()):
        unknown = [name for name in listed.tolist() if names is None or name not in names]
        if unknown:
            raise refusal("categorical_features", unknown[0], "columns of a data frame X")
        return sorted({names.index(name) for name in listed.tolist()})  # type: ignore[union-attr]
    raise refusal("categorical_features", given, _ACCEPTED)


def _frame(X: Any) -> Any:
    """X for narwhals if it is a data frame in memory, otherwise None."""
    if isinstance(X, np.ndarray):
        return None
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _coded(model: Any, X: Any, categorical: Collection[int]) -> Rows:
    frame = _frame(X)
    if frame is None and not isinstance(X, np.ndarray):
        X = np.array(X, dtype=object)
    width = X.shape[1]
    numeric = [j for j in range(width) if j not in categorical]
    columns: dict[int, list[Label]] = {}
    for j in categorical:
        columns[j] = _labels_in_array(X[:, j]) if frame is None else _labels_in(frame[:, j])
    values: FloatArray = np.empty((len(X), width), order="F")
    if numeric:
        part = X[:, numeric] if frame is None else frame[:, numeric].to_native()
        numbers = _checked(model, part)
        values = np.empty((len(X), width), dtype=numbers.dtype, order="F")
        values[:, numeric] = numbers
    labels = {}
    for j, column in columns.items():
        labels[j] = _sorted(set(column) - {None})
        places: dict[Label, float] = {label: place for place, label in enumerate(labels[j])}
        places[None] = np.nan
        values[:, j] = [places[label] for label in column]
    return Rows(_checked(model, values), labels, _are_complete(values))


def _checked(model: Any, X: Any) -> FloatArray:
    options = {"ensure_all_finite": False, "input_name": "X", "estimator": model}
    checked: FloatArray = check_array(X, dtype=FLOAT_TYPES, **options)
    return checked


def _labels_in(series: Any) -> list[Label]:
    """The labels of a column of a data frame, None where they are missing."""
    missing = series.is_null().to_list()
    pairs = zip(series.to_list(), missing, strict=True)
    return [None if none else _plain(value) for value, none in pairs]


def _labels_in_array(values: NDArray[Any]) -> list[Label]:
    return [_plain(value) for value in values.tolist()]


def _plain(value: Any) -> Label:
    """A label as a value of Python's own types, as far as there is one; None for NaN."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and value != value:
        return None
    if not isinstance(value, Hashable):
        raise ValueError(f"categories must be texts, numbers or flags; got {value!r}")
    return value


def _sorted(labels: Collection[Label]) -> list[Label]:
    """Numbers, then texts, then whatever else there is."""

    def order(label: Any) -> tuple[int, Any]:
        if isinstance(label, (bool, int, float)):
            return 0, label
        return (1, label) if isinstance(label, str) else (2, repr(label))

    return sorted(labels, key=order)


def _are_complete(values: Any) -> bool:
    """Whether there is no NaN; ValueError for infinity, and for NaN in sparse rows."""
    if issparse(values):
        if not _are_complete(values.data):
            raise ValueError("Input X contains NaN: only dense inputs may have missing values")
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # in nearly all cases: a single sweep
            return True
    assert_all_finite(values, allow_nan=True, input_name="X")
    return not bool(np.isnan(values).any())
