"""From the columns of a table to the inputs of a network.

What is learnt of a table is plain data (a fill value or a list of categories for each column), so
that it can be kept in a model file beside the network.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from residuum._table_files import import_pandas

# pandas' names for what a column holds.
_NUMBERS = ("boolean", "integer", "floating", "decimal", "mixed-integer-float")
_TEXTS = ("string", "categorical", "mixed-integer")
_DATES = ("datetime64", "datetime", "date", "time", "timedelta64", "timedelta", "period")
_LOOKS_LIKE_A_DATE = r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}([ T].*)?"

# A text column is taken for an identifier if it has more different texts than this, and more than
# half as many as there are rows.
_FEW_TEXTS = 20


@dataclass(frozen=True)
class NumberColumn:
    """Numbers, and true and false as 1 and 0; missing ones are filled in."""

    name: str
    fill: float

    @property
    def inputs(self) -> list[str]:
        """Names of what the network sees."""
        return [self.name]

    def encode(self, values: Any) -> NDArray[np.float64]:
        """The column as inputs (n, 1)."""
        numbers = numbers_of(self.name, values)
        return np.where(np.isnan(numbers), self.fill, numbers)[:, None]


@dataclass(frozen=True)
class CategoryColumn:
    """Texts, one input for each category; a missing text is "", one not listed has zeros only."""

    name: str
    categories: tuple[str, ...]

    @property
    def inputs(self) -> list[str]:
        """Names of what the network sees."""
        return [f"{self.name}={category}" for category in self.categories]

    def encode(self, values: Any) -> NDArray[np.float64]:
        """The column as inputs (n, number of categories)."""
        position = {category: number for number, category in enumerate(self.categories)}
        positions = np.array([position.get(text, -1) for text in texts_of(values)])
        hits = positions[:, None] == np.arange(len(self.categories))
        return np.asarray(hits, dtype=np.float64)


Column = NumberColumn | CategoryColumn


class TableEncoder(TransformerMixin, BaseEstimator):
    """Numbers for a network from a DataFrame of numbers, texts and missing values.

    Columns are found by name: their order does not matter, and others are ignored. Dates,
    identifiers and columns without values are left out.

    Parameters
    ----------
    target : str or None, default=None
        Column that is not an input.
    max_categories : int, default=50
        Most inputs to make of a column of text; rarer texts get none.
    missing : sequence of str, default=()
        Words that stand for missing values in files, beside pandas' own. They are kept for those
        who read the next file; a DataFrame has them replaced already.

    Attributes
    ----------
    columns_ : list of NumberColumn or CategoryColumn
        The columns used.
    left_out_ : dict of str to str
        The columns not used, and why.
    """

    columns_: list[Column]
    left_out_: dict[str, str]

    def __init__(
        self,
        target: str | None = None,
        max_categories: int = 50,
        missing: Sequence[str] = (),
    ) -> None:
        self.target = target
        self.max_categories = max_categories
        self.missing = missing

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn which columns hold what.

        Parameters
        ----------
        X : DataFrame
        y : ignored

        Returns
        -------
        self
        """
        self.columns_, self.left_out_ = [], {}
        for name in _checked_table(X).columns:
            if name == self.target:
                continue
            column = _learn(name, X[name], self.max_categories)
            if isinstance(column, str):
                self.left_out_[name] = column
            else:
                self.columns_.append(column)
        if not self.columns_:
            reasons = "".join(f"; {name!r} {reason}" for name, reason in self.left_out_.items())
            raise ValueError(f"the table has no column to learn from{reasons}")
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The inputs of the network.

        Parameters
        ----------
        X : DataFrame

        Returns
        -------
        ndarray of shape (n_samples, n_inputs)
        """
        check_is_fitted(self)
        present = _checked_table(X).columns
        missing = [column.name for column in self.columns_ if column.name not in present]
        if missing:
            raise ValueError(
                f"the table must have the columns that the model was fitted on; it lacks "
                f"{_list(missing)}"
            )
        return np.hstack([column.encode(X[column.name]) for column in self.columns_])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the inputs of the network: "age", "colour=red".

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names = [name for column in self.columns_ for name in column.inputs]
        return np.array(names, dtype=object)

    @property
    def category_columns(self) -> list[str]:
        """Names of the columns of text."""
        return [column.name for column in self.columns_ if isinstance(column, CategoryColumn)]

    def to_plain(self) -> dict[str, Any]:
        """What was learnt, as data that JSON can hold."""
        columns = [
            {"name": column.name, "fill": column.fill}
            if isinstance(column, NumberColumn)
            else {"name": column.name, "categories": list(column.categories)}
            for column in self.columns_
        ]
        return {"target": self.target, "missing": list(self.missing), "columns": columns}

    @classmethod
    def from_plain(cls, plain: Any) -> TableEncoder:
        """The encoder of such data; ValueError if they are of another kind."""
        match plain:
            case {"target": str() | None as target, "missing": [*words], "columns": [*columns]}:
                encoder = cls(target=target, missing=_checked_texts(words))
            case _:
                raise ValueError(
                    "the table must have a target, words for missing values and columns; got "
                    f"{short(plain)}"
                )
        encoder.columns_ = [_column_of(column) for column in columns]
        encoder.left_out_ = {}
        names = [column.name for column in encoder.columns_]
        if not names or len(set(names)) < len(names):
            raise ValueError("the table must have columns of different names")
        return encoder


def _column_of(plain: Any) -> Column:
    match plain:
        case {"name": str(name), "fill": float(fill)} if math.isfinite(fill):
            return NumberColumn(name, fill)
        case {"name": str(name), "categories": [_, *_] as texts}:
            return CategoryColumn(name, tuple(_checked_texts(texts)))
    raise ValueError(
        f"a column must have a name and a fill value or categories; got {short(plain)}"
    )


def _checked_texts(texts: list[Any]) -> list[str]:
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"words and categories must be texts; got {short(texts)}")
    return texts


def _checked_table(X: Any) -> Any:
    if not isinstance(X, import_pandas().DataFrame):
        raise TypeError(f"X must be a pandas DataFrame; got {type(X).__name__}")
    return X


def kind_of(values: Any) -> str:
    """What a column holds: "numbers", "texts", "dates", "nothing" or pandas' word for it."""
    kind = str(import_pandas().api.types.infer_dtype(values, skipna=True))
    if kind == "empty" or values.isna().all():
        return "nothing"
    named = {"numbers": _NUMBERS, "texts": _TEXTS, "dates": _DATES}
    return next((name for name, kinds in named.items() if kind in kinds), kind)


