"""selection="joint" against brute force: refit with every candidate of the shortlist in turn."""

import numpy as np
import pytest

import problems
import reference
import stagenets


def shortlist_length(take):
    return 6 + 2 * take


def brute_force_stage(design, targets, alpha, pool, take):
    """Indices the joint choice must take, each by the lowest objective after a full refit."""
    residual = targets - design @ reference.ridge(design, targets, alpha)
    scores = np.sum((pool.T @ residual) ** 2, axis=1) / (np.sum(pool**2, axis=0) + alpha)
    shortlist = list(np.argsort(-scores, kind="stable")[: shortlist_length(take)])
    chosen = []
    for _ in range(take):
        found = {}
        for candidate in shortlist:
            wider = np.column_stack([design, pool[:, candidate]])
            readout = reference.ridge(wider, targets, alpha)
            found[candidate] = reference.objective(wider, targets, alpha, readout)
        best = min(found, key=found.get)
        shortlist.remove(best)
        chosen.append(best)
        design = np.column_stack([design, pool[:, best]])
    return chosen, design


@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("take", [1, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_joint_choice_is_the_brute_force_choice(solver, take, seed):
    rng = np.random.default_rng(seed)
    n, pool_size, n_hidden, alpha = 40, 24, 11, 0.3
    inputs, targets = rng.normal(size=(n, 3)), rng.normal(size=(n, 2))
    # Correlated columns: twins and near-twins of each other, where the joint choice matters.
    pools = [
        np.tanh(rng.normal(size=(n, 6)) @ rng.normal(size=(6, pool_size))) for _ in range(n_hidden)
    ]
    fit = stagenets.fit_stagewise(
        lambda stage, _: pools[stage],
        targets,
        inputs=inputs,
        n_hidden=n_hidden,
        alpha=alpha,
        pool_size=pool_size,
        block_size=take,
        selection="joint",
        solver=solver,
    )
    design = np.column_stack([np.ones(n), inputs])
    expected = []
    while len(expected) < n_hidden:
        stage = fit.selected[len(expected), 0]
        keep = min(take, n_hidden - len(expected))
        chosen, design = brute_force_stage(design, targets, alpha, pools[stage], keep)
        expected += [[stage, candidate] for candidate in chosen]
    np.testing.assert_array_equal(fit.selected, expected)
    best = reference.ridge(design, targets, alpha)
    objective = reference.objective(design, targets, alpha, best)
    assert fit.objective_path[-1] == pytest.approx(objective, rel=1e-9)
    readout = np.vstack([fit.readout_intercept, fit.readout.T])
    np.testing.assert_allclose(readout, best, atol=1e-8)


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_joint_first_stage_is_never_behind_and_its_objective_never_rises(cls, dtype):
    """From the same state, the joint choice of one unit is the best of a list with the other."""
    X, y = problems.data_for(cls, n=200, p=6)
    for seed in range(5):
        residual, joint = (
            problems.small(cls, selection=selection, block_size=1, random_state=seed)
            .fit(X.astype(dtype), y)
            .objective_path_
            for selection in ("residual", "joint")
        )
        assert joint[0] == residual[0]
        assert joint[1] <= residual[1] * (1 + 1e-6 if dtype is np.float32 else 1 + 1e-12)
        assert (np.diff(joint) <= 0).all()


def rows_of_stage(n, fraction, seed, stage):
    """One row of each of as many equal stretches, read from stream 3 of the generator."""
    count = max(2048, int(np.ceil(fraction * n)))
    u = reference.generator(seed, stage, 0, 3).random(count)
    first = np.arange(count) * n // count
    last = np.arange(1, count + 1) * n // count
    return first + (u * (last - first)).astype(int)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_on_a_share_of_the_rows_decide_the_choice(dtype):
    rng = np.random.default_rng(0)
    n, fraction, alpha, seed = 9000, 0.3, 2.0, 5
    X = rng.normal(size=(n, 4)).astype(dtype)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)
    model = stagenets.RVFLRegressor(
        n_hidden=4,
        pool_size=20,
        alpha=alpha,
        score_fraction=fraction,
        standardize=False,
        random_state=seed,
        **problems.PLAIN,
    ).fit(X, y)
    targets = ((y - y.mean()) / y.std())[:, None]
    design = np.column_stack([np.ones(n), X]).astype(float)
    for stage, candidate in model.selected_:
        weights, biases = stagenets.draw_candidates(seed, int(stage), 20, 4)
        pool = 1 / (1 + np.exp(-(X @ weights + biases)))
        residual = targets - design @ reference.ridge(design, targets, alpha)
        rows = rows_of_stage(n, fraction, seed, int(stage))
        gain = np.sum((pool[rows].T @ residual[rows]) ** 2, axis=1)
        scores = gain / (np.sum(pool[rows] ** 2, axis=0) + alpha * len(rows) / n)
        assert candidate == np.argmax(scores)
        design = np.column_stack([design, pool[:, candidate]])
    readout = reference.ridge(design, targets, alpha)
    objective = reference.objective(design, targets, alpha, readout)
    tolerance = 1e-9 if dtype is np.float64 else 1e-4
    assert model.objective_path_[-1] == pytest.approx(objective, rel=tolerance)
    assert (np.diff(model.objective_path_) <= 0).all()


def test_few_rows_are_all_scored():
    X, y = problems.data_for(stagenets.RVFLClassifier, n=300)
    whole = problems.small(stagenets.RVFLClassifier).fit(X, y)
    share = problems.small(stagenets.RVFLClassifier, score_fraction=0.1).fit(X, y)
    np.testing.assert_array_equal(whole.readout_, share.readout_)


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.1, np.nan, "half", None, True])
def test_bad_score_fraction_is_named(fraction):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    with pytest.raises(ValueError, match="score_fraction"):
        problems.small(stagenets.RVFLClassifier, score_fraction=fraction).fit(X, y)


def test_many_rows_are_scored_on_a_sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 2))
    y = np.sin(X[:, 0])
    fits = {
        fraction: stagenets.RVFLRegressor(
            n_hidden=3, pool_size=8, alpha=1.0, score_fraction=fraction, random_state=0
        ).fit(X, y)
        for fraction in ("auto", 65_536 / 70_000, 1.0)
    }
    some, same, every = fits.values()
    np.testing.assert_array_equal(some.pool_quantiles_, same.pool_quantiles_)
    assert not np.array_equal(some.pool_quantiles_, every.pool_quantiles_)
