"""scikit-learn's own estimator checks, with no check expected to fail."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import problems
import stagenets


@parametrize_with_checks([cls() for cls in problems.ALL])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [
        stagenets.RVFLClassifier(loss="squared", selection="random", solver="dual"),
        stagenets.BLSRegressor(solver="primal", block_size=3),
    ]
)
def test_scikit_learn_check_of_other_settings(estimator, check):
    check(estimator)
