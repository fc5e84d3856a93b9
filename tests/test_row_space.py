"""Log-loss with more inputs than samples: fitted in the span of the rows, the same readouts."""

import numpy as np
import pytest

import stagenets
from test_log_loss import design, objective, optimum


def wide(samples=40, inputs=130, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(samples, inputs))
    return X, np.argsort(np.argsort(X[:, 0] + X[:, 1] ** 2)) * classes // samples


def fitted(X, y, **params):
    given = {"n_hidden": 12, "pool_size": 20, "alpha": 0.5, "random_state": 0, **params}
    return stagenets.RVFLClassifier(**given).fit(X, y)


def coefficients(model, X):
    """The readout of the intercept, the standardised inputs and the units."""
    inputs = X.shape[1]
    linked = model.readout_[:, :inputs] * X.std(axis=0)
    intercept = model.readout_intercept_ + model.readout_[:, :inputs] @ X.mean(axis=0)
    return np.vstack([intercept, linked.T, model.readout_[:, inputs:].T])


@pytest.mark.parametrize("selection", ["residual", "joint", "random"])
@pytest.mark.parametrize("classes", [2, 3])
def test_readout_is_that_of_logistic_regression_on_all_inputs(classes, selection):
    X, y = wide(classes=classes)
    model = fitted(X, y, selection=selection)
    A = design(model, X)
    least = optimum(A, y, 0.5)
    assert model.objective_path_[-1] == pytest.approx(least, rel=1e-6)
    assert objective(A, coefficients(model, X), y, 0.5) == pytest.approx(least, rel=1e-6)


def test_repeated_rows_leave_a_smaller_span():
    X, y = wide(20)
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    model = fitted(X, y)
    A = design(model, X)
    assert objective(A, coefficients(model, X), y, 0.5) == pytest.approx(
        optimum(A, y, 0.5), rel=1e-6
    )


@pytest.mark.parametrize("inputs", [39, 40])
def test_nothing_changes_where_inputs_begin_to_outnumber_the_rows(inputs):
    """With the column of ones there are as many columns as rows, and one more."""
    X, y = wide(inputs=inputs)
    model = fitted(X, y)
    A = design(model, X)
    assert objective(A, coefficients(model, X), y, 0.5) == pytest.approx(
        optimum(A, y, 0.5), rel=1e-6
    )


def test_every_stage_has_a_readout_for_raw_inputs():
    X, y = wide()
    model = fitted(X, y)
    staged = list(model.staged_decision_function(X))
    assert len(staged) == model.n_iter_ + 1
    np.testing.assert_allclose(staged[-1], model.decision_function(X), atol=1e-9)
    for stage in (0, 5):
        readout = coefficients(model.truncated(stage), X)
        A = design(model, X)[:, : len(readout)]
        np.testing.assert_allclose(A @ readout, staged[stage], atol=1e-8)
        assert objective(A, readout, y, 0.5) == pytest.approx(
            model.objective_path_[stage], rel=1e-9
        )


def test_rows_set_aside_are_outside_the_span():
    X, y = wide(60)
    model = fitted(X, y, early_stopping="validation", validation_fraction=0.3, n_hidden=20)
    path = [np.mean(labels == y) for labels in model.staged_predict(X)]
    assert len(path) == model.best_iter_ + 1
    assert model.validation_path_.max() == model.validation_path_[model.best_iter_]


def test_searches_agree_with_single_fits():
    X, y = wide(60)
    rows = np.arange(60)
    splits = [(rows[rows % 3 != fold], rows[rows % 3 == fold]) for fold in range(3)]
    search = stagenets.RVFLClassifierCV(
        alphas=[0.5], n_hidden=[4, 9], pool_sizes=[20], cv=splits, random_state=0,
        scoring="neg_log_loss",
    ).fit(X, y)  # fmt: skip
    for result, units in enumerate((4, 9)):
        for fold, (train, test) in enumerate(splits):
            model = fitted(X[train], y[train], n_hidden=units)
            loss = -np.mean(np.log(model.predict_proba(X[test])[np.arange(len(test)), y[test]]))
            found = search.cv_results_[f"split{fold}_test_score"][result]
            assert -found == pytest.approx(loss, rel=1e-4)


def test_single_precision():
    X, y = wide()
    double = fitted(X, y).predict_proba(X)
    single = fitted(X.astype(np.float32), y).predict_proba(X.astype(np.float32))
    assert abs(double - single).max() < 1e-2
