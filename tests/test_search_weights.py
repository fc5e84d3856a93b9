"""Weights in searches: in every fit and in every score, on the same splits as a grid search."""

import numpy as np
import pytest
import sklearn
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneGroupOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

import problems
import stagenets

SEARCHES = {cls: getattr(stagenets, f"{cls.__name__}CV") for cls in problems.ALL}
each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def sizes(cls):
    return {"n_enhancement": [2, 5]} if cls in problems.BLS else {"n_hidden": [2, 5]}


def search(cls, **params):
    own = {"n_windows": [2], "n_feature_nodes": [3]} if cls in problems.BLS else {}
    lists = {"alphas": [0.1, 10.0], "pool_sizes": [8], "losses": ["squared"], **sizes(cls), **own}
    return SEARCHES[cls](**{**lists, "random_state": 0, "cv": KFold(3), **params})


def model(cls, **params):
    own = {"n_windows": 2, "n_feature_nodes": 3} if cls in problems.BLS else {}
    plain = search(cls)  # what is not searched is at its default there
    shared = {"selection": plain.selections[0], "weight_init": plain.weight_inits[0]}
    return cls(**{"pool_size": 8, "loss": "squared", "random_state": 0, **shared, **own, **params})


def data(cls, n=60):
    X, y = problems.data_for(cls, n)
    return X, y, np.random.default_rng(2).uniform(0.1, 4, n)


@each_estimator
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_search_finds_what_a_weighted_grid_search_finds(cls, class_weight, routing):
    if class_weight and cls in problems.REGRESSORS:
        pytest.skip("classes only")
    own = {"class_weight": class_weight} if class_weight else {}
    X, y, weights = data(cls)
    ours = search(cls, **own).fit(X, y, sample_weight=weights)
    single = model(cls, **own).set_fit_request(sample_weight=True)
    single.set_score_request(sample_weight=True)
    theirs = GridSearchCV(single, {"alpha": [0.1, 10.0], **sizes(cls)}, cv=KFold(3))
    theirs.fit(X, y, sample_weight=weights)
    scores = {
        tuple(sorted(p.items())): s
        for p, s in zip(
            theirs.cv_results_["params"], theirs.cv_results_["mean_test_score"], strict=True
        )
    }
    for params, found in zip(
        ours.cv_results_["params"], ours.cv_results_["mean_test_score"], strict=True
    ):
        key = tuple(sorted((n, v) for n, v in params.items() if n in ("alpha", *sizes(cls))))
        assert found == pytest.approx(scores[key], abs=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert ours.score(X, y, sample_weight=weights) == pytest.approx(
        theirs.best_estimator_.score(X, y, sample_weight=weights)
    )


@each_estimator
def test_scikit_learn_finds_weights_and_repetitions_equal(cls):
    check_sample_weight_equivalence_on_dense_data(cls.__name__, search(cls))


@pytest.mark.parametrize(
    "scoring", ["f1_macro", "neg_log_loss", "roc_auc_ovr", "balanced_accuracy"]
)
def test_named_scorers_are_weighted(scoring):
    X, y, weights = data(stagenets.RVFLClassifier)
    ours = search(stagenets.RVFLClassifier, scoring=scoring, alphas=[1.0], n_hidden=[4])
    ours.fit(X, y, sample_weight=weights)
    expected = []
    for train, test in KFold(3).split(X):
        single = model(stagenets.RVFLClassifier, alpha=1.0, n_hidden=4)
        single.fit(X[train], y[train], sample_weight=weights[train])
        scorer = get_scorer(scoring)
        expected.append(scorer(single, X[test], y[test], sample_weight=weights[test]))
    assert ours.best_score_ == pytest.approx(np.mean(expected), abs=1e-9)


def test_scorer_without_weights_is_used_without(routing):
    def first_class(y_true, y_pred):
        return float(np.mean((y_true == 0) == (y_pred == 0)))

    X, y, weights = data(stagenets.RVFLClassifier)
    found = search(stagenets.RVFLClassifier, scoring=make_scorer(first_class))
    found.fit(X, y, sample_weight=weights)
    assert 0 < found.best_score_ <= 1


def test_scorers_get_weights_if_they_request_them(routing):
    seen = []

    def note(y_true, y_pred, sample_weight=None):
        seen.append(sample_weight)
        return 0.0

    X, y, weights = data(stagenets.RVFLClassifier)
    for wanted in (True, False):
        seen.clear()
        scorer = make_scorer(note).set_score_request(sample_weight=wanted)
        search(stagenets.RVFLClassifier, scoring=scorer).fit(X, y, sample_weight=weights)
        assert len(seen) > 0
        assert all((given is not None) == wanted for given in seen)


def test_weights_go_through_a_pipeline(routing):
    X, y, weights = data(stagenets.RVFLClassifier)
    weights = np.round(weights)
    steps = [
        StandardScaler().set_fit_request(sample_weight=True),
        search(stagenets.RVFLClassifier, cv=GroupKFold(3)).set_fit_request(sample_weight=True),
    ]
    groups = np.arange(len(X)) % 7
    pipeline = make_pipeline(*steps).fit(X, y, sample_weight=weights, groups=groups)
    scaled = StandardScaler().fit(X, sample_weight=weights).transform(X)
    alone = search(stagenets.RVFLClassifier, cv=GroupKFold(3))
    alone.fit(scaled, y, sample_weight=weights, groups=groups)
    np.testing.assert_allclose(pipeline.predict_proba(X), alone.predict_proba(scaled), rtol=1e-9)


@pytest.mark.parametrize("listed", [True, False])
def test_samples_of_weight_zero_are_in_no_split(listed):
    cls = stagenets.RVFLRegressor
    X, y, weights = data(cls)
    weights[::5] = 0
    some = weights > 0
    groups = np.arange(len(X)) % 4
    splits = list(LeaveOneGroupOut().split(X, groups=groups))
    if listed:
        ours = search(cls, cv=splits).fit(X, y, sample_weight=weights)
    else:
        ours = search(cls, cv=LeaveOneGroupOut()).fit(X, y, sample_weight=weights, groups=groups)
    without = search(cls, cv=LeaveOneGroupOut())
    without.fit(X[some], y[some], sample_weight=weights[some], groups=groups[some])
    np.testing.assert_array_equal(
        ours.cv_results_["mean_test_score"], without.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(ours.predict(X), without.predict(X))


def test_split_without_any_weight_is_refused():
    cls = stagenets.RVFLRegressor
    X, y, weights = data(cls)
    weights[:20] = 0
    splits = [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]
    with pytest.raises(ValueError, match="cv must give training and test samples"):
        search(cls, cv=splits).fit(X, y, sample_weight=weights)
