"""Tests over many data sets; accuracies have one row per data set and one column per model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Table = NDArray[np.float64]

#: Accuracies (in per cent) closer than this are ties: equal sums may round differently.
TIE = 1e-9


def _rounded(values: Table) -> Table:
    return np.asarray(np.round(values, 9))


def ranks(accuracy: Table) -> Table:
    """Rank of each model on each data set: 1 is best, ties share their average rank."""
    return np.asarray(stats.rankdata(-_rounded(accuracy), axis=1))


def win_tie_loss(first: Table, second: Table) -> tuple[int, int, int]:
    """On how many data sets the first model is better, equal, worse."""
    difference = first - second
    wins, losses = int(np.sum(difference > TIE)), int(np.sum(difference < -TIE))
    return wins, len(difference) - wins - losses, losses


def surely_better(first: Table, second: Table, level: float = 0.05) -> int:
    """1 if the first model is better in the same test parts of a data set by a t-test, -1 if worse.

    0 if they may be equal at this level. Scores of test parts are paired.
    """
    difference = _rounded(first - second)
    if len(difference) < 2:
        return 0
    if np.ptp(difference) == 0:  # no deviation to divide by
        return int(np.sign(difference[0]))
    test = stats.ttest_1samp(difference, 0.0)
    return int(np.sign(test.statistic)) if test.pvalue < level else 0


def wilcoxon(first: Table, second: Table) -> float:
    """p-value of the two-sided signed-rank test without ties; 1 if there are only ties."""
    difference = _rounded(first - second)
    difference = difference[np.abs(difference) > TIE]
    return float(stats.wilcoxon(difference).pvalue) if len(difference) else 1.0


def critical_difference(models: int, sets: int, level: float = 0.05) -> float:
    """Nemenyi's critical difference: average ranks further apart differ at the given level."""
    quantile = stats.studentized_range.ppf(1 - level, models, np.inf) / math.sqrt(2)
    return float(quantile * math.sqrt(models * (models + 1) / (6 * sets)))


@dataclass(frozen=True)
class Friedman:
    """Whether the models differ at all, and how far apart average ranks must be to differ."""

    statistic: float
    p_value: float
    average_ranks: Table
    critical_difference: float
    sets: int


def friedman(accuracy: Table, level: float = 0.05) -> Friedman:
    """Friedman's test with Nemenyi's critical difference; needs three models and two sets."""
    sets, models = accuracy.shape
    if models < 3 or sets < 2:
        raise ValueError(f"Friedman's test needs 3 models and 2 sets; got {models} and {sets}")
    rounded = _rounded(accuracy)
    level_sets = np.all(np.abs(rounded - rounded[:, :1]) <= TIE)
    statistic, p_value = (0.0, 1.0) if level_sets else stats.friedmanchisquare(*rounded.T)
    return Friedman(
        float(statistic),
        float(p_value),
        ranks(accuracy).mean(axis=0),
        critical_difference(models, sets, level),
        sets,
    )


def indistinct_groups(average_ranks: Table, difference: float) -> list[tuple[int, int]]:
    """Longest runs of models, ordered by rank, whose ends are less than `difference` apart."""
    ordered = np.sort(average_ranks)
    groups: list[tuple[int, int]] = []
    for first in range(len(ordered)):
        last = int(np.searchsorted(ordered, ordered[first] + difference, side="left")) - 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups
