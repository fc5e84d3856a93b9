"""`fit_stagewise`: Algorithm 1 for any source of candidates, a Python callable included."""

import numpy as np
import pytest
from scipy.special import expit

import problems
import reference
import stagenets


def random_columns(n=40, seed=0):
    """A source of candidates that depends on the stage alone."""

    def candidates(stage, pool_size):
        return np.random.default_rng([seed, stage]).normal(size=(n, pool_size))

    return candidates


def targets(n=40, q=3, seed=1):
    return np.random.default_rng(seed).normal(size=(n, q))


@pytest.mark.parametrize("solver", ["primal", "dual", "auto"])
@pytest.mark.parametrize("selection", ["residual", "random"])
@pytest.mark.parametrize("block_size", [1, 3])
def test_replayed_draws_give_the_rvfl_network(solver, selection, block_size):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    common = {
        "n_hidden": 11,
        "pool_size": 9,
        "block_size": block_size,
        "selection": selection,
        "alpha": 0.5,
        "solver": solver,
    }

    def candidates(stage, pool_size):
        weights, biases = stagenets.draw_candidates(5, stage, pool_size, X.shape[1])
        return expit(X @ weights + biases)

    result = stagenets.fit_stagewise(candidates, reference.one_hot(y), inputs=X, **common)
    own = {**problems.plain(stagenets.RVFLClassifier), **common, "standardize": False}
    model = stagenets.RVFLClassifier(random_state=5, **own).fit(X, y)
    np.testing.assert_array_equal(result.selected, model.selected_)
    np.testing.assert_allclose(result.objective_path, model.objective_path_, rtol=1e-11)
    np.testing.assert_allclose(result.residual_path, model.residual_path_, rtol=1e-10)
    np.testing.assert_allclose(result.readout, model.readout_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        result.readout_intercept, model.readout_intercept_, rtol=1e-8, atol=1e-10
    )
    np.testing.assert_allclose(result.hidden, model.transform(X), atol=1e-12)
    assert result.n_iter == model.n_iter_


