"""Weights of samples: one of weight w is w equal samples, one of weight 0 is none."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, r2_score
from sklearn.utils import shuffle

import problems
import stagenets

each_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
each_classifier = pytest.mark.parametrize("cls", problems.CLASSIFIERS, ids=problems.name_of)

SETTINGS = {
    "plain": {"standardize": True},
    "robust": {"standardize": "robust"},
    "unscaled": {"standardize": False},
    "joint": {"selection": "joint", "block_size": 2},
    "one-shot": {"selection": "random"},
    "dual": {"solver": "dual", "loss": "squared"},
    "loo": {"early_stopping": "loo", "n_iter_no_change": 3},
    "log": {"loss": "log"},
    "threshold": {"weight_init": "threshold"},
    "leaf": {"weight_init": "leaf"},
    "mixed": {"weight_init": "mixed"},
}


def suits(cls, name):
    rows = cls in problems.BLS and "weight_init" in SETTINGS[name]
    return not rows and not (cls in problems.REGRESSORS and name == "log")


cases = pytest.mark.parametrize(
    ("cls", "name"),
    [(cls, name) for cls in problems.ALL for name in SETTINGS if suits(cls, name)],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)


def weighted_and_repeated(cls, n=50, seed=0):
    """Samples with integer weights, some of them zero, and the same samples repeated, shuffled."""
    X, y = problems.data_for(cls, n, seed=seed)
    X[4, 0], X[7, 1] = 200.0, -300.0  # for the quartiles of "robust"
    weights = np.random.default_rng(seed).integers(0, 5, n)
    weights[[4, 7]] = 1
    repeated = shuffle(X.repeat(weights, axis=0), y.repeat(weights, axis=0), random_state=0)
    return X, y, weights, repeated


@cases
def test_integer_weights_are_repeated_samples(cls, name):
    X, y, weights, (X_repeated, y_repeated) = weighted_and_repeated(cls)
    weighted = problems.small(cls, **SETTINGS[name]).fit(X, y, sample_weight=weights)
    repeated = problems.small(cls, **SETTINGS[name]).fit(X_repeated, y_repeated)
    np.testing.assert_array_equal(weighted.selected_, repeated.selected_)
    np.testing.assert_allclose(weighted.objective_path_, repeated.objective_path_, rtol=1e-9)
    np.testing.assert_allclose(
        problems.scores_of(weighted, X), problems.scores_of(repeated, X), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(weighted.network_.bounds, repeated.network_.bounds)
    if cls in problems.CLASSIFIERS:
        np.testing.assert_allclose(
            weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9, atol=1e-12
        )
    if name != "one-shot":
        # A leverage of nearly 1, of the samples far out, loses digits in 1 - leverage.
        np.testing.assert_allclose(weighted.loo_path_, repeated.loo_path_, rtol=1e-4)


@pytest.mark.filterwarnings("ignore:early_stopping")
@each_estimator
@pytest.mark.parametrize("stopping", [False, "loo", "validation", "cv"])
def test_samples_of_weight_zero_do_not_exist(cls, stopping):
    X, y = problems.data_for(cls, 60)
    X[50:] += 100
    weights = np.r_[np.full(50, 2.0), np.zeros(10)]
    model = problems.small(cls, early_stopping=stopping).fit(X, y, sample_weight=weights)
    without = problems.small(cls, early_stopping=stopping).fit(
        X[:50], y[:50], sample_weight=weights[:50]
    )
    np.testing.assert_array_equal(model.readout_, without.readout_)
    np.testing.assert_array_equal(problems.scores_of(model, X), problems.scores_of(without, X))


@each_estimator
def test_weights_of_one_change_no_bit(cls):
    X, y = problems.data_for(cls)
    plain = problems.small(cls).fit(X, y)
    for ones in (1, np.ones(len(X)), [1] * len(X)):
        weighted = problems.small(cls).fit(X, y, sample_weight=ones)
        np.testing.assert_array_equal(weighted.readout_, plain.readout_)


@each_estimator
def test_automatic_sizes_count_weights(cls):
    if cls in problems.BLS:
        pytest.skip("sizes of BLS do not depend on the data")
    X, y = problems.data_for(cls, 60)
    model = cls(pool_size=5, alpha=3.0, random_state=0).fit(X, y, sample_weight=np.full(60, 6.0))
    assert model.n_hidden_ == 360 // 5


def test_readout_solves_the_weighted_ridge_problem():
    X, y = problems.data_for(stagenets.RVFLRegressor)
    weights = np.random.default_rng(1).uniform(0.1, 4, len(X))
    model = problems.small(stagenets.RVFLRegressor, alpha=0.7).fit(X, y, sample_weight=weights)
    mean = np.average(X, axis=0, weights=weights)
    scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    center = np.average(y, axis=0, weights=weights)
    spread = np.sqrt(np.average((y - center) ** 2, axis=0, weights=weights))
    design = np.column_stack([np.ones(len(X)), (X - mean) / scale, model.transform(X)])
    weighted = design.T * weights
    normal = weighted @ design + 0.7 * np.eye(design.shape[1])
    readout = np.linalg.solve(normal, weighted @ ((y - center) / spread))
    np.testing.assert_allclose(model.predict(X), center + spread * (design @ readout), rtol=1e-9)
    left_out = np.empty_like(y)
    for i in range(len(X)):  # one sample of weight w >= 1, or all of a smaller weight
        share = min(1.0, weights[i]) * np.outer(design[i], design[i])
        target = min(1.0, weights[i]) * np.outer(design[i], (y[i] - center) / spread)
        fit = np.linalg.solve(normal - share, weighted @ ((y - center) / spread) - target)
        left_out[i] = (y[i] - center) / spread - design[i] @ fit
    error = np.average((left_out**2).sum(axis=1), weights=weights)
    np.testing.assert_allclose(model.loo_path_[-1], error, rtol=1e-9)


@each_classifier
@pytest.mark.parametrize("loss", ["squared", "log"])
def test_class_weights_multiply_sample_weights(cls, loss):
    X, y = problems.data_for(cls, 80)
    weights = np.random.default_rng(0).uniform(0.2, 3, 80)
    model = problems.small(cls, loss=loss, class_weight={0: 2.5, 2: 0.5})
    model.fit(X, y, sample_weight=weights)
    factors = np.array([2.5, 1.0, 0.5])[y]
    same = problems.small(cls, loss=loss).fit(X, y, sample_weight=weights * factors)
    np.testing.assert_allclose(
        model.decision_function(X), same.decision_function(X), rtol=1e-9, atol=1e-9
    )


@each_classifier
def test_balanced_classes_have_the_same_total(cls):
    X, y = problems.data_for(cls, 80)
    y = np.array(["rare", "often", "often"])[y]
    weights = np.random.default_rng(0).uniform(0.2, 3, 80)
    totals = {label: weights[y == label].sum() for label in ("rare", "often")}
    by_hand = {label: weights.sum() / (2 * total) for label, total in totals.items()}
    model = problems.small(cls, class_weight="balanced").fit(X, y, sample_weight=weights)
    same = problems.small(cls, class_weight=by_hand).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.predict_proba(X), same.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_balancing_finds_the_rare_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] + rng.normal(size=2000) > 2.2).astype(int)
    recalls = [
        problems.small(stagenets.RVFLClassifier, class_weight=weight).fit(X, y).predict(X[y == 1])
        for weight in (None, "balanced")
    ]
    assert recalls[0].mean() < 0.5 < 0.75 < recalls[1].mean()


def test_class_weights_leave_whole_samples_out():
    """Copies would stay in the fit; a sample that counts more does not."""
    X, y = problems.data_for(stagenets.RVFLClassifier, 40)
    model = problems.small(
        stagenets.RVFLClassifier, loss="squared", class_weight={0: 4, 1: 4, 2: 4}, alpha=4.0
    ).fit(X, y)
    plain = problems.small(stagenets.RVFLClassifier, loss="squared", alpha=1.0).fit(X, y)
    np.testing.assert_allclose(model.loo_path_, plain.loo_path_, rtol=1e-9)
    np.testing.assert_allclose(model.temperature_, plain.temperature_, rtol=1e-6)


@each_estimator
def test_score_is_weighted(cls):
    X, y = problems.data_for(cls)
    weights = np.random.default_rng(0).uniform(0, 3, len(X))
    model = problems.small(cls).fit(X, y)
    measure = accuracy_score if cls in problems.CLASSIFIERS else r2_score
    expected = measure(y, model.predict(X), sample_weight=weights)
    assert model.score(X, y, sample_weight=weights) == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore:early_stopping")
@each_estimator
def test_validation_score_is_weighted(cls):
    X, y = problems.data_for(cls, 60)
    weights = np.random.default_rng(0).uniform(0.1, 3, 60)
    params = {"early_stopping": "validation", "validation_fraction": 0.3, "n_iter_no_change": 99}
    model = problems.small(cls, **params).fit(X, y, sample_weight=weights)
    from stagenets.fitting._stopping import _validation_rows

    rows = _validation_rows(model, 60, y if cls in problems.CLASSIFIERS else None)
    best = model.score(X[rows], y[rows], sample_weight=weights[rows])
    assert model.validation_path_[model.best_iter_] == pytest.approx(best, abs=1e-6)


@each_estimator
def test_sizes_are_cross_validated_by_weight(cls):
    from stagenets.fitting._stopping import folds_of

    X, y = problems.data_for(cls, 60)
    weights = np.random.default_rng(0).uniform(0.1, 3, 60)
    model = problems.small(cls, early_stopping="cv", loss="squared")
    model.fit(X, y, sample_weight=weights)
    size = {model._size_name: 4}
    scores = [
        problems.small(cls, loss="squared", **size)
        .fit(X[train], y[train], sample_weight=weights[train])
        .score(X[test], y[test], sample_weight=weights[test])
        for train, test in folds_of(model, 60, y if cls in problems.CLASSIFIERS else None, None)
    ]
    assert model.cv_path_[3] == pytest.approx(np.mean(scores), abs=1e-9)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(5), r"sample_weight must be one number per sample, shape \(60,\)"),
        (np.ones((60, 1)), "sample_weight must be one number per sample"),
        (-np.ones(60), r"sample_weight must be numbers >= 0; got -1.0"),
        (np.full(60, 1e31), r"sample_weight must be numbers up to 1e\+30; got 1e\+31"),
        (np.zeros(60), "sample_weight must be > 0 for at least one sample"),
        (np.full(60, np.nan), "sample_weight contains NaN"),
    ],
)
@each_estimator
def test_bad_weights_are_refused(cls, weights, message):
    X, y = problems.data_for(cls, 60)
    with pytest.raises(ValueError, match=message):
        problems.small(cls).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("even", "class_weight must be None, 'balanced' or a dict {class: weight}; got 'even'"),
        ({0: 1, 7: 2}, r"class_weight must be a dict with weights of the classes \[0, 1, 2\]"),
        ({0: -1}, r"class_weight\[0\] must be a number from 0 to 1e\+30; got -1"),
        ({0: np.inf, 1: 1}, r"class_weight\[0\] must be a number from 0 to 1e\+30; got inf"),
        ({0: 0, 1: 0, 2: 0}, "class_weight must be > 0 for at least one class"),
    ],
)
@each_classifier
def test_bad_class_weights_are_refused(cls, class_weight, message):
    X, y = problems.data_for(cls, 60)
    with pytest.raises(ValueError, match=message):
        problems.small(cls, class_weight=class_weight).fit(X, y)


def test_regressors_have_no_class_weight():
    with pytest.raises(TypeError, match=r"RVFLRegressor.__init__\(\) got an unexpected"):
        stagenets.RVFLRegressor(class_weight="balanced")
    with pytest.raises(TypeError, match=r"RVFLClassifier.__init__\(\) got an unexpected"):
        stagenets.RVFLClassifier(classweight="balanced")


def test_draws_look_at_rows_by_weight():
    X = np.random.default_rng(0).normal(size=(9, 3))
    weights = np.array([0, 1, 2, 3, 0, 1, 4, 1, 2])
    drawn = stagenets.draw_candidates(3, 0, 50, 3, X=X, sample_weight=weights, weight_init="mixed")
    repeated = stagenets.draw_candidates(
        3, 0, 50, 3, X=X.repeat(weights, axis=0)[::-1], weight_init="mixed"
    )
    for one, other in zip(drawn, repeated, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("selection", ["residual", "joint", "random"])
def test_stagewise_function_takes_weights(selection):
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(40, 3)), rng.normal(size=40), rng.integers(0, 4, 40)

    def cosines(rows):
        def pool(stage, size):
            drawn = np.random.default_rng(stage).normal(size=(4, size))
            return np.cos(rows @ drawn[:3] + drawn[3])

        return pool

    params = {"n_hidden": 6, "pool_size": 9, "selection": selection}
    fit = stagenets.fit_stagewise(cosines(X), y, inputs=X, sample_weight=weights, **params)
    again = X.repeat(weights, axis=0)
    repeated = stagenets.fit_stagewise(cosines(again), y.repeat(weights), inputs=again, **params)
    np.testing.assert_array_equal(fit.selected, repeated.selected)
    np.testing.assert_allclose(fit.readout, repeated.readout, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fit.objective_path, repeated.objective_path, rtol=1e-9)


def test_files_keep_class_weights_that_are_plain(tmp_path):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = problems.small(stagenets.RVFLClassifier, class_weight="balanced").fit(X, y)
    model.save(tmp_path / "m")
    loaded = stagenets.load(tmp_path / "m")
    assert loaded.class_weight == "balanced"
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert f1_score(y, loaded.predict(X), average="macro") > 0


def test_groups_of_samples_without_weight_do_not_count():
    X, y = problems.data_for(stagenets.RVFLRegressor, 60)
    groups, weights = [f"g{i % 6}" for i in range(60)], np.arange(60) % 3
    model = problems.small(stagenets.RVFLRegressor, early_stopping="cv")
    model.fit(X, y, sample_weight=weights, groups=groups)
    some = weights > 0
    without = problems.small(stagenets.RVFLRegressor, early_stopping="cv")
    without.fit(X[some], y[some], sample_weight=weights[some], groups=np.array(groups)[some])
    np.testing.assert_array_equal(model.readout_, without.readout_)


def test_other_weights_begin_anew():
    """A warm start continues a fit only if its stages would be the same."""
    X, y = problems.data_for(stagenets.RVFLClassifier)
    weights = np.random.default_rng(0).uniform(0.1, 5, len(X))
    warm = problems.small(stagenets.RVFLClassifier, warm_start=True).fit(X, y)
    warm.set_params(n_hidden=20).fit(X, y, sample_weight=weights)
    cold = problems.small(stagenets.RVFLClassifier, n_hidden=20)
    cold.fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(warm.readout_, cold.readout_)
    warm.set_params(n_hidden=25, class_weight={0: 3.0}).fit(X, y, sample_weight=weights)
    cold.set_params(n_hidden=25, class_weight={0: 3.0}).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(warm.readout_, cold.readout_)


@each_estimator
def test_intervals_refuse_weights_they_would_ignore(cls):
    X, y = problems.data_for(cls, 60)
    model = problems.small(cls, intervals="cv")
    with pytest.raises(ValueError, match=r"intervals must be None with sample_weight .* got 'cv'"):
        model.fit(X, y, sample_weight=np.arange(60))


def test_batches_refuse_class_weights_they_would_ignore():
    X, y = problems.data_for(stagenets.RVFLClassifier, 60)
    model = problems.small(stagenets.RVFLClassifier, loss="squared", class_weight="balanced")
    with pytest.raises(ValueError, match="class_weight must be None with partial_fit"):
        model.partial_fit(X, y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_the_largest_weights_are_as_good_as_ones_with_a_penalty_to_match(cls, dtype):
    X, y = problems.data_for(cls, n=80)
    X = X.astype(dtype)
    # The autoencoder has penalties of its own, which do not follow.
    params = {"sparse_features": False} if cls in problems.BLS else {}
    usual = problems.small(cls, alpha=0.1, **params)
    heavy = problems.small(cls, alpha=0.1 * 2.0**99, **params).fit(X, y, np.full(80, 2.0**99))
    expected = problems.scores_of(usual.fit(X, y), X)
    np.testing.assert_allclose(problems.scores_of(heavy, X), expected, rtol=1e-3, atol=1e-3)
    assert np.isfinite(heavy.residual_path_).all()
