"""Every model on the way is the model that a smaller budget would have given."""

import numpy as np
import pytest

import problems
import reference

CASES = {
    "primal": {"n": 90, "n_hidden": 20, "solver": "primal"},
    "dual": {"n": 90, "n_hidden": 20, "solver": "dual"},
    "columns-pass-rows": {"n": 26, "n_hidden": 40, "solver": "auto"},
    "primal-past-rows": {"n": 26, "n_hidden": 40, "solver": "primal"},
}


def staged_scores(model, X):
    staged = getattr(model, "staged_decision_function", None) or model.staged_predict
    return [np.array(scores) for scores in staged(X)]


def assert_same_scores(actual, expected):
    atol = 1e-8 * max(np.abs(expected).max(), 1e-3)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("block_size", [1, 3])
def test_each_staged_model_is_a_fresh_fit_with_fewer_units(cls, case, block_size):
    params = dict(CASES[case])
    X, y = problems.data_for(cls, params.pop("n"))
    budget = params["n_hidden"]
    model = problems.small(cls, block_size=block_size, alpha=0.3, **params).fit(X, y)
    staged = staged_scores(model, X)
    assert len(staged) == model.n_iter_ + 1
    for stage in range(1, model.n_iter_ + 1):
        params["n_hidden"] = min(stage * block_size, budget)
        fresh = problems.small(cls, block_size=block_size, alpha=0.3, **params).fit(X, y)
        assert_same_scores(staged[stage], problems.scores_of(fresh, X))


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
@pytest.mark.parametrize("solver", ["primal", "dual", "auto"])
@pytest.mark.parametrize("selection", ["residual", "random"])
def test_each_staged_model_is_the_references(cls, solver, selection):
    X, y = problems.data_for(cls, 25)
    fresh, _ = problems.data_for(cls, 10, seed=1)
    model = problems.small(cls, solver=solver, selection=selection, block_size=3).fit(X, y)
    regression = cls in problems.REGRESSORS
    targets = y if regression else reference.one_hot(y)
    common = {
        "seed": 0,
        "regression": regression,
        "pool_size": 10,
        "block_size": 3,
        "selection": selection,
    }
    if cls in problems.BLS:
        expected = reference.fit_bls(X, targets, **problems.SMALL_BLS, **common)
    else:
        direct = cls.__name__.startswith("RVFL")
        expected = reference.fit_affine(X, targets, direct=direct, n_hidden=12, **common)
    staged = staged_scores(model, fresh)
    assert len(staged) == len(expected.growth.readouts)
    for stage, scores in enumerate(staged):
        assert_same_scores(scores, expected.scores(fresh, stage))


@pytest.mark.parametrize("cls", problems.BLS, ids=problems.name_of)
def test_staged_enhancement_nodes_are_fresh_fits_with_fewer_of_them(cls):
    X, y = problems.data_for(cls)
    size = {"n_windows": 2, "n_feature_nodes": 4}
    model = problems.small(cls, n_enhancement=6, **size).fit(X, y)
    staged = staged_scores(model, X)
    for count in range(1, 7):
        fresh = problems.small(cls, n_enhancement=count, **size).fit(X, y)
        assert_same_scores(staged[8 + count], problems.scores_of(fresh, X))


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
@pytest.mark.parametrize("n_outputs", [1, 2, 3])
def test_last_staged_model_is_the_fitted_model(cls, n_outputs):
    classifier = cls in problems.CLASSIFIERS
    X, y = problems.data_for(cls, n_outputs=max(n_outputs, 2) if classifier else n_outputs)
    y = y if classifier or n_outputs > 1 else y[:, 0]
    model = problems.small(cls).fit(X, y)
    *_, scores = staged_scores(model, X)
    assert_same_scores(scores, problems.scores_of(model, X))
    *_, predictions = model.staged_predict(X)
    if classifier:
        np.testing.assert_array_equal(predictions, model.predict(X))
    else:
        assert_same_scores(predictions, model.predict(X))


@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
def test_staged_predictions_are_labels_of_staged_scores(cls):
    X, y = problems.data_for(cls)
    names = np.array(["cod", "eel", "ray"])
    model = problems.small(cls).fit(X, names[y])
    staged = list(model.staged_predict(X))
    assert len(staged) == model.n_iter_ + 1
    for scores, predicted in zip(staged_scores(model, X), staged, strict=True):
        np.testing.assert_array_equal(predicted, names[np.argmax(scores, axis=1)])
