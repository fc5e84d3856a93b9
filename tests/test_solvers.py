"""Primal, dual and automatic solvers give the same model; only their costs differ."""

import numpy as np
import pytest

import problems
import reference
import stagenets

SHAPES = {
    "tall": (120, 5, 14),
    "budget-past-the-rows": (30, 5, 60),
    "far-more-inputs-than-rows": (25, 900, 12),
    "square": (20, 9, 10),
}


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("block_size", [1, 3])
@pytest.mark.parametrize("selection", ["residual", "random"])
def test_primal_dual_and_auto_give_the_same_model(cls, shape, block_size, selection):
    n, p, h = SHAPES[shape]
    X, y = problems.data_for(cls, n, p)
    size = (
        {"n_windows": 2, "n_feature_nodes": h // 3, "n_enhancement": h // 3}
        if cls in problems.BLS
        else {"n_hidden": h}
    )
    primal, dual, auto = (
        problems.small(
            cls, solver=solver, alpha=0.2, block_size=block_size, selection=selection, **size
        ).fit(X, y)
        for solver in ("primal", "dual", "auto")
    )
    for other in (dual, auto):
        np.testing.assert_array_equal(other.selected_, primal.selected_)
        np.testing.assert_allclose(other.objective_path_, primal.objective_path_, rtol=1e-9)
        # The residual may be a small part of the objective, and is held to its precision.
        residual_gap = np.abs(other.residual_path_ - primal.residual_path_)
        assert (residual_gap <= 1e-9 * primal.objective_path_).all()
        expected = problems.scores_of(primal, X)
        atol = 1e-8 * np.abs(expected).max()
        np.testing.assert_allclose(problems.scores_of(other, X), expected, rtol=0, atol=atol)
        np.testing.assert_allclose(other.readout_, primal.readout_, rtol=1e-6, atol=1e-8)
        if cls in problems.CLASSIFIERS:
            assert other.temperature_ == pytest.approx(primal.temperature_, rel=1e-6)


@pytest.mark.parametrize("alpha", [1.0, 1e-3, 1e-7])
@pytest.mark.parametrize("selection", ["residual", "joint"])
def test_every_stage_of_the_dual_form_is_that_of_the_primal_form(alpha, selection):
    X, y = problems.data_for(stagenets.ELMRegressor, 40, 6)
    primal, dual = (
        stagenets.ELMRegressor(
            n_hidden=30, alpha=alpha, selection=selection, solver=solver, random_state=0
        ).fit(X, y)
        for solver in ("primal", "dual")
    )
    np.testing.assert_array_equal(dual.selected_, primal.selected_)
    np.testing.assert_allclose(dual.objective_path_, primal.objective_path_, rtol=1e-7)
    np.testing.assert_allclose(dual.loo_path_, primal.loo_path_, rtol=1e-5)
    for by_dual, by_primal in zip(dual.staged_predict(X), primal.staged_predict(X), strict=True):
        np.testing.assert_allclose(by_dual, by_primal, atol=1e-6 * np.abs(y).max())


def duplicated_inputs(n=40, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return np.hstack([X, X[:, :2], np.ones((n, 1))]), rng.normal(size=(n, 2))


@pytest.mark.parametrize("solver", ["auto", "primal"])
def test_no_penalty_is_least_squares_even_with_repeated_columns(solver):
    X, T = duplicated_inputs()
    G = np.tanh(np.random.default_rng(1).normal(size=(40, 10)))
    result = stagenets.fit_stagewise(
        lambda _stage, _size: G,
        T,
        inputs=X,
        n_hidden=10,
        pool_size=10,
        selection="random",
        alpha=0.0,
        solver=solver,
    )
    design = np.hstack([np.ones((40, 1)), X, G])
    fitted = np.hstack([X, result.hidden]) @ result.readout.T + result.readout_intercept
    best = design @ np.linalg.lstsq(design, T, rcond=None)[0]
    np.testing.assert_allclose(fitted, best, atol=1e-9)
    assert result.objective_path[-1] == pytest.approx(np.sum((T - best) ** 2), rel=1e-9)


@pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
@pytest.mark.parametrize(
    "params", [{}, {"block_size": 4}, {"selection": "joint"}, {"selection": "random"}], ids=str
)
def test_no_penalty_and_more_units_than_rows_fits_the_rows_exactly(cls, params):
    """Past the rank, what is left of a candidate is rounding, which may look like a direction."""
    for seed in range(15):
        X, y = problems.data_for(cls, n=20, seed=seed)
        model = problems.small(cls, n_hidden=40, alpha=0.0, weight_scale=3.0, **params).fit(X, y)
        targets = reference.one_hot(y) if cls in problems.CLASSIFIERS else y
        np.testing.assert_allclose(problems.scores_of(model, X), targets, atol=1e-6)
        assert (np.diff(model.objective_path_) <= 0).all()


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
@pytest.mark.parametrize("n", [6, 60])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("alpha", [0.0, 1e-300, 1e-16, 1e-9])
def test_automatic_solver_never_refuses_a_small_penalty(cls, n, scale, alpha):
    X, y = problems.data_for(cls, n, n_outputs=2)
    model = problems.small(cls, alpha=alpha, standardize=False).fit(scale * X, y)
    assert np.isfinite(problems.scores_of(model, scale * X)).all()
    assert (np.diff(model.objective_path_) <= 0).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_dual_form_is_as_accurate_as_the_primal_form_however_far_the_objective_falls(dtype):
    """Rows are fitted exactly from some unit on: what is left is the tiny penalty alone."""
    rng = np.random.default_rng(0)
    fallen = 0
    for seed in range(40):
        n, alpha = int(rng.integers(5, 12)), 10.0 ** rng.uniform(-10, -7)
        X, y = rng.normal(size=(n, 3)).astype(dtype), rng.normal(size=(n, 2))
        params = {"n_hidden": 15, "pool_size": 8, "alpha": alpha, "random_state": seed}
        params |= {"standardize": False, "selection": "residual", "block_size": 1}
        model = stagenets.RVFLRegressor(**params).fit(X, y)
        path = model.objective_path_
        fallen += path[-1] < 1e-6 * path[0]
        if dtype == "float64":
            primal = stagenets.RVFLRegressor(solver="primal", **params).fit(X, y)
            np.testing.assert_array_equal(model.selected_, primal.selected_)
            np.testing.assert_allclose(path, primal.objective_path_, rtol=1e-2)
    assert fallen > 10


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_dual_without_penalty_is_refused(cls):
    X, y = problems.data_for(cls)
    with pytest.raises(ValueError, match="alpha") as caught:
        problems.small(cls, alpha=0.0, solver="dual").fit(X, y)
    assert "dual" in str(caught.value)


def test_stagewise_function_refuses_dual_without_penalty():
    X, T = duplicated_inputs()
    with pytest.raises(ValueError, match="alpha"):
        stagenets.fit_stagewise(
            lambda _stage, size: X[:, :size], T, n_hidden=2, pool_size=2, alpha=0.0, solver="dual"
        )


@pytest.mark.parametrize("condition", [1e5, 1e9, 1e11])
def test_dual_objective_survives_a_kernel_that_is_singular_but_for_the_penalty(condition):
    """The Gram matrix of such rows has lost the penalty from the ninth digit of `condition` on."""
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(300, 120)), rng.normal(size=(300, 2))
    G = np.tanh(rng.normal(size=(300, 10)))
    design = np.hstack([np.ones((300, 1)), X, G])
    U, values, _ = np.linalg.svd(design, full_matrices=False)
    alpha = (values[0] / condition) ** 2
    inside = U.T @ T
    outside = np.sum((T - U @ inside) ** 2)
    expected = outside + np.sum(alpha / (values**2 + alpha) * np.sum(inside**2, axis=1))
    result = stagenets.fit_stagewise(
        lambda _stage, _size: G,
        T,
        inputs=X,
        n_hidden=10,
        pool_size=10,
        selection="random",
        alpha=alpha,
        solver="dual",
    )
    assert result.objective_path[-1] == pytest.approx(expected, rel=1e-12)
