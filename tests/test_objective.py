"""The ridge objective: it never rises, and it is the minimum even when the design is terrible."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import problems
import reference
import stagenets

many_cases = settings(
    max_examples=500,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

COLUMN_KINDS = ["plain", "constant", "duplicate", "huge", "tiny", "zero", "binary"]


def column(kind, rng, n, before):
    plain = rng.normal(size=n)
    return {
        "plain": plain,
        "constant": np.full(n, 0.1),
        "duplicate": before[-1] if before else plain,
        "huge": 1e8 * plain,
        "tiny": 1e-8 * plain,
        "zero": np.zeros(n),
        "binary": (plain > 0).astype(float),
    }[kind]


@st.composite
def matrices(draw, max_columns):
    """(n, c) with duplicated, constant and badly scaled columns among the plain ones."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(4, 30))
    columns = []
    for kind in draw(st.lists(st.sampled_from(COLUMN_KINDS), min_size=1, max_size=max_columns)):
        columns.append(column(kind, rng, n, columns))
    return np.column_stack(columns)


ridge_options = st.one_of(
    st.fixed_dictionaries(
        {
            "alpha": st.sampled_from([1e-9, 1e-4, 1.0, 1e4]),
            "solver": st.sampled_from(["auto", "primal", "dual"]),
        }
    ),
    st.fixed_dictionaries({"alpha": st.just(0.0), "solver": st.sampled_from(["auto", "primal"])}),
)


@contextmanager
def singular_dual_may_be_refused(ridge, squared_norm):
    """The n × n form has no room for a penalty below the rounding of A Aᵀ, and may say so."""
    try:
        yield
    except ValueError as error:
        if ridge["solver"] != "dual" or "alpha is too small" not in str(error):
            raise
        assert ridge["alpha"] < 1e-12 * squared_norm
        reject()


def assert_never_rises(path):
    path = np.asarray(path)
    assert np.isfinite(path).all(), path
    assert (np.diff(path) <= 0).all(), path
    assert path[-1] >= 0, path


@many_cases
@given(
    X=matrices(max_columns=6),
    cls=st.sampled_from(problems.ALL),
    ridge=ridge_options,
    standardize=st.booleans(),
    fit_intercept=st.booleans(),
    selection=st.sampled_from(["residual", "residual", "random"]),
    block_size=st.integers(1, 4),
    weight_scale=st.sampled_from([1e-3, 1.0, 30.0]),
    seed=st.integers(0, 1000),
)
def test_objective_of_a_fit_never_rises(
    X, cls, ridge, standardize, fit_intercept, selection, block_size, weight_scale, seed
):
    rng = np.random.default_rng(seed)
    if cls in problems.CLASSIFIERS:
        y = rng.permutation(np.arange(len(X)) % 3)
    else:
        y = rng.normal(size=(len(X), 2)) * rng.choice([1e-4, 1.0, 1e6])
    model = problems.small(
        cls,
        standardize=standardize,
        fit_intercept=fit_intercept,
        selection=selection,
        block_size=block_size,
        weight_scale=weight_scale,
        random_state=seed,
        **ridge,
    )
    with singular_dual_may_be_refused(ridge, np.sum(X**2)):
        model.fit(X, y)
    assert_never_rises(model.objective_path_)
    assert np.isfinite(problems.scores_of(model, X)).all()


