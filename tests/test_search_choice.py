"""Searches keep the default network unless another one is surely better."""

import numpy as np
import pytest

import problems
import stagenets
from stagenets.search._choice import cautious_choice

DEFAULT = {"alpha": 3.0, "n_hidden": 50}


def candidates(alphas=(1.0, 3.0, 10.0), sizes=(10, 50)):
    return [{"alpha": alpha, "n_hidden": size} for alpha in alphas for size in sizes]


def choice(scores, tried=None, default=DEFAULT):
    scores = np.asarray(scores, dtype=float)
    best = int(np.argmax(scores.mean(axis=1)))
    return cautious_choice(tried or candidates(), scores, best, default, "n_hidden"), best


def scores_with(row, values, others=0.5, splits=4):
    scores = np.full((6, splits), others)
    scores[row] = values
    return scores


def test_a_gain_within_its_standard_error_does_not_count():
    gains = np.array([0.1, -0.05, 0.05, -0.06])
    assert gains.mean() < gains.std(ddof=1) / 2
    assert choice(scores_with(0, 0.5 + gains)) == (3, 0)


def test_a_sure_gain_counts():
    gains = np.array([0.02, 0.03, 0.02, 0.03])
    assert choice(scores_with(0, 0.5 + gains)) == (0, 0)


def test_differences_count_not_spreads():
    """Splits of unlike difficulty move all candidates together."""
    hard = np.array([0.9, 0.2, 0.6, 0.4])
    scores = np.tile(hard, (6, 1))
    scores[0] += [0.02, 0.03, 0.02, 0.03]
    assert choice(scores) == (0, 0)


def test_equals_are_the_default():
    assert choice(np.full((6, 4), 0.7)) == (3, 0)


def test_default_may_be_smaller_than_usual_but_not_larger():
    tried = candidates(sizes=(10, 30))
    assert choice(np.full((6, 4), 0.7), tried) == (3, 0)
    assert choice(np.full((6, 4), 0.7), candidates(sizes=(30, 60))) == (2, 0)
    assert choice(np.full((6, 4), 0.7), candidates(sizes=(60, 70))) == (0, 0)


def test_without_the_default_the_best_is_taken():
    tried = candidates(alphas=(0.1, 1.0, 10.0))
    scores = scores_with(5, [0.6, 0.4, 0.7, 0.4])
    assert choice(scores, tried) == (5, 5)


def test_one_split_has_no_standard_error():
    assert choice(scores_with(0, [0.6], splits=1)) == (0, 0)


@pytest.mark.parametrize(
    "cls", [stagenets.RVFLClassifierCV, stagenets.RVFLRegressorCV], ids=problems.name_of
)
def test_search_takes_the_default_network_on_noise(cls):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(90, 3)), rng.normal(size=90)
    y = (y > 0).astype(int) if cls is stagenets.RVFLClassifierCV else y
    tried = {"alphas": (1.0, 3.0), "n_hidden": (40, 50), "pool_sizes": (100,)}
    search = cls(**tried, cv=4, random_state=0).fit(X, y)
    other = cls(**tried, cv=4, random_state=0, prefer_default=False).fit(X, y)
    results = other.cv_results_
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], results["mean_test_score"])
    assert other.best_score_ == results["mean_test_score"].max()
    default = results["params"].index({**results["params"][0], "alpha": 3.0, "n_hidden": 50})
    splits = np.stack([results[f"split{i}_test_score"] for i in range(4)])
    gains = splits[:, other.best_index_] - splits[:, default]
    sure = gains.mean() > gains.std(ddof=1) / 2
    assert search.best_index_ == (other.best_index_ if sure else default)
    assert search.best_score_ == results["mean_test_score"][search.best_index_]


def test_prefer_default_is_a_flag():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    with pytest.raises(ValueError, match="prefer_default must be True or False; got 2"):
        stagenets.RVFLClassifierCV(prefer_default=2).fit(X, y)
