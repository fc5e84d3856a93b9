"""The estimators that search: they must find what a plain loop over single fits finds."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import problems
import stagenets

SEARCHES = {cls: getattr(stagenets, f"{cls.__name__}CV") for cls in problems.ALL}
each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)

GRID = {
    "alpha": [1e-3, 0.1, 10.0],
    "selection": ["residual", "joint", "random"],
    "pool_size": [5, 12],
    "block_size": [1, 3],
}
LISTS = {
    "loss": "losses",
    "alpha": "alphas",
    "selection": "selections",
    "pool_size": "pool_sizes",
    "block_size": "block_sizes",
    "activation": "activations",
    "enhancement_activation": "activations",
    "weight_init": "weight_inits",
    "weight_scale": "weight_scales",
}


def grid_of(cls, **changes):
    if cls in problems.BLS:
        own = {"n_enhancement": [0, 2, 5, 9], "n_windows": [1, 2], "n_feature_nodes": [3]}
        own["enhancement_activation"] = ["tanh"]
    else:
        own = {"n_hidden": [1, 4, 5, 13], "activation": ["sigmoid", "relu"]}
    return {**GRID, **own, **changes}


def both(cls, grid, X, y, cv=3, scoring=None, **params):
    """The search in one pass and scikit-learn's, fitted."""
    grid = {"weight_init": [cls().weight_init], "weight_scale": [1.0], "loss": ["squared"], **grid}
    ours = SEARCHES[cls](
        **{LISTS.get(name, name): values for name, values in grid.items()},
        cv=cv,
        scoring=scoring,
        random_state=7,
        **params,
    ).fit(X, y)
    if isinstance(cv, int):  # a number of folds is shuffled by random_state
        kind = StratifiedKFold if cls in problems.CLASSIFIERS else KFold
        cv = kind(cv, shuffle=True, random_state=7)
    plain = GridSearchCV(cls(random_state=7, **params), grid, cv=cv, scoring=scoring).fit(X, y)
    return ours, plain


def assert_same_search(ours, plain):
    assert ours.cv_results_["params"] == plain.cv_results_["params"]
    for name, expected in plain.cv_results_.items():
        if name.endswith("_test_score") and not name.startswith("rank"):
            np.testing.assert_allclose(ours.cv_results_[name], expected, rtol=0, atol=1e-9)
        if name.startswith("param_"):
            assert ours.cv_results_[name].tolist() == expected.tolist()
    assert ours.best_params_ == plain.best_params_
    assert ours.best_score_ == pytest.approx(plain.best_score_, abs=1e-9)
    assert ours.n_splits_ == plain.n_splits_


@each_estimator
def test_finds_what_a_plain_loop_finds(cls):
    X, y = problems.data_for(cls, n=50)
    ours, plain = both(cls, grid_of(cls), X, y)
    assert_same_search(ours, plain)
    np.testing.assert_array_equal(ours.predict(X), plain.best_estimator_.predict(X))
    assert ours.score(X, y) == pytest.approx(plain.score(X, y), abs=1e-9)


@each_estimator
@pytest.mark.parametrize(
    "params",
    [
        {"standardize": False},
        {"fit_intercept": False},
        {"solver": "dual"},
        {"solver": "primal", "tol": 0.01},
    ],
    ids=str,
)
def test_own_parameters_matter_as_in_single_fits(cls, params):
    X, y = problems.data_for(cls, n=40)
    grid = grid_of(cls, selection=["residual"], pool_size=[8], block_size=[2], alpha=[0.1, 1.0])
    assert_same_search(*both(cls, grid, X, y, **params))


@each_estimator
def test_scales_of_the_weights_are_searched_like_any_other_list(cls):
    X, y = problems.data_for(cls, n=40)
    few = {"selection": ["joint"], "pool_size": [8], "block_size": [2], "alpha": [0.1, 1.0]}
    assert_same_search(*both(cls, grid_of(cls, weight_scale=[0.3, 1.0, 4], **few), X, y))


