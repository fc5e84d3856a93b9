"""From a table as it is read to columns that a network takes: numbers and categories.

What is learnt from a table is plain data (a kind for each column, and the first of its dates), so
that it can be stored in a model file with the network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from stagenets.cli._table_columns import (
    Column,
    DateColumn,
    NumberColumn,
    TextColumn,
    checked_texts,
    column_of,
    dates_of,
    day_comes_first,
    kind_of,
    texts_of,
    word_among_numbers,
)
from stagenets.cli._table_files import import_pandas
from stagenets.cli._usage import listed
from stagenets.fitting._fitted_network import FittedNetwork

# A column of texts is taken for an identifier if it has more different texts than this, and more
# than half as many as there are rows; one of whole numbers, if it rises over more rows than this.
_FEW_ROWS = 20


class ColumnTypes(TransformerMixin, BaseEstimator):
    """Finds out what the columns of a DataFrame hold, and gives them to a network as such.

    Columns are found by name: their order does not matter, and others are ignored. Identifiers and
    columns without values are left out. Texts become categories. A date becomes its year, its
    month, its day of the week (Monday is 0) and the days since the first date of the training
    table. What is missing stays missing.

    Parameters
    ----------
    target : str, sequence of str or None, default=None
        Columns that are not inputs.
    keep : sequence of str, default=()
        Columns to use even if they look like identifiers.
    day_first : bool, default=False
        Whether dates such as 3/4/2024 begin with the day if none of them shows it.
    missing : sequence of str, default=()
        Words that stand for missing values in files, in addition to the usual ones. They are kept
        for reading further files; in a DataFrame they have already been replaced.
    decimal : {".", ","} or None, default=None
        Decimal sign in files, kept for the same reason.

    Attributes
    ----------
    columns_ : list of NumberColumn, TextColumn or DateColumn
        The columns used.
    left_out_ : dict of str to str
        The columns not used, and why.
    remarks_ : list of str
        What else to know about the columns.
    """

    columns_: list[Column]
    left_out_: dict[str, str]
    remarks_: list[str]

    def __init__(
        self,
        target: str | Sequence[str] | None = None,
        keep: Sequence[str] = (),
        day_first: bool = False,
        missing: Sequence[str] = (),
        decimal: str | None = None,
    ) -> None:
        self.target = target
        self.keep = keep
        self.day_first = day_first
        self.missing = missing
        self.decimal = decimal

    @property
    def targets(self) -> list[str]:
        """Names of the columns that are not inputs."""
        return [self.target] if isinstance(self.target, str) else list(self.target or ())

    def fit(
        self, X: Any, y: Any = None, *, progress: Callable[[int, int], None] | None = None
    ) -> ColumnTypes:
        """Learn which columns hold what.

        Parameters
        ----------
        X : DataFrame
        y : ignored
        progress : callable (columns done, all columns), optional
            Called after each column: there may be very many.

        Returns
        -------
        self
        """
        self.columns_, self.left_out_, self.remarks_ = [], {}, []
        names = [name for name in _checked_table(X).columns if name not in self.targets]
        for done, name in enumerate(names, start=1):
            column = self._learn(name, X[name])
            if isinstance(column, str):
                self.left_out_[name] = column
            else:
                self.columns_.append(column)
            if progress is not None:
                progress(done, len(names))
        if not self.columns_:
            reasons = "".join(f"; {name!r} {reason}" for name, reason in self.left_out_.items())
            raise ValueError(f"the table has no column to learn from{reasons}")
        return self

    def _learn(self, name: str, values: Any) -> Column | str:
        """A column, or the reason why it is left out."""
        kind = kind_of(values)
        if kind == "numbers":
            if name not in self.keep and _numbers_rows(values):
                return f"holds rising whole numbers, all different, like an identifier{_use(name)}"
            return NumberColumn(name)
        if kind == "nothing":
            return "has no values"
        if kind == "times":
            return "holds times or durations"
        if kind == "dates":
            return self._learn_dates(name, values)
        if kind != "texts":
            return f"holds values of an unknown kind ({kind})"
        word = word_among_numbers(values)
        if word is not None:
            self.remarks_.append(
                f"column {name!r} is read as text because of {word!r}; if that stands for a "
                f"missing number, add --missing {word!r}"
            )
        different = len(set(texts_of(values)))
        if name not in self.keep and different > max(_FEW_ROWS, len(values) / 2):
            return f"holds {different} different texts in {len(values)} rows{_use(name)}"
        return TextColumn(name)

    def _learn_dates(self, name: str, values: Any) -> DateColumn:
        day_first = day_comes_first(values)
        if day_first is None:
            day_first = self.day_first
            order = "day/month/year" if day_first else "month/day/year (else add --day-first)"
            self.remarks_.append(f"column {name!r} is read as {order}")
        start = dates_of(name, values, day_first=day_first).min()
        return DateColumn(name, start.strftime("%Y-%m-%d"), day_first)

    def transform(self, X: Any) -> Any:
        """The columns for the network.

        Parameters
        ----------
        X : DataFrame

        Returns
        -------
        DataFrame
            With columns of float64 and of categories.
        """
        check_is_fitted(self)
        present = _checked_table(X).columns
        missing = [column.name for column in self.columns_ if column.name not in present]
        if missing:
            raise ValueError(
                f"the table must have the columns that the model was fitted on; it lacks "
                f"{listed(missing)}"
            )
        typed: dict[str, Any] = {}
        for column in self.columns_:
            typed |= dict(zip(column.names, column.typed(X[column.name]), strict=True))
        return import_pandas().DataFrame(typed, index=X.index)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns for the network: "age", "colour", "born: year".

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names = [name for column in self.columns_ for name in column.names]
        return np.array(names, dtype=object)

    @property
    def text_columns(self) -> list[str]:
        """Names of the columns to be read as text: categories, and dates as people write them."""
        return [column.name for column in self.columns_ if not isinstance(column, NumberColumn)]

    def unlisted(self, X: Any, network: FittedNetwork) -> dict[str, Counter[str]]:
        """For each column of text, the texts that get no input and how often they occur."""
        assert network.encoding is not None
        names = self.get_feature_names_out().tolist()
        found = {}
        for column in self.columns_:
            if isinstance(column, TextColumn):
                known = network.encoding.categories[names.index(column.name)]
                counts = Counter(texts_of(X[column.name]))
                found[column.name] = Counter({t: counts[t] for t in counts.keys() - {*known, ""}})
        return {name: counts for name, counts in found.items() if counts}

    def to_plain(self) -> dict[str, Any]:
        """What was learnt, as JSON-compatible data."""
        several = not isinstance(self.target, str | None)
        return {
            "target": self.targets if several else self.target,
            "missing": list(self.missing),
            "decimal": self.decimal,
            "columns": [column.to_plain() for column in self.columns_],
        }

    @classmethod
    def from_plain(cls, plain: Any) -> ColumnTypes:
        """The object from the output of `to_plain`; ValueError if it is anything else."""
        match plain:
            case {"target": [_, *_] as names, "missing": [*words], "columns": [*columns]}:
                types = cls(target=checked_texts(names), missing=checked_texts(words))
            case {"target": str() | None as target, "missing": [*words], "columns": [*columns]}:
                types = cls(target=target, missing=checked_texts(words))
            case _:
                raise ValueError(
                    "the table must have a target, words for missing values and columns; got "
                    f"{short(plain)}"
                )
        decimal = plain.get("decimal")
        if decimal not in (None, ".", ","):
            raise ValueError(f"the table's decimal sign must be . or ,; got {short(decimal)}")
        types.decimal = decimal
        types.columns_ = [column_of(column) for column in columns]
        types.left_out_, types.remarks_ = {}, []
        names = [column.name for column in types.columns_]
        if not names or len(set(names)) < len(names):
            raise ValueError("the table must have columns of different names")
        return types


def _numbers_rows(values: Any) -> bool:
    """Whether a column is rather the number of the row: whole numbers that rise."""
    return bool(
        len(values) > _FEW_ROWS
        and values.dtype.kind in "iu"
        and values.notna().all()
        and values.is_unique
        and values.is_monotonic_increasing
    )


def _use(name: str) -> str:
    return f" (--keep {name} uses it)"


def _checked_table(X: Any) -> Any:
    if not isinstance(X, import_pandas().DataFrame):
        raise TypeError(f"X must be a pandas DataFrame; got {type(X).__name__}")
    return X
