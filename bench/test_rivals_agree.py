"""The NumPy rivals do the same work: same units, same objective, same readout as the package."""

import numpy as np
import pytest

from cases import Case
from numpy_rivals import draw_pools, fit_incremental, fit_refit

TALL = Case("tall", 900, 6, 3, 25, 20, 2)
WIDE = Case("wide", 80, 200, 3, 20, 20, 3)
OUTGROWN = Case("more columns than rows at the end", 60, 8, 3, 58, 20, 1)


def incremental(X, y, pools, case):
    return fit_incremental(X, y, pools, case)


def blocked(X, y, pools, case):
    return fit_incremental(X, y, pools, case, blocked=True)


@pytest.mark.parametrize("case", [TALL, WIDE, OUTGROWN], ids=lambda case: case.name)
@pytest.mark.parametrize("fit", [fit_refit, incremental, blocked])
def test_same_units_objective_and_readout_in_float64(fit, case):
    X, y = case.data()
    model = case.network().fit(X, y)
    rival = fit(X, y, draw_pools(case, X.dtype), case)
    np.testing.assert_array_equal(rival.selected, model.selected_)
    np.testing.assert_allclose(rival.objective, model.objective_path_[-1], rtol=1e-9)
    # The rivals' readout refers to standardised inputs; only that of the units can be compared.
    hidden = model.readout_[:, case.p :].T
    np.testing.assert_allclose(rival.readout[1 + case.p :], hidden, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("case", [TALL, WIDE], ids=lambda case: case.name)
@pytest.mark.parametrize("fit", [fit_refit, incremental, blocked])
def test_same_objective_in_float32(fit, case):
    X, y = case.data(np.float32)
    model = case.network().fit(X, y)
    rival = fit(X, y, draw_pools(case, X.dtype), case)
    assert rival.readout.shape == (case.columns, case.q)
    np.testing.assert_allclose(rival.objective, model.objective_path_[-1], rtol=1e-3)
