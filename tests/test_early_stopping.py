"""Leave-one-out paths against leaving rows out, and the stage that early stopping keeps."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    train_test_split,
)

import problems
import stagenets

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)


def design_of(model, X):
    """[1, inputs (RVFL), units] as the readout sees them, standardised inputs being scaled here."""
    hidden = model.transform(X)
    links = [(X - X.mean(axis=0)) / X.std(axis=0)] if model._links_inputs else []
    return np.hstack([np.ones((len(X), 1)), *links, hidden])


def targets_of(model, y):
    if hasattr(model, "classes_"):
        return (y[:, None] == model.classes_).astype(float)
    return (y - y.mean(axis=0)) / y.std(axis=0)


def left_out_scores(A, T, alpha):
    """What the ridge readout says of every row when it is fitted on the others."""
    scores = np.empty_like(T)
    for i in range(len(A)):
        rest = np.arange(len(A)) != i
        normal = A[rest].T @ A[rest] + alpha * np.eye(A.shape[1])
        scores[i] = A[i] @ np.linalg.solve(normal, A[rest].T @ T[rest])
    return scores


@each_estimator
@pytest.mark.parametrize("params", [{}, {"block_size": 3}, {"selection": "joint"}], ids=str)
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_leave_one_out_path(cls, params, solver):
    X, y = problems.data_for(cls, n=25)
    model = problems.small(cls, alpha=0.3, solver=solver, **params).fit(X, y)
    A, T = design_of(model, X), targets_of(model, y)
    fixed = A.shape[1] - model.n_hidden_
    assert len(model.loo_path_) == model.n_iter_ + 1
    for stage, units in enumerate(model.units_path_):
        scores = left_out_scores(A[:, : fixed + units], T, 0.3)
        error = ((T - scores) ** 2).sum() / len(T)
        assert model.loo_path_[stage] == pytest.approx(error, rel=1e-8)
        margins = np.diff(np.sort(scores, axis=1)[:, -2:])
        if cls in problems.CLASSIFIERS and margins.min() > 1e-9:  # no ties
            accuracy = np.mean(scores.argmax(axis=1) == T.argmax(axis=1))
            assert model.loo_accuracy_path_[stage] == pytest.approx(accuracy)


def test_leave_one_out_path_across_the_change_to_the_dual_form():
    X, y = problems.data_for(stagenets.ELMClassifier, n=20)
    model = problems.small(stagenets.ELMClassifier, n_hidden=35, alpha=0.5).fit(X, y)
    A, T = design_of(model, X), targets_of(model, y)
    for units in (5, 19, 25, 35):
        error = ((T - left_out_scores(A[:, : 1 + units], T, 0.5)) ** 2).sum() / len(T)
        assert model.loo_path_[units] == pytest.approx(error, rel=1e-8)


@each_estimator
def test_single_precision_leave_one_out(cls):
    X, y = problems.data_for(cls, n=60)
    double = problems.small(cls).fit(X, y)
    single = problems.small(cls).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.loo_path_, double.loo_path_, rtol=1e-3)


def noisy(cls, n=80):
    """Few rows and much noise: more units are soon worse."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 3))
    if cls in problems.CLASSIFIERS:
        return X, (X[:, 0] + 1.5 * rng.normal(size=n) > 0).astype(int)
    return X, X[:, :1] + 1.5 * rng.normal(size=(n, 1))


def stopping(cls, kind, **params):
    size = {"n_windows": 2, "n_feature_nodes": 3, "n_enhancement": 40}
    size = size if cls in problems.BLS else {"n_hidden": 46}
    return cls(
        **problems.plain(cls)
        | {"early_stopping": kind, "pool_size": 20, "alpha": 0.01, "random_state": 0}
        | size
        | params
    )


def assert_is_the_network_of_its_best_stage(model, X):
    """The model, and its stages, are those of a fit that ends there."""
    staged = list(model.staged_predict(X))
    assert len(staged) == model.best_iter_ + 1
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(staged[-1], model.predict(X))
    else:
        np.testing.assert_allclose(staged[-1], model.predict(X), atol=1e-12)
    assert model.n_hidden_ == model.units_path_[model.best_iter_]
    assert model.transform(X).shape == (len(X), model.n_hidden_)
    assert len(model.selected_) == len(model.unit_scores_) == model.n_hidden_
    assert len(model.objective_path_) == len(model.units_path_) == model.n_iter_ + 1
    assert model.pool_quantiles_.shape == (model.n_iter_, 5)