@many_cases
@given(
    columns=matrices(max_columns=8),
    n_inputs=st.integers(0, 3),
    ridge=ridge_options,
    block_size=st.integers(1, 3),
    fit_intercept=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_objective_never_rises_whatever_the_candidates(
    columns, n_inputs, ridge, block_size, fit_intercept, seed
):
    """The candidates are the bad columns themselves, offered again at every stage."""
    rng = np.random.default_rng(seed)
    pool = columns[:, min(n_inputs, columns.shape[1] - 1) :]
    with singular_dual_may_be_refused(ridge, np.sum(columns**2)):
        result = stagenets.fit_stagewise(
            lambda _stage, _size: pool,
            rng.normal(size=(len(columns), 2)),
            inputs=columns[:, :n_inputs] if n_inputs else None,
            n_hidden=2 * pool.shape[1],
            pool_size=pool.shape[1],
            block_size=min(block_size, pool.shape[1]),
            fit_intercept=fit_intercept,
            **ridge,
        )
    assert_never_rises(result.objective_path)


# ------------------------------------------------------------------- condition 1e12, λ = 1e-12‖A‖²


def ill_conditioned(n, d, seed):
    """A (n, d) matrix with singular values spread evenly from 1 down to 1e-12."""
    rng = np.random.default_rng(seed)
    rank = min(n, d)
    left = np.linalg.qr(rng.normal(size=(n, rank)))[0]
    right = np.linalg.qr(rng.normal(size=(d, rank)))[0]
    return (left * np.logspace(0, -12, rank)) @ right.T


def targets_for(A, kind, rng):
    noise = rng.normal(size=(len(A), 3))
    return noise if kind == "noise" else A @ rng.normal(size=(A.shape[1], 3)) + 1e-3 * noise


def fit_columns(A, T, alpha, *, n_hidden, one_by_one, solver):
    """Fit on exactly the columns of A: the first as inputs, the last n_hidden as candidates."""
    tail = A[:, A.shape[1] - n_hidden :]
    size = 1 if one_by_one else n_hidden
    result = stagenets.fit_stagewise(
        lambda stage, _size: tail[:, stage * size : (stage + 1) * size],
        T,
        inputs=A[:, : A.shape[1] - n_hidden],
        n_hidden=n_hidden,
        pool_size=size,
        block_size=size,
        alpha=alpha,
        fit_intercept=False,
        solver=solver,
    )
    order = np.array([stage * size + index for stage, index in result.selected])
    readout = np.zeros((A.shape[1], T.shape[1]))
    head = A.shape[1] - n_hidden
    readout[:head] = result.readout[:, :head].T
    readout[head + order] = result.readout[:, head:].T
    return readout, result.objective_path


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["noise", "signal"])
@pytest.mark.parametrize("one_by_one", [True, False], ids=["one-by-one", "one-block"])
@pytest.mark.parametrize(
    ("n", "d", "solver"),
    [(300, 60, "primal"), (300, 60, "auto"), (60, 150, "dual"), (60, 150, "auto")],
)
def test_ill_conditioned_readout_is_as_good_as_the_svd_solution(
    n, d, solver, one_by_one, kind, seed
):
    A = ill_conditioned(n, d, seed)
    T = targets_for(A, kind, np.random.default_rng(100 + seed))
    alpha = 1e-12 * np.linalg.norm(A, 2) ** 2
    readout, path = fit_columns(A, T, alpha, n_hidden=20, one_by_one=one_by_one, solver=solver)

    gradient = A.T @ (T - A @ readout) - alpha * readout
    assert np.linalg.norm(gradient) <= 1e-10 * np.linalg.norm(A.T @ T)
    best = reference.objective(A, T, alpha, reference.svd_ridge(A, T, alpha))
    assert reference.objective(A, T, alpha, readout) == pytest.approx(best, rel=1e-8)
    assert path[-1] == pytest.approx(best, rel=1e-8)


@pytest.mark.filterwarnings("ignore:early_stopping='loo' kept no units")
@pytest.mark.parametrize("seed", [3, 11, 14])
def test_log_loss_never_rises_after_the_stage_that_early_stopping_keeps(seed):
    """On pure noise an early stage is kept: its readout converges, those given up do not."""
    rng = np.random.default_rng(seed)
    X, y = np.abs(rng.normal(size=(600, 60))).astype(int), rng.integers(0, 2, 600)
    params = {"n_hidden": 6, "pool_size": 8, "alpha": 30.0, "random_state": 0}
    model = stagenets.RVFLClassifier(**params, early_stopping="loo").fit(X, y)
    assert len(model.selected_) < 6
    assert (np.diff(model.objective_path_) <= 0).all()
    assert (model.residual_path_ <= model.objective_path_).all()