@pytest.mark.parametrize("solver", ["primal", "dual", "auto"])
@pytest.mark.parametrize("with_inputs", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_hidden", [7, 60], ids=["tall", "wide"])
def test_loop_equals_the_reference(solver, with_inputs, fit_intercept, n_hidden):
    candidates, T = random_columns(), targets()
    inputs = np.random.default_rng(2).normal(size=(40, 5)) if with_inputs else None
    base = [np.ones((40, 1))] * fit_intercept + [inputs] * with_inputs
    growth = reference.Growth(np.hstack([np.zeros((40, 0)), *base]), T, 0.7)
    for stage, keep in enumerate(reference.blocks(n_hidden, 2)):
        growth.stage(candidates(stage, 8), keep)

    result = stagenets.fit_stagewise(
        candidates,
        T,
        inputs=inputs,
        n_hidden=n_hidden,
        pool_size=8,
        block_size=2,
        alpha=0.7,
        fit_intercept=fit_intercept,
        solver=solver,
    )
    assert [tuple(row) for row in np.asarray(result.selected).tolist()] == growth.selected
    np.testing.assert_allclose(result.objective_path, growth.objective_path, rtol=1e-9)
    np.testing.assert_allclose(result.residual_path, growth.residual_path, rtol=1e-8)
    readout = np.hstack([result.readout_intercept[:, None]] * fit_intercept + [result.readout]).T
    np.testing.assert_allclose(readout, growth.readouts[-1], atol=1e-8)
    first = int(fit_intercept) + 5 * with_inputs
    np.testing.assert_array_equal(result.hidden, growth.design[:, first:])


def test_ties_go_to_the_lower_index():
    column = np.random.default_rng(0).normal(size=(40, 1))
    twins = np.hstack([0.1 * column, column, column, column])
    result = stagenets.fit_stagewise(
        lambda _stage, _size: twins, targets(), n_hidden=2, pool_size=4, block_size=2, alpha=1.0
    )
    assert np.asarray(result.selected).tolist() == [[0, 1], [0, 2]]


def test_callable_is_asked_stage_by_stage_for_the_whole_pool():
    asked = []

    def candidates(stage, pool_size):
        asked.append((stage, pool_size))
        return random_columns()(stage, pool_size)

    stagenets.fit_stagewise(candidates, targets(), n_hidden=5, pool_size=6, block_size=2)
    assert asked == [(0, 6), (1, 6), (2, 6)]
    asked.clear()
    stagenets.fit_stagewise(candidates, targets(), n_hidden=5, selection="random")
    assert asked == [(0, 5)]


@pytest.mark.parametrize("layout", [np.asfortranarray, np.ascontiguousarray, lambda G: G[:, ::-1]])
def test_layout_of_the_candidates_does_not_matter(layout):
    def candidates(stage, pool_size):
        return layout(random_columns()(stage, pool_size))

    def copied(stage, pool_size):
        return np.array(candidates(stage, pool_size), order="F")

    results = [
        stagenets.fit_stagewise(f, targets(), n_hidden=6, pool_size=5) for f in (candidates, copied)
    ]
    np.testing.assert_array_equal(results[0].readout, results[1].readout)


def test_callers_arrays_are_not_changed_or_kept():
    pool, T = random_columns()(0, 5), targets()
    pool_before, T_before = pool.copy(), T.copy()
    result = stagenets.fit_stagewise(lambda _t, _m: pool, T, n_hidden=3, pool_size=5)
    np.testing.assert_array_equal(pool, pool_before)
    np.testing.assert_array_equal(T, T_before)
    hidden = np.array(result.hidden)
    pool[:] = 0
    np.testing.assert_array_equal(result.hidden, hidden)


def test_tolerance_stops_the_loop():
    common = {"n_hidden": 30, "pool_size": 10}
    full = stagenets.fit_stagewise(random_columns(), targets(), **common)
    stopped = stagenets.fit_stagewise(random_columns(), targets(), tol=0.05, **common)
    drops = -np.diff(full.objective_path) / full.objective_path[:-1]
    assert stopped.n_iter == np.flatnonzero(drops < 0.05)[0] + 1


class CandidateError(Exception):
    pass


@pytest.mark.parametrize("error", [CandidateError, KeyboardInterrupt, SystemExit, MemoryError])
@pytest.mark.parametrize("stage_of_error", [0, 2])
def test_exception_of_the_callable_reaches_the_caller(error, stage_of_error):
    raised = error("stop here")

    def candidates(stage, pool_size):
        if stage == stage_of_error:
            raise raised
        return random_columns()(stage, pool_size)

    with pytest.raises(error, match="stop here") as caught:
        stagenets.fit_stagewise(candidates, targets(), n_hidden=5, pool_size=6)
    assert caught.value is raised


BAD_POOLS = {
    "too-few-rows": (lambda G: G[:-1], "39"),
    "too-few-columns": (lambda G: G[:, :-1], "5"),
    "flat": (lambda G: G.ravel(), "240"),
    "none": (lambda G: None, "None"),
    "nan": (lambda G: np.where(G > 2, np.nan, G), "NaN|finite"),
    "inf": (lambda G: np.where(G > 2, np.inf, G), "inf|finite"),
    "complex": (lambda G: G + 1j, "complex"),
}


@pytest.mark.parametrize("kind", BAD_POOLS)
def test_bad_candidates_are_refused_by_name(kind):
    spoil, word = BAD_POOLS[kind]
    with pytest.raises((ValueError, TypeError), match="candidates") as caught:
        stagenets.fit_stagewise(
            lambda t, m: spoil(random_columns()(t, m)), targets(), n_hidden=4, pool_size=6
        )
    assert any(part in str(caught.value) for part in word.split("|"))


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"n_hidden": 0}, "n_hidden"),
        ({"alpha": -1.0}, "alpha"),
        ({"pool_size": 2, "block_size": 3}, "block_size"),
        ({"block_size": 0}, "block_size"),
        ({"selection": "greedy"}, "selection"),
        ({"solver": "qr"}, "solver"),
        ({"tol": -1.0}, "tol"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"inputs": np.zeros((39, 2))}, "inputs"),
        ({"inputs": np.full((40, 2), np.nan)}, "inputs|NaN"),
    ],
)
def test_bad_argument_is_named(params, name):
    with pytest.raises((ValueError, TypeError), match=name):
        stagenets.fit_stagewise(
            random_columns(), targets(), **{"n_hidden": 4, "pool_size": 6, **params}
        )


def test_candidates_must_be_callable():
    with pytest.raises((TypeError, ValueError), match="candidates"):
        stagenets.fit_stagewise(np.zeros((40, 6)), targets(), n_hidden=4, pool_size=6)


def test_targets_must_be_finite():
    with pytest.raises(ValueError, match=r"targets|NaN"):
        stagenets.fit_stagewise(random_columns(), np.full((40, 2), np.nan), n_hidden=4)


def test_candidates_may_come_from_a_fit_within():
    """The loop can be entered again from its own callable."""

    def candidates(stage, pool_size):
        inner = stagenets.ELMRegressor(n_hidden=pool_size, selection="random", random_state=stage)
        return inner.fit(rows, T).transform(rows)

    rows, T = np.random.default_rng(3).normal(size=(40, 3)), targets()
    result = stagenets.fit_stagewise(candidates, T, n_hidden=4, pool_size=6)
    assert result.hidden.shape == (40, 4)
