"""Penalty and size that a fit chooses by itself, with alpha="auto"."""

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, r2_score

import problems
import reference
import stagenets
from stagenets.fitting._choice import folds_by_value

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
each_affine = pytest.mark.parametrize("cls", problems.AFFINE, ids=problems.name_of)


def automatic(cls, **params):
    return problems.small(cls, **{"alpha": "auto", **params})


def qualities(model, X, y, train, test):
    """Of every penalty and size on one split: all are fitted on the units of the usual penalty."""
    usual = model._alphas[model.loss][1]
    given = {"alpha": usual, "block_size": 4, "n_hidden": 50}
    chosen = clone(model).set_params(**given).fit(X[train], y[train])
    scaled = reference.standardizer(X[train], True)
    links = isinstance(model, stagenets.RVFLClassifier | stagenets.RVFLRegressor)

    def columns(rows, size):
        fixed = [np.ones((len(rows), 1)), scaled(X[rows])] if links else [np.ones((len(rows), 1))]
        return np.hstack([*fixed, chosen.transform(X[rows])[:, :size]])

    def quality(alpha, size):
        A, B = columns(train, size), columns(test, size)
        if model.loss == "log":
            linear = LogisticRegression(C=2 / alpha, fit_intercept=False, tol=1e-9, max_iter=10_000)
            return -log_loss(y[test], linear.fit(A, y[train]).predict_proba(B))
        targets = np.eye(2)[y] if isinstance(model, ClassifierMixin) else y
        shift = 0 if isinstance(model, ClassifierMixin) else targets[train].mean(axis=0)
        size_of = 1 if isinstance(model, ClassifierMixin) else targets[train].std(axis=0)
        scores = B @ reference.ridge(A, (targets[train] - shift) / size_of, alpha) * size_of + shift
        if isinstance(model, ClassifierMixin):
            return np.mean(scores.argmax(axis=1) == y[test])
        return r2_score(y[test], scores)

    sizes = range(1, 51) if model.loss == "squared" else [50]
    return {
        (alpha, size): quality(alpha, size) for alpha in model._alphas[model.loss] for size in sizes
    }


def chosen_by_hand(model, X, y, splits):
    """Penalty and size by the rule that the manual states: of equals, the larger penalty wins."""
    by_split = [qualities(model, X, y, train, test) for train, test in splits]
    order = sorted(by_split[0], key=lambda key: (-key[0], key[1]))
    scores = {key: np.array([of[key] for of in by_split]) for key in order}
    best = max(order, key=lambda key: scores[key].mean())
    usual = (model._alphas[model.loss][1], 50)
    gains = scores[best] - scores[usual]
    sure = gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains))
    return best if sure else usual


@each_affine
@pytest.mark.parametrize("loss", ["squared", "log"])
@pytest.mark.parametrize("seed", range(3))
def test_penalty_and_size_are_the_best_for_the_units_of_the_usual_penalty(cls, loss, seed):
    if loss == "log" and cls not in problems.CLASSIFIERS:
        pytest.skip("regressors have no log-loss")
    X, y = problems.data_for(cls, n=90, n_outputs=2, seed=seed)
    model = automatic(cls, loss=loss, n_hidden="auto").fit(X, y)
    labels = y if cls in problems.CLASSIFIERS else None
    values = np.eye(2)[y] if cls in problems.CLASSIFIERS else y
    splits = folds_by_value(X, values, labels, 0)
    assert (model.alpha_, model.n_hidden_) == chosen_by_hand(model, X, y, splits)
    same = clone(model).set_params(alpha=model.alpha_, n_hidden=model.n_hidden_).fit(X, y)
    np.testing.assert_array_equal(problems.scores_of(model, X), problems.scores_of(same, X))


@each_estimator
def test_a_size_that_is_given_is_kept(cls):
    X, y = problems.data_for(cls, n=80)
    model = automatic(cls).fit(X, y)
    assert model.n_hidden_ == problems.small(cls).fit(X, y).n_hidden_
    assert model.alpha_ in model._alphas[model.loss]
    assert len(model.cv_path_) == len(model.cv_sizes_) == 1


@each_estimator
def test_penalties_that_are_given_are_not_searched(cls):
    X, y = problems.data_for(cls, n=80)
    model = problems.small(cls, alpha=0.7).fit(X, y)
    assert model.alpha_ == 0.7
    assert not hasattr(model, "cv_path_")


@each_estimator
def test_few_samples_get_the_usual_penalty(cls):
    X, y = problems.data_for(cls, n=49)
    model = automatic(cls).fit(X, y)
    assert model.alpha_ == model._alphas[model.loss][1]
    assert not hasattr(model, "cv_path_")


