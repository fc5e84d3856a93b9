"""The readout of the dual form, not just its objective, where the problem is ill-conditioned."""

import numpy as np
import pytest

import stagenets


def ridge(design, targets, alpha):
    """The ridge solution by least squares on [A; √λ I], and its objective."""
    rows = np.vstack([design, np.sqrt(alpha) * np.eye(design.shape[1])])
    padded = np.vstack([targets, np.zeros((design.shape[1], targets.shape[1]))])
    readout = np.linalg.lstsq(rows, padded, rcond=0)[0]
    return readout, objective(design, targets, readout, alpha)


def objective(design, targets, readout, alpha):
    return np.sum((targets - design @ readout) ** 2) + alpha * np.sum(readout**2)


def fitted(X, T, G, alpha, **params):
    """The design of a fit to given units, and the readout in its rows."""
    fit = stagenets.fit_stagewise(
        lambda _stage, size: G[:, :size],
        T,
        inputs=X,
        n_hidden=G.shape[1],
        pool_size=G.shape[1],
        block_size=G.shape[1],
        alpha=alpha,
        **params,
    )
    design = np.hstack([np.ones((len(X), 1)), X, fit.hidden])
    return fit, design, np.vstack([fit.readout_intercept, fit.readout.T])


# A tall design with targets that it cannot fit, so that K⁻¹T is of size 1/λ; and a wide one whose
# units are nearly the same function.
def tall(rng):
    X, T = rng.normal(size=(300, 120)), rng.normal(size=(300, 2))
    return X, T, np.tanh(rng.normal(size=(300, 10)))


def smooth(rng):
    x = np.linspace(-1, 1, 80)[:, None]
    G = np.tanh(x @ rng.normal(size=(1, 120)) + rng.normal(size=120))
    return x, rng.normal(size=(80, 2)), G


@pytest.mark.parametrize("make", [tall, smooth])
@pytest.mark.parametrize("condition", [1e5, 1e7, 1e8, 1e9, 1e10, 1e11])
@pytest.mark.parametrize("selection", ["random", "residual"])
@pytest.mark.parametrize("solver", ["dual", "auto"])
def test_readout_reaches_its_objective_or_the_fit_is_refused(make, condition, selection, solver):
    X, T, G = make(np.random.default_rng(0))
    largest = np.linalg.norm(np.hstack([np.ones((len(X), 1)), X, G]), 2)
    alpha = (largest / condition) ** 2
    try:
        fit, design, readout = fitted(X, T, G, alpha, selection=selection, solver=solver)
    except ValueError as error:
        assert "alpha is too small for solver='dual'" in str(error)
        assert solver == "dual"
        assert condition >= 1e8
        return
    best, least = ridge(design, T, alpha)
    reached = objective(design, T, readout, alpha)
    precision = 1e-6 if condition < 1e11 else 2e-2 if solver == "auto" else 2e-4
    assert reached <= least * (1 + precision)
    assert fit.objective_path[-1] == pytest.approx(reached, rel=max(precision, 2e-4))
    assert np.sum((design @ (readout - best)) ** 2) <= precision * least


@pytest.mark.parametrize("selection", ["random", "residual"])
@pytest.mark.parametrize("alpha", [1e-8, 1e-12, 1e-16, 1e-20])
def test_stages_of_an_ill_conditioned_fit_stay_near_the_targets(selection, alpha):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    y = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=60)
    model = stagenets.ELMRegressor(
        n_hidden=100, alpha=alpha, selection=selection, solver="auto", random_state=0
    ).fit(X, y)
    energy = np.sum((y - y.mean()) ** 2)
    for scores in model.staged_predict(X):
        assert np.sum((y - scores) ** 2) <= 1.01 * energy


@pytest.mark.parametrize("alpha", [1e-8, 1e-12, 1e-16, 1e-20])
@pytest.mark.parametrize("solver", ["dual", "auto"])
def test_a_fit_that_goes_back_to_an_earlier_stage(solver, alpha):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    y = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=60)
    model = stagenets.ELMRegressor(
        n_hidden=100, alpha=alpha, solver=solver, early_stopping="loo", random_state=0
    )
    try:
        model.fit(X, y)
    except ValueError as error:
        assert "alpha is too small for solver='dual'" in str(error)
        assert solver == "dual"
        assert alpha < 1e-10
        return
    energy = np.sum((y - model.predict(X)) ** 2) / np.var(y)
    assert energy == pytest.approx(model.residual_path_[model.best_iter_], rel=0.05)