@each_estimator
def test_stopping_by_leave_one_out(cls):
    X, y = noisy(cls)
    model = stopping(cls, "loo", n_iter_no_change=5).fit(X, y)
    full = stopping(cls, False).fit(X, y)
    assert model.best_iter_ == np.argmin(model.loo_path_)
    assert model.n_iter_ == model.best_iter_ + 5 < full.n_iter_
    np.testing.assert_array_equal(model.loo_path_, full.loo_path_[: model.n_iter_ + 1])
    assert_is_the_network_of_its_best_stage(model, X)
    if (
        cls not in problems.BLS
    ):  # a smaller BLS has fewer enhancement nodes, not fewer feature nodes
        small = stopping(cls, False, n_hidden=int(model.n_hidden_)).fit(X, y)
        scores = problems.scores_of(small, X)
        np.testing.assert_allclose(problems.scores_of(model, X), scores, atol=1e-10)
        if cls in problems.CLASSIFIERS:
            assert model.temperature_ == pytest.approx(small.temperature_, rel=1e-6)


@each_estimator
def test_stopping_by_validation(cls):
    X, y = noisy(cls, n=120)
    model = stopping(cls, "validation", n_iter_no_change=6, validation_fraction=0.3).fit(X, y)
    assert len(model.validation_path_) == model.n_iter_ + 1
    assert model.best_iter_ == np.argmax(model.validation_path_)
    assert model.n_iter_ - model.best_iter_ == 6 or model.n_hidden_ == 46
    assert_is_the_network_of_its_best_stage(model, X)
    # Some rows were set aside: the paths say of the same rows what single fits to the others say.
    from stagenets.fitting._stopping import _validation_rows

    labels = y if cls in problems.CLASSIFIERS else None
    aside = _validation_rows(model, len(X), labels)
    assert len(aside) == 36
    rest = np.setdiff1d(np.arange(len(X)), aside)
    plain = stopping(cls, False).fit(X[rest], y[rest])
    measure = accuracy_score if cls in problems.CLASSIFIERS else r2_score
    expected = [measure(y[aside], scores) for scores in plain.staged_predict(X[aside])]
    np.testing.assert_allclose(model.validation_path_, expected[: model.n_iter_ + 1], atol=1e-9)


@each_estimator
def test_stopping_by_cross_validation(cls):
    X, y = noisy(cls)
    size = "n_enhancement" if cls in problems.BLS else "n_hidden"
    model = stopping(cls, "cv", **{size: 15}).fit(X, y)
    folds = (StratifiedKFold if cls in problems.CLASSIFIERS else KFold)(
        5, shuffle=True, random_state=0
    )
    plain = GridSearchCV(stopping(cls, False), {size: range(1, 16)}, cv=folds).fit(X, y)
    np.testing.assert_allclose(model.cv_path_, plain.cv_results_["mean_test_score"], atol=1e-9)
    scores = problems.scores_of(plain.best_estimator_, X)
    np.testing.assert_array_equal(problems.scores_of(model, X), scores)


@each_estimator
def test_cross_validation_keeps_groups_together(cls):
    X, y = noisy(cls, n=60)
    groups = np.random.default_rng(1).integers(0, 8, 60)
    size = "n_enhancement" if cls in problems.BLS else "n_hidden"
    model = stopping(cls, "cv", **{size: 9}).fit(X, y, groups=[f"g{g}" for g in groups])
    kind = StratifiedGroupKFold if cls in problems.CLASSIFIERS else GroupKFold
    folds = list(kind(5, shuffle=True, random_state=0).split(X, y, groups))
    plain = GridSearchCV(stopping(cls, False), {size: range(1, 10)}, cv=folds).fit(X, y)
    np.testing.assert_allclose(model.cv_path_, plain.cv_results_["mean_test_score"], atol=1e-9)


def test_validation_sets_whole_groups_aside():
    # Each group has an input of its own: only other rows of the group tell its label.
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    X = np.eye(40)[groups] + 0.01 * rng.normal(size=(200, 40))
    y = rng.permutation(np.repeat([0, 1], 20))[groups]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no units help: links to the inputs say it all, or nothing
        plain = stopping(stagenets.RVFLClassifier, "validation").fit(X, y)
        grouped = stopping(stagenets.RVFLClassifier, "validation").fit(X, y, groups=groups)
    assert plain.validation_path_[0] == 1
    assert grouped.validation_path_[0] < 0.8


@pytest.mark.parametrize(
    ("early_stopping", "groups", "message"),
    [
        (False, np.arange(20), "early_stopping must be True, 'cv' or 'validation' with groups"),
        ("loo", np.arange(20), "with groups, unless alpha='auto'; got 'loo'"),
        ("cv", np.arange(19), r"groups must have one entry per sample \(20\); got 19"),
        ("cv", np.zeros(20), "at least 2 groups; got 1"),
        ("cv", np.zeros((20, 2)), "1d array"),
    ],
)
def test_groups_that_mean_nothing_are_refused(early_stopping, groups, message):
    X, y = problems.data_for(stagenets.ELMRegressor, n=20)
    with pytest.raises(ValueError, match=message):
        stagenets.ELMRegressor(alpha=1, early_stopping=early_stopping).fit(X, y, groups=groups)


@each_estimator
def test_watchers_know_the_size_that_cross_validation_found(cls):
    X, y = noisy(cls)
    told = []
    model = stopping(cls, "cv", callback=told.append).fit(X, y)
    assert told[-1].n_units == told[-1].max_units == model.n_hidden_ < 46


def test_cross_validation_finds_the_size_of_a_one_shot_network():
    X, y = noisy(stagenets.ELMClassifier)
    model = stopping(stagenets.ELMClassifier, "cv", selection="random").fit(X, y)
    assert model.n_hidden_ == np.argmax(model.cv_path_) + 1


def test_stopping_helps_where_more_units_fit_noise():
    rng = np.random.default_rng(0)
    scores = {False: [], "loo": [], "cv": []}
    for seed in range(10):
        X = rng.normal(size=(1100, 4))
        y = X[:, 0] + 2 * rng.normal(size=1100)
        for kind, found in scores.items():
            model = stagenets.RVFLRegressor(
                n_hidden=60, alpha=0.01, early_stopping=kind, random_state=seed, **problems.PLAIN
            )
            found.append(model.fit(X[:100], y[:100]).score(X[100:], y[100:]))
    assert np.mean(scores["loo"]) > np.mean(scores[False]) + 0.1
    assert np.mean(scores["cv"]) > np.mean(scores[False]) + 0.1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"early_stopping": 1}, "early_stopping must be True, False, 'loo', 'validation' or 'cv'"),
        ({"early_stopping": "test"}, "early_stopping must be True, False, 'loo'"),
        ({"early_stopping": "loo", "selection": "random"}, "has no stages"),
        ({"early_stopping": "validation", "selection": "random"}, "has no stages"),
        ({"early_stopping": "validation", "validation_fraction": 0}, "validation_fraction must"),
        ({"early_stopping": "validation", "validation_fraction": 1.0}, "must leave samples"),
        ({"early_stopping": "loo", "n_iter_no_change": 0}, "n_iter_no_change must be an integer"),
    ],
    ids=str,
)
def test_bad_parameters(params, message):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    with pytest.raises(ValueError, match=message):
        problems.small(stagenets.RVFLClassifier, **params).fit(X, y)


def test_evidence_of_an_earlier_fit_is_forgotten():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = problems.small(stagenets.RVFLClassifier, early_stopping="loo").fit(X, y)
    model.set_params(early_stopping="cv").fit(X, y)
    assert hasattr(model, "cv_path_")
    model.set_params(early_stopping=False).fit(X, y)
    assert not hasattr(model, "cv_path_")
    model.set_params(selection="random").fit(X, y)
    assert not hasattr(model, "loo_path_")


def test_true_is_cross_validation():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    models = [
        problems.small(stagenets.RVFLClassifier, early_stopping=value).fit(X, y)
        for value in (True, np.True_, "cv")
    ]
    for model in models[:2]:
        np.testing.assert_array_equal(model.cv_path_, models[2].cv_path_)
        np.testing.assert_array_equal(model.selected_, models[2].selected_)


def test_targets_of_rows_set_aside_do_not_leak_into_the_fit():
    """Whatever the targets of validation samples are, the fit on the others is the same."""
    X, y = problems.data_for(stagenets.RVFLRegressor, n_outputs=1)
    params = {"early_stopping": "validation", "validation_fraction": 0.25, "random_state": 0}
    model = problems.small(stagenets.RVFLRegressor, n_iter_no_change=50, **params).fit(X, y)
    _, aside = train_test_split(np.arange(len(X)), test_size=round(0.25 * len(X)), random_state=0)
    changed = y.copy()
    changed[aside] += 1000.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = problems.small(stagenets.RVFLRegressor, n_iter_no_change=50, **params)
        other.fit(X, changed)
    assert not np.array_equal(model.validation_path_, other.validation_path_)
    np.testing.assert_allclose(other.objective_path_, model.objective_path_, rtol=1e-12)


def test_keeping_no_unit_is_said():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    model = stagenets.ELMRegressor(
        early_stopping="validation", n_iter_no_change=3, random_state=0, **problems.PLAIN
    )
    with pytest.warns(UserWarning, match=r"kept no units: none of the 3 stages .* its intercept"):
        model.fit(X, y)
    assert model.n_hidden_ == 0