@pytest.mark.parametrize("scales", [[1.0, -2.0], [0], ["steep"], 4.0, []], ids=str)
def test_scales_that_are_none_are_refused(scales):
    X, y = problems.data_for(stagenets.ELMRegressor, n=20)
    with pytest.raises(ValueError, match=r"weight_scales? must be"):
        stagenets.ELMRegressorCV(weight_scales=scales, max_hidden=3).fit(X, y)


def test_scoring_on_a_share_of_the_rows():
    X, y = problems.data_for(stagenets.RVFLClassifier, n=4000)
    grid = {"alpha": [0.1, 1.0], "n_hidden": [3, 6], "pool_size": [10]}
    grid |= {"selection": ["residual"], "block_size": [1], "activation": ["tanh"]}
    assert_same_search(*both(stagenets.RVFLClassifier, grid, X, y, cv=2, score_fraction=0.3))


def test_wide_inputs_and_more_units_than_rows():
    X, y = problems.data_for(stagenets.ELMClassifier, n=30, p=60)
    grid = grid_of(stagenets.ELMClassifier, n_hidden=[10, 25, 40], pool_size=[12])
    assert_same_search(*both(stagenets.ELMClassifier, grid, X, y))
    assert_same_search(*both(stagenets.RVFLClassifier, grid, X, y))


@pytest.mark.parametrize(
    "cv",
    [
        KFold(4),
        RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
        ShuffleSplit(3, test_size=0.3, train_size=0.4, random_state=0),
        [(np.arange(20, 60), np.arange(20)), (np.arange(10, 50), np.arange(50, 60))],
    ],
    ids=["KFold", "repeated", "shuffled", "list"],
)
def test_any_splitter(cv):
    X, y = problems.data_for(stagenets.RVFLClassifier, n=60)
    grid = grid_of(stagenets.RVFLClassifier, pool_size=[8], activation=["tanh"])
    assert_same_search(*both(stagenets.RVFLClassifier, grid, X, y, cv=cv))


def test_masks_are_splits_too():
    X, y = problems.data_for(stagenets.RVFLClassifier, n=60)
    test = np.arange(60) % 3 == 0
    grid = {"alphas": [1.0], "n_hidden": [5], "random_state": 0}
    rows = stagenets.RVFLClassifierCV(**grid, cv=[(np.flatnonzero(~test), np.flatnonzero(test))])
    masks = stagenets.RVFLClassifierCV(**grid, cv=[(~test, test)])
    assert rows.fit(X, y).best_score_ == masks.fit(X, y).best_score_


def test_class_that_no_training_row_has():
    """Sorted labels and contiguous folds, as in some published protocols."""
    X, y = problems.data_for(stagenets.ELMClassifier, n=60)
    order = np.argsort(y, kind="stable")
    grid = grid_of(stagenets.ELMClassifier, pool_size=[8])
    assert_same_search(*both(stagenets.ELMClassifier, grid, X[order], y[order], cv=KFold(3)))


def mean_of_labels(estimator, X, y):
    return float(np.mean(estimator.predict(X)) + estimator.predict_proba(X)[0, 0])


@pytest.mark.parametrize(
    "scoring",
    [
        "accuracy",
        "balanced_accuracy",
        "roc_auc",
        "neg_log_loss",
        "average_precision",
        make_scorer(accuracy_score, normalize=False),
        mean_of_labels,
    ],
    ids=lambda scoring: getattr(scoring, "__name__", str(scoring)),
)
@pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)
def test_scorers_of_classifiers(cls, scoring):
    X, y = problems.data_for(cls, n=50, n_outputs=2)
    grid = grid_of(cls, pool_size=[8], block_size=[2], alpha=[0.1, 1.0])
    assert_same_search(*both(cls, grid, X, y, scoring=scoring))


def test_scorers_of_many_classes():
    X, y = problems.data_for(stagenets.RVFLClassifier, n=60)
    grid = grid_of(stagenets.RVFLClassifier, pool_size=[8], alpha=[0.1, 1.0])
    for scoring in ("roc_auc_ovr", "f1_macro"):
        assert_same_search(*both(stagenets.RVFLClassifier, grid, X, y, scoring=scoring))


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error"])
@pytest.mark.parametrize("n_outputs", [None, 1, 2])
def test_scorers_of_regressors(scoring, n_outputs):
    X, y = problems.data_for(stagenets.RVFLRegressor, n=50, n_outputs=n_outputs or 1)
    y = y[:, 0] if n_outputs is None else y
    grid = grid_of(stagenets.RVFLRegressor, pool_size=[8])
    assert_same_search(*both(stagenets.RVFLRegressor, grid, X, y, scoring=scoring))


