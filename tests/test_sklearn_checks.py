"""scikit-learn's own estimator checks, with no check expected to fail."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import problems


@parametrize_with_checks([cls() for cls in problems.ALL])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [cls(selection="random", solver="dual", block_size=3) for cls in problems.ALL]
)
def test_scikit_learn_check_of_one_shot_dual_networks(estimator, check):
    check(estimator)
