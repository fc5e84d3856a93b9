"""How much a model needs each column: the score lost when the column is shuffled."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.inspection import permutation_importance

from stagenets.cli._usage import shortened
from stagenets.fitting._progress import count_progress

_REPEATS = 5
_MOST_BARS = 20


@dataclass(frozen=True)
class Importance:
    """Score lost by shuffling, shape (columns, repeats), and the names of the columns."""

    names: list[str]
    losses: NDArray[np.float64]
    score_name: str

    @classmethod
    def of(cls, model: Any, table: Any, y: NDArray[Any], options: argparse.Namespace) -> Importance:
        """Shuffle the columns of a table model one after the other."""
        names = [column.name for column in model["table"].columns_]
        calls, total = 0, 1 + len(names) * _REPEATS
        with count_progress("importance", int(not options.quiet), unit="prediction") as progress:

            def score(model: Any, X: Any, y: Any) -> float:
                nonlocal calls
                calls += 1
                value = float(model.score(X, y))
                if progress is not None:
                    progress(calls, total)
                return value

            found = permutation_importance(
                model, table[names], y, scoring=score, n_repeats=_REPEATS, random_state=0
            )
        return cls(names, found.importances, "accuracy" if is_classifier(model) else "R²")

    def plot(self, ax: Any) -> None:
        """Draw the columns that matter most, with the spread over the repeats."""
        means = self.losses.mean(axis=1)
        shown = np.argsort(means)[-_MOST_BARS:]
        ax.barh(
            range(len(shown)),
            means[shown],
            xerr=self.losses[shown].std(axis=1),
            color="C0",
            ecolor="grey",
        )
        more = len(self.names) > len(shown)
        title = f"importance: {len(shown)} of {len(self.names)} columns" if more else "importance"
        names = [shortened(self.names[i], 40) for i in shown]
        ax.set_yticks(range(len(shown)), labels=names, parse_math=False)  # names may hold $
        ax.set(xlabel=f"{self.score_name} lost when the column is shuffled", title=title)
        ax.grid(axis="x", alpha=0.3)
        ax.set_axisbelow(True)
