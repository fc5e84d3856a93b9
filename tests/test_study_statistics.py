"""The study's tests over many data sets, against SciPy and hand-written formulas."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from stagenets.study._statistics import (
    critical_difference,
    friedman,
    indistinct_groups,
    ranks,
    surely_better,
    wilcoxon,
    win_tie_loss,
)


@pytest.fixture
def accuracy():
    """71 data sets, five models of different strength, coarse enough for ties."""
    rng = np.random.default_rng(0)
    return np.round(rng.uniform(50, 90, (71, 1)) + rng.normal(0, 2, (71, 5)) + np.arange(5))


def test_ranks_are_the_counts_of_better_models(accuracy):
    for row, found in zip(accuracy, ranks(accuracy), strict=True):
        better = [np.sum(row > value) + (np.sum(row == value) + 1) / 2 for value in row]
        np.testing.assert_array_equal(found, better)


def test_rounding_does_not_break_ties():
    third = 100 * np.array([[1 / 3, 1 - 2 / 3, 0.1 + 0.2]])
    assert third[0, 0] != third[0, 1]
    np.testing.assert_array_equal(ranks(third), [[1.5, 1.5, 3]])
    assert win_tie_loss(third[:, 0], third[:, 1]) == (0, 1, 0)


def test_wins_ties_and_losses_are_counted():
    assert win_tie_loss(np.array([3.0, 2, 1, 5]), np.array([1.0, 2, 3, 4])) == (2, 1, 1)


def test_surely_better_is_scipys_paired_t_test():
    rng = np.random.default_rng(0)
    signs = set()
    for gap in np.linspace(-0.03, 0.03, 13):
        first, second = rng.normal(0.9 + gap, 0.01, 5), rng.normal(0.9, 0.01, 5)
        test = stats.ttest_rel(first, second)
        expected = np.sign(test.statistic) if test.pvalue < 0.05 else 0
        assert surely_better(first, second) == expected
        signs.add(expected)
    assert signs == {-1, 0, 1}


def test_differences_without_deviation_decide_unless_they_vanish():
    better, worse = np.array([0.9, 0.8, 0.7]), np.array([0.8, 0.7, 0.6])
    assert (surely_better(better, worse), surely_better(worse, better)) == (1, -1)
    assert surely_better(better, better) == 0
    assert surely_better(better[:1], worse[:1]) == 0


def test_wilcoxon_is_scipys(accuracy):
    first, second = accuracy[:, 0], accuracy[:, 1]
    assert np.any(first == second)
    assert wilcoxon(first, second) == pytest.approx(stats.wilcoxon(first, second).pvalue)
    few = np.array([80.5, 71.25, 60.0, 90.0, 85.5, 77.75])
    lower = few - np.array([0.5, 1.25, -0.25, 2.0, 3.5, 1.75])
    assert wilcoxon(few, lower) == pytest.approx(stats.wilcoxon(few - lower).pvalue)


def test_wilcoxon_of_equal_models_is_one():
    assert wilcoxon(np.full(9, 70.0), np.full(9, 70.0)) == 1.0


def test_friedman_is_scipys(accuracy):
    test = friedman(accuracy)
    statistic, p_value = stats.friedmanchisquare(*accuracy.T)
    assert test.statistic == pytest.approx(statistic)
    assert test.p_value == pytest.approx(p_value)
    np.testing.assert_allclose(test.average_ranks, stats.rankdata(-accuracy, axis=1).mean(axis=0))
    assert test.sets == 71


def test_friedman_of_equal_models_finds_nothing():
    test = friedman(np.full((10, 3), 80.0))
    assert (test.statistic, test.p_value) == (0.0, 1.0)
    np.testing.assert_array_equal(test.average_ranks, [2, 2, 2])


@pytest.mark.parametrize("shape", [(5, 2), (1, 4)])
def test_friedman_needs_three_models_and_two_sets(shape):
    with pytest.raises(ValueError, match="needs 3 models and 2 sets"):
        friedman(np.ones(shape))


@pytest.mark.parametrize(("models", "sets"), [(2, 10), (6, 71), (17, 71)])
def test_nemenyi_separates_ranks_at_the_stated_level(models, sets):
    difference = critical_difference(models, sets)
    standard_error = math.sqrt(models * (models + 1) / (6 * sets))
    range_ = math.sqrt(2) * difference / standard_error
    assert stats.studentized_range.sf(range_, models, np.inf) == pytest.approx(0.05, rel=1e-4)


def test_nemenyi_with_two_models_is_the_normal_test():
    standard_error = math.sqrt(2 * 3 / (6 * 40))
    normal = stats.norm.ppf(0.975) * standard_error
    assert critical_difference(2, 40) == pytest.approx(normal, rel=1e-4)


def test_groups_are_the_longest_runs_within_the_critical_difference():
    rng = np.random.default_rng(1)
    for _ in range(50):
        places = np.sort(rng.uniform(1, 8, size=8))
        near = [
            (i, j) for i, j in itertools.combinations(range(8), 2) if places[j] - places[i] < 1.5
        ]
        longest = [
            (i, j)
            for i, j in near
            if not any(a <= i and j <= b and (a, b) != (i, j) for a, b in near)
        ]
        assert indistinct_groups(rng.permutation(places), 1.5) == longest
