"""`tol`: stop after the first stage that lowers the objective by less than this fraction."""

import numpy as np
import pytest

import problems


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
@pytest.mark.parametrize("tol", [0.5, 0.05, 0.01])
def test_fit_stops_after_the_first_small_drop_and_keeps_that_stage(cls, tol):
    X, y = problems.data_for(cls)
    full = problems.small(cls, block_size=2).fit(X, y)
    drops = -np.diff(full.objective_path_) / full.objective_path_[:-1]
    slow = np.flatnonzero(drops < tol)
    stages = slow[0] + 1 if slow.size else full.n_iter_

    stopped = problems.small(cls, block_size=2, tol=tol).fit(X, y)
    assert stopped.n_iter_ == stages
    np.testing.assert_array_equal(stopped.objective_path_, full.objective_path_[: stages + 1])
    np.testing.assert_array_equal(stopped.selected_, full.selected_[: stopped.n_hidden_])


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
@pytest.mark.parametrize("tol", [0.2, 0.03])
def test_stopped_model_is_the_staged_model(cls, tol):
    """A broad learning system may stop among its feature nodes: then it has no others."""
    X, y = problems.data_for(cls)
    full = problems.small(cls).fit(X, y)
    stopped = problems.small(cls, tol=tol).fit(X, y)
    assert stopped.n_iter_ < full.n_iter_
    # Few units and many are multiplied by different routines: equal to rounding, not to the bit.
    expected_units = full.transform(X)[:, : stopped.n_hidden_]
    np.testing.assert_allclose(stopped.transform(X), expected_units, rtol=0, atol=1e-14)
    staged = getattr(full, "staged_decision_function", None) or full.staged_predict
    expected = list(staged(X))[stopped.n_iter_]
    np.testing.assert_allclose(problems.scores_of(stopped, X), expected, atol=1e-9)


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_zero_tolerance_spends_the_whole_budget(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls, tol=0.0).fit(X, y)
    assert model.n_hidden_ == (14 if cls in problems.BLS else 12)