def word_among_numbers(values: Any) -> str | None:
    """The commonest word in a column of text most of which is numbers, such as "?"."""
    words = Counter(text for text in texts_of(values) if text and not _is_number(text))
    return words.most_common(1)[0][0] if 0 < 2 * words.total() < values.count() else None


def _learn(name: str, values: Any, max_categories: int) -> Column | str:
    """A column, or why it is left out."""
    kind = kind_of(values)
    if kind == "numbers":
        return NumberColumn(name, float(np.nanmedian(numbers_of(name, values))))
    if kind == "nothing":
        return "has no values"
    if kind == "dates":
        return "holds dates or times"
    if kind != "texts":
        return f"holds values of an unknown kind ({kind})"
    counts = Counter(texts_of(values))
    if values.dropna().astype(str).str.fullmatch(_LOOKS_LIKE_A_DATE).all():
        return "holds dates or times"
    if len(counts) > max(_FEW_TEXTS, len(values) / 2):
        return f"holds {len(counts)} different texts in {len(values)} rows"
    frequent = sorted(counts, key=lambda text: (-counts[text], text))[:max_categories]
    return CategoryColumn(name, tuple(sorted(frequent)))


def numbers_of(name: str, values: Any) -> NDArray[np.float64]:
    """Floating-point numbers, NaN where missing."""
    if kind_of(values) not in ("numbers", "nothing"):
        raise ValueError(f"column {name!r} must hold numbers; got {_first_text(values)!r}")
    missing = values.isna().to_numpy(dtype=bool)
    numbers = np.full(len(values), np.nan)
    numbers[~missing] = values[~missing].astype(np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"column {name!r} must hold finite numbers; got infinity")
    return numbers


def texts_of(values: Any) -> list[str]:
    """Texts, "" where missing."""
    pairs = zip(values.tolist(), values.isna().tolist(), strict=True)
    return ["" if missing else str(value) for value, missing in pairs]


def _first_text(values: Any) -> Any:
    """A value that is no number, to show; any value if all are, in some other guise."""
    present = values.dropna()
    return next((value for value in present if not _is_number(value)), present.iloc[0])


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _list(names: Iterable[str], most: int = 10) -> str:
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - most} more" if len(quoted) > most else ""
    return ", ".join(quoted[:most]) + more