def test_custom_weights():
    def draw(rng, pool_size, n_features):
        return rng.normal(size=(n_features, pool_size)), rng.normal(size=pool_size)

    X, y = problems.data_for(stagenets.RVFLClassifier, n=50)
    grid = grid_of(stagenets.RVFLClassifier, pool_size=[8], block_size=[2], weight_init=[draw])
    assert_same_search(*both(stagenets.RVFLClassifier, grid, X, y))


def test_log_loss_when_units_run_out():
    """All candidates are dead, so every size is the readout of the inputs alone."""

    def dead(rng, pool_size, n_features):
        return np.zeros((n_features, pool_size)), -np.ones(pool_size)

    X, y = problems.data_for(stagenets.RVFLClassifier, n=80)
    cv = StratifiedKFold(3)
    ours = stagenets.RVFLClassifierCV(
        n_hidden=[1, 5, 10],
        alphas=[0.5],
        activations=["relu"],
        weight_inits=[dead],
        scoring="neg_log_loss",
        extrapolate=True,
        standardize=False,
        cv=cv,
        refit=False,
    ).fit(X, y)
    alone = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000)
    expected = cross_val_score(alone, X, y, cv=cv, scoring="neg_log_loss").mean()
    scores = ours.cv_results_["mean_test_score"]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-14)
    np.testing.assert_allclose(scores, expected, rtol=1e-2)  # where the intercept is free


def test_families_of_weights():
    X, y = problems.data_for(stagenets.ELMRegressor, n=50)
    families = ["sparse", "normal", "threshold", "mixed"]
    grid = grid_of(
        stagenets.ELMRegressor, alpha=[0.1], pool_size=[8], block_size=[2], weight_init=families
    )
    assert_same_search(*both(stagenets.ELMRegressor, grid, X, y))


def test_single_precision():
    X, y = problems.data_for(stagenets.RVFLRegressor, n=80)
    grid = grid_of(stagenets.RVFLRegressor, pool_size=[8])
    ours, plain = both(stagenets.RVFLRegressor, grid, X.astype(np.float32), y)
    for split in range(3):
        name = f"split{split}_test_score"
        np.testing.assert_allclose(ours.cv_results_[name], plain.cv_results_[name], atol=2e-4)
    assert ours.best_estimator_.transform(X.astype(np.float32)).dtype == np.float32


@each_estimator
def test_threads_and_memory_change_nothing(cls):
    X, y = problems.data_for(cls, n=60)
    grid = {LISTS.get(name, name): values for name, values in grid_of(cls).items()}
    one = SEARCHES[cls](**grid, random_state=0, n_jobs=1).fit(X, y)
    for changes in ({"n_jobs": 2}, {"n_jobs": 3, "max_memory": 1.0}, {"max_memory": "40KB"}):
        other = SEARCHES[cls](**grid, random_state=0, **changes).fit(X, y)
        for name, values in one.cv_results_.items():
            if name.endswith("score"):
                np.testing.assert_array_equal(other.cv_results_[name], values)


def test_path_is_every_size():
    X, y = problems.data_for(stagenets.ELMRegressor)
    search = stagenets.ELMRegressorCV(max_hidden=9, alphas=[1.0], random_state=0).fit(X, y)
    assert [params["n_hidden"] for params in search.cv_results_["params"]] == list(range(1, 10))
    search = stagenets.BLSRegressorCV(max_enhancement=4, alphas=[1.0], random_state=0).fit(X, y)
    assert search.cv_results_["param_n_enhancement"].tolist() == [1, 2, 3, 4]


def test_best_network_is_refitted_on_all_rows():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    search = stagenets.RVFLClassifierCV(max_hidden=8, random_state=3).fit(X, y)
    plain = stagenets.RVFLClassifier(random_state=3, **search.best_params_).fit(X, y)
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(search, method)(X), getattr(plain, method)(X))
    np.testing.assert_array_equal(search.transform(X), plain.transform(X))
    np.testing.assert_array_equal(list(search.staged_predict(X)), list(plain.staged_predict(X)))
    assert (search.alpha_, search.n_hidden_) == (plain.alpha, plain.n_hidden_)
    np.testing.assert_array_equal(search.classes_, plain.classes_)


def test_without_refit_there_is_nothing_to_predict_with():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    search = stagenets.RVFLClassifierCV(max_hidden=3, refit=False, random_state=0).fit(X, y)
    assert 0 <= search.best_score_ <= 1
    with pytest.raises(AttributeError, match="refit=False"):
        search.predict(X)


def test_best_network_of_an_earlier_fit_is_forgotten():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    search = stagenets.RVFLClassifierCV(max_hidden=3, random_state=0).fit(X, y)
    search.set_params(refit=False).fit(X, y)
    for name in ("best_estimator_", "n_hidden_", "alpha_"):
        assert not hasattr(search, name)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alphas": []}, "alphas must be a non-empty list"),
        ({"alphas": 1.0}, "alphas must be a non-empty list"),
        ({"alphas": [-1.0]}, "alpha must be a finite number"),
        ({"activations": "relu"}, "activations must be a non-empty list"),
        ({"activations": ["gauss"]}, "activation must be one of"),
        ({"selections": ["best"]}, "selection must be one of"),
        ({"n_hidden": "all"}, 'n_hidden must be a list of sizes or "path"'),
        ({"n_hidden": []}, "n_hidden must be a non-empty list"),
        ({"n_hidden": [0]}, "n_hidden must be an integer of at least 1"),
        ({"max_hidden": 0}, "max_hidden must be an integer"),
        ({"pool_sizes": [2], "block_sizes": [3]}, "pool_size must be at least block_size"),
        ({"scoring": "best"}, "scoring must be one of"),
        ({"scoring": 3}, "scoring must be None"),
        ({"max_memory": "much"}, "max_memory must be a positive number of bytes"),
        ({"max_memory": 0}, "max_memory must be a positive number of bytes"),
        ({"refit": "yes"}, "refit must be True or False"),
        ({"cv": []}, "cv must give at least one split"),
        ({"cv": [([0, 1], [])]}, "empty set"),
        ({"cv": [([0, 1], [1000])]}, "row numbers below n_samples"),
    ],
    ids=str,
)
def test_bad_parameters(params, message):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    with pytest.raises(ValueError, match=message):
        stagenets.RVFLClassifierCV(**{"max_hidden": 3, "random_state": 0, **params}).fit(X, y)


def test_progress_is_told(capsys):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    stagenets.RVFLClassifierCV(max_hidden=3, random_state=0, verbose=1).fit(X, y)
    assert "RVFLClassifierCV" in capsys.readouterr().err


# Some checks make inputs and classes of so few different values that folds lack one of them.
@pytest.mark.filterwarnings("ignore:The least populated class")
@parametrize_with_checks(
    [
        # By squared error: readouts by log-loss agree to 1e-5, not to the check's 1e-7.
        stagenets.RVFLClassifierCV(max_hidden=10, alphas=(0.1, 10.0), losses=("squared",)),
        stagenets.ELMRegressorCV(max_hidden=10, alphas=(0.1, 10.0)),
        stagenets.BLSClassifierCV(n_windows=(2,), max_enhancement=10, alphas=(0.1, 10.0)),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


class CountedDraws:
    """Draws as a fit does, and counts how often it is asked to."""

    def __init__(self):
        self.calls = 0

    def draw(self, rng, pool_size, n_features):
        self.calls += 1
        return rng.normal(size=(n_features, pool_size)), rng.normal(size=pool_size)


@pytest.mark.parametrize("selection", ["residual", "random"])
def test_no_scorer_needs_more_fits_than_accuracy(selection):
    X, y = problems.data_for(stagenets.RVFLClassifier, n=60, n_outputs=2)
    counts = []
    for scoring in ("accuracy", "balanced_accuracy", "neg_log_loss", "roc_auc", mean_of_labels):
        draws = CountedDraws()
        stagenets.RVFLClassifierCV(
            alphas=[0.1, 1.0], max_hidden=9, selections=[selection], pool_sizes=[5], cv=3,
            scoring=scoring, weight_inits=[draws], refit=False, random_state=0, n_jobs=1,
        ).fit(X, y)  # fmt: skip
        counts.append(draws.calls)
    assert counts == counts[:1] * len(counts)


def test_a_callable_scorer_sees_the_inputs_of_the_test_rows():
    X, y = problems.data_for(stagenets.RVFLRegressor, n=40)
    seen = []

    def scorer(model, inputs, targets):
        seen.append((inputs.copy(), targets.copy()))
        return -np.abs(model.predict(inputs) - targets).mean()

    folds = KFold(4)
    stagenets.RVFLRegressorCV(alphas=[1.0], n_hidden=[2], cv=folds, scoring=scorer,
                              refit=False).fit(X, y)  # fmt: skip
    expected = {X[test].tobytes() + y[test].tobytes() for _, test in folds.split(X)}
    assert {a.tobytes() + b.tobytes() for a, b in seen} == expected


GROUPS = np.repeat(np.arange(10), 6)


def group_search(cv):
    return stagenets.RVFLClassifierCV(alphas=[1.0], n_hidden=[2, 5], cv=cv, random_state=0)


def test_groups_reach_the_splitter():
    X, y = problems.data_for(stagenets.RVFLClassifier, n=60)
    splits = list(GroupKFold(5).split(X, y, GROUPS))
    expected = group_search(splits).fit(X, y)
    found = group_search(GroupKFold(5)).fit(X, y, groups=GROUPS)
    np.testing.assert_array_equal(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )
    with pytest.raises(ValueError, match="groups"):
        group_search(GroupKFold(5)).fit(X, y)
    with pytest.raises(TypeError, match=r"unexpected arguments \['weights'\]"):
        group_search(3).fit(X, y, weights=GROUPS)


def test_metadata_routing_reaches_the_splitter():
    X, y = problems.data_for(stagenets.RVFLClassifier, n=60)
    expected = group_search(GroupKFold(5)).fit(X, y, groups=GROUPS)
    with sklearn.config_context(enable_metadata_routing=True):
        found = group_search(GroupKFold(5)).fit(X, y, groups=GROUPS)
        pipeline = make_pipeline(FunctionTransformer(), group_search(GroupKFold(5)))
        piped = pipeline.fit(X, y, groups=GROUPS)[-1]
    for search in (found, piped):
        np.testing.assert_array_equal(
            search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
        )


def test_a_number_of_folds_is_shuffled_and_a_splitter_taken_as_it_is():
    X, y = problems.data_for(stagenets.RVFLClassifier, n=60)
    order = np.lexsort(X.T)
    X, y = X[order], y[order]
    shuffled = StratifiedKFold(4, shuffle=True, random_state=5)
    params = {"alphas": [0.1, 1.0], "n_hidden": [3, 8], "random_state": 5}
    numbered, given, plain = (
        stagenets.RVFLClassifierCV(cv=cv, **params).fit(X, y).cv_results_["mean_test_score"]
        for cv in (4, shuffled, StratifiedKFold(4))
    )
    np.testing.assert_array_equal(numbered, given)
    assert not np.array_equal(numbered, plain)


def test_neighbours_alike_do_not_make_a_search_choose_too_small_a_network():
    """All combinations of six answers in order, as such files come: neighbours differ in one."""
    questions = np.array(list(np.ndindex(4, 4, 4, 3, 3, 3)), dtype=float)
    score = questions[:, 0] * questions[:, 3] - questions[:, 1] + 2 * (questions[:, 4] == 1)
    y = np.digitize(score, [0.5, 3.5])
    chosen = np.random.default_rng(0).permutation(len(y))
    train, test = np.sort(chosen[:1200]), chosen[1200:]
    default = stagenets.RVFLClassifier(n_hidden=100, random_state=0)
    search = stagenets.RVFLClassifierCV(
        alphas=[1.0, 3.0, 10.0], max_hidden=100, cv=5, random_state=0
    )
    default.fit(questions[train], y[train])
    search.fit(questions[train], y[train])
    gap = search.score(questions[test], y[test]) - default.score(questions[test], y[test])
    assert gap > -0.01