@each_estimator
def test_weights_count_like_repeated_samples(cls):
    X, y = problems.data_for(cls, n=40)
    weights = np.random.default_rng(0).integers(0, 4, 40)
    size = {} if cls in problems.BLS else {"n_hidden": "auto"}
    model = automatic(cls, **size)
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights, axis=0))
    assert hasattr(weighted, "cv_path_")
    np.testing.assert_allclose(weighted.cv_path_, repeated.cv_path_, rtol=1e-5)
    assert (weighted.alpha_, weighted.n_hidden_) == (repeated.alpha_, repeated.n_hidden_)


def test_equal_rows_share_a_fold_and_classes_are_spread_evenly():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 7)) * np.array(-0.0)
    X[:, :6] += rng.integers(0, 2, size=(400, 6))
    labels = rng.integers(0, 3, 400)
    folds = np.empty(400, dtype=int)
    for number, (train, test) in enumerate(folds_by_value(X, np.eye(3)[labels], labels, 0)):
        folds[test] = number
        assert sorted([*train, *test]) == list(range(400))
    groups = {}
    for row, label, fold in zip(X + 0.0, labels, folds, strict=True):
        assert groups.setdefault((*row, label), fold) == fold
    for label in range(3):
        counts = np.bincount([fold for (*_, k), fold in groups.items() if k == label], minlength=5)
        assert np.ptp(counts) <= 1


@each_affine
def test_the_order_of_samples_does_not_matter(cls):
    X, y = problems.data_for(cls, n=100)
    order = np.random.default_rng(0).permutation(100)
    one, other = automatic(cls).fit(X, y), automatic(cls).fit(X[order], y[order])
    assert one.alpha_ == other.alpha_
    np.testing.assert_allclose(one.cv_path_, other.cv_path_, rtol=1e-6)


def test_a_fit_that_continues_another_has_its_folds():
    X, y = problems.data_for(stagenets.ELMRegressor, n=80)
    model = automatic(stagenets.ELMRegressor, warm_start=True, random_state=None)
    first = model.fit(X, y).cv_path_.copy()
    np.testing.assert_array_equal(model.fit(X, y).cv_path_, first)


def test_rows_that_are_all_the_same_tell_nothing_about_penalties():
    model = stagenets.RVFLRegressor(random_state=0).fit(np.ones((60, 2)), np.full(60, 3.0))
    assert model.alpha_ == 3.0
    np.testing.assert_allclose(model.predict([[1.0, 1.0]]), 3.0)


def test_fewer_different_rows_than_folds():
    X, y = np.repeat([[0.0], [1.0], [2.0]], 20, axis=0), np.repeat([0, 1, 0], 20)
    model = stagenets.RVFLClassifier(random_state=0).fit(X, y)
    assert len(folds_by_value(X, np.eye(2)[y], y, 0)) == 3
    assert model.score(X, y) == 1


def test_noise_is_not_fitted():
    rng = np.random.default_rng(0)
    X, y, new = rng.normal(size=(300, 8)), rng.normal(size=300), rng.normal(size=(5000, 8))
    errors = {}
    for alpha in ("auto", 3.0):
        model = stagenets.RVFLRegressor(alpha=alpha, random_state=0).fit(X, y)
        errors[alpha] = np.mean(model.predict(new) ** 2)  # the best prediction is 0
    assert errors["auto"] < 0.1 < errors[3.0]


@pytest.mark.parametrize("size", [1e160, 1e308])
def test_scores_of_folds_whose_errors_overflow_are_bad_but_numbers(size, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 5)), rng.normal(size=(600, 2))
    X[5, 2] = size
    model = stagenets.RVFLRegressor(extrapolate=True, n_hidden=6, pool_size=8, random_state=0)
    model.fit(X, y)
    assert np.isfinite(model.cv_path_).all() and model.cv_path_.max() < -1e200
    model.save(tmp_path / "model")  # which takes finite numbers only
    np.testing.assert_array_equal(stagenets.load(tmp_path / "model").predict(X), model.predict(X))


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="alpha must be a number >= 0 or 'auto'; got 'best'"):
        stagenets.RVFLRegressor(alpha="best").fit([[0.0], [1.0]], [0, 1])


def test_folds_of_many_rows_are_fitted_to_an_even_part_of_them():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12_000, 2)), rng.choice(3, p=[0.6, 0.3, 0.1], size=12_000)
    X[1::2], y[1::2] = X[::2], y[::2]  # every row twice
    splits = folds_by_value(np.repeat(X, 2, axis=0), np.eye(3)[np.repeat(y, 2)], np.repeat(y, 2), 0)
    assert sum(len(test) for _, test in splits) == 24_000
    for train, test in splits:
        assert np.intersect1d(train, test).size == 0
        assert 4 * 3_000 <= 5 * len(np.unique(train // 4)) <= 4 * 5_000
        assert len(train) == 4 * len(np.unique(train // 4))  # all of a row's copies, or none
        shares = np.bincount(np.repeat(y, 2)[train]) / len(train)
        np.testing.assert_allclose(shares, [0.6, 0.3, 0.1], atol=0.02)
