"""Samples without labels, and scores that are alike among neighbours, against NumPy."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import expit, log_expit, log_softmax

import stagenets
from problems import ALL, CLASSIFIERS, REGRESSORS, data_for, name_of, scores_of, small
from stagenets import RVFLClassifier, RVFLRegressor, draw_candidates

GAMMA, ALPHA, NEIGHBORS = 0.7, 0.5, 4


def laplacian(X, n_neighbors=NEIGHBORS):
    """That of (W + Wᵀ) / 2, where row i of W has ones for the neighbours of sample i."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    distances = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    W = np.zeros_like(distances)
    for i, nearest in enumerate(np.argsort(distances, axis=1)[:, :n_neighbors]):
        W[i, nearest] = 1
    W = (W + W.T) / 2
    return np.diag(W.sum(axis=1)) - W


def few_labels(cls, n=60, seed=0):
    """(X, y, y without most labels, which samples have one), with the mark of this class."""
    X, y = data_for(cls, n, seed=seed)
    known = np.zeros(n, dtype=bool)
    known[np.random.default_rng(seed).permutation(n)[: n // 3]] = True
    if cls in CLASSIFIERS:
        known[np.unique(y, return_index=True)[1]] = True
    some = np.array(y, dtype=float)
    some[~known] = mark_of(cls)
    return X, y, some, known


def mark_of(cls):
    return -1 if cls in CLASSIFIERS else np.nan


def semi(cls, **params):
    semi = {"unlabeled": mark_of(cls), "manifold": GAMMA, "n_neighbors": NEIGHBORS}
    return small(cls, **{"alpha": ALPHA, **semi, **params})


def coded(cls, y, known):
    """The targets as the readout sees them, and how to make scores of them."""
    if cls in CLASSIFIERS:
        return np.eye(3)[y[known]], 0.0, 1.0
    center, scale = y[known].mean(axis=0), y[known].std(axis=0)
    return (y[known] - center) / scale, center, scale


def design_of(model, X):
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    linked = [Z] if model._links_inputs else []
    return np.hstack([np.ones((len(X), 1)), *linked, model.transform(X)])


def ridge_with_graph(A, T, known, L, weights=None):
    """Ω, and the objective there."""
    weights = np.ones(known.sum()) if weights is None else weights
    labelled = A[known]
    smooth = GAMMA * A.T @ L @ A
    normal = labelled.T @ (weights[:, None] * labelled) + smooth + ALPHA * np.eye(A.shape[1])
    omega = np.linalg.solve(normal, labelled.T @ (weights[:, None] * T))
    errors = (weights[:, None] * (labelled @ omega - T) ** 2).sum()
    return omega, errors + np.sum(omega * (smooth @ omega)) + ALPHA * np.sum(omega**2)


@pytest.mark.parametrize("cls", ALL, ids=name_of)
@pytest.mark.parametrize("selection", ["residual", "joint", "random"])
def test_readout_minimises_the_objective_with_the_laplacian(cls, selection):
    X, y, some, known = few_labels(cls)
    model = semi(cls, selection=selection).fit(X, some)
    T, center, scale = coded(cls, y, known)
    A = design_of(model, X)
    omega, objective = ridge_with_graph(A, T, known, laplacian(X))
    np.testing.assert_allclose(scores_of(model, X), center + scale * (A @ omega), atol=1e-8)
    np.testing.assert_allclose(model.objective_path_[-1], objective, rtol=1e-9)
    assert (np.diff(model.objective_path_) <= 0).all()


def test_units_are_chosen_by_the_score_with_the_laplacian():
    X, y, some, known = few_labels(RVFLClassifier)
    model = semi(RVFLClassifier).fit(X, some)
    T, L = coded(RVFLClassifier, y, known)[0], laplacian(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    A = np.hstack([np.ones((len(X), 1)), Z])
    for stage, chosen in enumerate(model.selected_[:, 1]):
        omega, objective = ridge_with_graph(A, T, known, L)
        np.testing.assert_allclose(model.objective_path_[stage], objective, rtol=1e-9)
        W, b = draw_candidates(0, stage, 10, X.shape[1])
        G = expit(Z @ W + b)
        pull = G[known].T @ (T - A[known] @ omega) - GAMMA * G.T @ L @ (A @ omega)
        lengths = (G[known] ** 2).sum(axis=0) + GAMMA * np.sum(G * (L @ G), axis=0)
        scores = (pull**2).sum(axis=1) / (lengths + ALPHA)
        assert np.argmax(scores) == chosen
        np.testing.assert_allclose(model.unit_scores_[stage], scores[chosen], rtol=1e-7)
        A = np.hstack([A, G[:, [chosen]]])


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name_of)
def test_log_loss_is_minimal_with_the_laplacian(cls):
    X, y, some, known = few_labels(cls)
    model = semi(cls, loss="log").fit(X, some)
    A, L = design_of(model, X), laplacian(X)
    smooth, scores = A.T @ L @ A, scores_of(model, X)
    omega = np.linalg.lstsq(A, scores, rcond=1e-12)[0]  # the shortest, as the penalty makes it
    logs = log_softmax(scores[known], axis=1)
    objective = -logs[np.arange(known.sum()), y[known]].sum()
    objective += ALPHA / 2 * np.sum(omega**2) + GAMMA / 2 * np.sum(omega * (smooth @ omega))
    np.testing.assert_allclose(model.objective_path_[-1], objective, rtol=1e-7)
    pull = A[known].T @ (np.eye(3)[y[known]] - np.exp(logs))
    gradient = ALPHA * omega + GAMMA * smooth @ omega - pull
    assert np.abs(gradient).max() < 1e-3 * np.abs(pull).max()
    assert (np.diff(model.objective_path_) <= 1e-9).all()


@pytest.mark.parametrize("cls", ALL, ids=name_of)
def test_without_the_term_it_is_a_fit_to_the_labelled_samples(cls):
    X, y, some, known = few_labels(cls)
    alone = semi(cls, manifold=0.0).fit(X, some)
    supervised = small(cls, alpha=ALPHA).fit(X[known], y[known])
    np.testing.assert_array_equal(scores_of(alone, X), scores_of(supervised, X))


@pytest.mark.parametrize("cls", [RVFLClassifier, RVFLRegressor], ids=name_of)
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_order_precision_and_form_do_not_matter(cls, solver):
    X, _, some, _ = few_labels(cls)
    expected = scores_of(semi(cls).fit(X, some), X)
    order = np.random.default_rng(1).permutation(len(X))
    mixed = semi(cls, solver=solver).fit(X[order], some[order])
    np.testing.assert_allclose(scores_of(mixed, X), expected, atol=1e-8)
    short = X.astype(np.float32)
    single = scores_of(semi(cls, solver=solver).fit(short, some), short)
    np.testing.assert_allclose(single, expected, atol=2e-3)


def test_weights_count_errors_not_neighbours():
    X, y, some, known = few_labels(RVFLRegressor)
    weights = np.random.default_rng(0).integers(1, 4, size=len(X)).astype(float)
    model = semi(RVFLRegressor, selection="random").fit(X, some, sample_weight=weights)
    center = np.average(X, axis=0, weights=weights)
    Z = (X - center) / np.sqrt(np.average((X - center) ** 2, axis=0, weights=weights))
    A = np.hstack([np.ones((len(X), 1)), Z, model.transform(X)])
    own = weights[known]
    middle = np.average(y[known], axis=0, weights=own)
    scale = np.sqrt(np.average((y[known] - middle) ** 2, axis=0, weights=own))
    omega, _ = ridge_with_graph(A, (y[known] - middle) / scale, known, laplacian(X), own)
    np.testing.assert_allclose(model.predict(X), middle + scale * (A @ omega), atol=1e-8)


def test_leave_one_out_is_of_the_labelled_samples():
    X, y, some, known = few_labels(RVFLRegressor)
    model = semi(RVFLRegressor, early_stopping="loo", n_iter_no_change=50).fit(X, some)
    A, L = design_of(model, X), laplacian(X)
    T = coded(RVFLRegressor, y, known)[0]
    errors = []
    for place, row in enumerate(np.flatnonzero(known)):
        without = known.copy()
        without[row] = False
        omega, _ = ridge_with_graph(A, np.delete(T, place, axis=0), without, L)
        errors.append(((A[row] @ omega - T[place]) ** 2).sum())
    np.testing.assert_allclose(model.loo_path_[model.best_iter_], np.mean(errors), rtol=1e-8)


@pytest.mark.filterwarnings("ignore:early_stopping=.* kept no units")
@pytest.mark.parametrize("cls", [RVFLClassifier, RVFLRegressor], ids=name_of)
@pytest.mark.parametrize("criterion", ["cv", "validation"])
def test_early_stopping_judges_by_labelled_samples(cls, criterion):
    X, _, some, known = few_labels(cls, n=120)
    model = semi(cls, early_stopping=criterion, validation_fraction=0.3).fit(X, some)
    path = model.cv_path_ if criterion == "cv" else model.validation_path_
    assert np.isfinite(path).all()
    if cls in CLASSIFIERS and criterion == "validation":
        judged = round(0.3 * known.sum())
        np.testing.assert_allclose(path * judged, np.round(path * judged), atol=1e-9)


def test_unlabelled_neighbours_carry_labels_along_a_curve():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, size=300)
    side = np.arange(300) % 2
    X = np.stack([np.cos(angle) + side, np.where(side, 0.4 - np.sin(angle), np.sin(angle))], axis=1)
    X += 0.04 * rng.normal(size=X.shape)
    y = np.full(300, -1)
    y[:4] = side[:4]
    supervised = RVFLClassifier(n_hidden=60, unlabeled=-1, random_state=0)
    spread = RVFLClassifier(n_hidden=60, unlabeled=-1, manifold=1.0, alpha=0.01, random_state=0)
    assert spread.fit(X, y).score(X, side) > 0.95 > supervised.fit(X, y).score(X, side) + 0.05


def test_log_loss_of_several_labels_is_minimal_with_the_laplacian():
    X, y = data_for(RVFLClassifier)
    several = np.stack([y > 0, y < 2, X[:, 0] > 0], axis=1).astype(int)
    model = semi(RVFLClassifier, loss="log", unlabeled=None).fit(X, several)
    A, scores = design_of(model, X), model._scores(X)
    omega = np.linalg.lstsq(A, scores, rcond=1e-12)[0]
    smooth = A.T @ laplacian(X) @ A
    objective = -log_expit((2 * several - 1) * scores).sum()
    objective += ALPHA / 2 * np.sum(omega**2) + GAMMA / 2 * np.sum(omega * (smooth @ omega))
    np.testing.assert_allclose(model.objective_path_[-1], objective, rtol=1e-7)
    pull = A.T @ (several - expit(scores))
    gradient = ALPHA * omega + GAMMA * smooth @ omega - pull
    assert np.abs(gradient).max() < 1e-3 * np.abs(pull).max()


@pytest.mark.parametrize("cls", [RVFLClassifier, RVFLRegressor], ids=name_of)
def test_penalties_are_chosen_by_labelled_samples(cls):
    X, y, some, known = few_labels(cls, n=180)
    alone = semi(cls, alpha="auto", manifold=0.0).fit(X, some)
    supervised = small(cls, alpha="auto").fit(X[known], y[known])
    assert alone.alpha_ == supervised.alpha_
    spread = semi(cls, alpha="auto").fit(X, some)
    assert np.isfinite(spread.cv_path_).all()
    again = semi(cls, alpha=spread.alpha_, n_hidden=spread.n_hidden_).fit(X, some)
    np.testing.assert_array_equal(scores_of(again, X), scores_of(spread, X))


def test_neighbours_are_those_of_encoded_inputs():
    X, _, some, _ = few_labels(RVFLRegressor)
    holes = X.copy()
    holes[3::7, 1] = np.nan
    filled = holes.copy()
    filled[3::7, 1] = np.nanmedian(holes[:, 1])
    by_hand = np.insert(filled, 2, np.isnan(holes[:, 1]), axis=1)
    expected = semi(RVFLRegressor, fan_in=2).fit(by_hand, some).predict(by_hand)
    np.testing.assert_allclose(
        semi(RVFLRegressor, fan_in=2).fit(holes, some).predict(holes), expected, rtol=1e-10
    )


@pytest.mark.parametrize("mark", ["?", np.nan, 3])
def test_any_value_can_mark_a_sample_without_a_label(mark):
    X, y, _, known = few_labels(RVFLClassifier)
    names = np.array(["a", "b", "c"])[y] if mark == "?" else y.astype(float)
    some = names.copy()
    some[~known] = mark
    model = semi(RVFLClassifier, unlabeled=mark).fit(X, some)
    assert model.classes_.tolist() == np.unique(names).tolist()
    plain = semi(RVFLClassifier).fit(X, np.where(known, y, -1))
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))


def test_networks_are_saved_with_their_mark(tmp_path):
    for cls in (RVFLClassifier, RVFLRegressor):
        X, _, some, _ = few_labels(cls)
        model = semi(cls).fit(X, some)
        model.save(tmp_path / "model")
        loaded = stagenets.load(tmp_path / "model")
        assert loaded.manifold == GAMMA
        assert loaded.unlabeled == (-1 if cls is RVFLClassifier else None)  # JSON has no NaN
        np.testing.assert_array_equal(scores_of(loaded, X), scores_of(model, X))


def test_growing_continues_with_the_same_graph():
    X, _, some, _ = few_labels(RVFLClassifier)
    grown = semi(RVFLClassifier, n_hidden=5, warm_start=True).fit(X, some)
    grown.set_params(n_hidden=12).fit(X, some)
    whole = semi(RVFLClassifier).fit(X, some)
    np.testing.assert_array_equal(grown.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize(
    ("cls", "params", "message"),
    [
        (RVFLClassifier, {"manifold": -1.0}, "manifold must be a finite number >= 0; got -1.0"),
        (RVFLClassifier, {"n_neighbors": 0}, "n_neighbors must be an integer of at least 1; got 0"),
        (RVFLClassifier, {"n_neighbors": 60}, r"n_neighbors must be below the number of samples"),
        (RVFLClassifier, {"intervals": "cv"}, "intervals must be None with manifold > 0"),
        (RVFLRegressor, {"intervals": "loo"}, "intervals must be None with manifold > 0"),
        (RVFLRegressor, {"unlabeled": None}, "Input y contains NaN"),
    ],
)
def test_refuses_what_it_cannot_do(cls, params, message):
    X, _, some, _ = few_labels(cls)
    with pytest.raises(ValueError, match=message):
        semi(cls, **params).fit(X, some)


def test_refuses_targets_without_or_with_half_a_label():
    X, _, some, known = few_labels(RVFLRegressor)
    with pytest.raises(ValueError, match=r"samples with a label; got unlabeled \(-1\) only"):
        semi(RVFLClassifier).fit(X, np.full(len(X), -1))
    several = np.random.default_rng(0).integers(2, size=(len(X), 3))
    for form in (several, csr_matrix(several), several.tolist()):
        with pytest.raises(ValueError, match="unlabeled must be None with several labels; got -1"):
            semi(RVFLClassifier).fit(X, form)
    some[np.argmax(known), 0] = np.nan
    with pytest.raises(ValueError, match="all targets of a sample or none"):
        semi(RVFLRegressor).fit(X, some)


@pytest.mark.parametrize("cls", [CLASSIFIERS[0], REGRESSORS[0]], ids=name_of)
@pytest.mark.parametrize("params", [{"unlabeled": None}, {"manifold": 0.0}])
def test_batches_need_labels(cls, params):
    X, y, _, _ = few_labels(cls)
    refused = "manifold must be 0" if params == {"unlabeled": None} else "unlabeled must be None"
    with pytest.raises(ValueError, match=f"{refused} with partial_fit"):
        semi(cls, **params).partial_fit(X, y)
