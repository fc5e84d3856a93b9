"""Sparse inputs: the answers of the same inputs dense, without filling them in."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge

import problems
import stagenets
from stagenets.fitting._choice import folds_by_value

FORMATS = [
    sparse.csr_matrix,
    sparse.csc_matrix,
    sparse.csr_array,
    sparse.csc_array,
    sparse.coo_array,
]
SEARCHES = {cls: getattr(stagenets, cls.__name__ + "CV") for cls in problems.ALL}


def mostly_zeros(n, p, seed=0):
    """Rows with a tenth of their entries, and columns that sparse code may stumble over."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(n, p)) * (rng.random((n, p)) < 0.1)
    X[:, 0] = rng.normal(30, 0.5, size=n)  # no zeros, and none within its bounds
    X[:, 1] = 0  # nothing stored
    X[:, 2] = 4.0  # constant
    X[:, 3] = rng.normal(size=n)  # no zeros, but some within its bounds
    X[rng.choice(n, 2, replace=False), 4] = 1e4  # wild values
    return X


def data_for(cls, n=80, p=9, seed=0):
    X = mostly_zeros(n, p, seed)
    rng = np.random.default_rng(seed + 1)
    y = X[:, 3] + 3 * (X[:, 5] > 0) - X[:, 6] + 0.3 * rng.normal(size=n)
    return X, np.digitize(y, np.quantile(y, [0.4, 0.8])) if cls in problems.CLASSIFIERS else y


def both_fits(cls, X, y, to_sparse=sparse.csr_array, **params):
    dense = problems.small(cls, **params).fit(X, y)
    return dense, problems.small(cls, **params).fit(to_sparse(X), y)


def assert_same_network(dense, other, X):
    np.testing.assert_array_equal(dense.selected_, other.selected_)
    np.testing.assert_allclose(other.objective_path_, dense.objective_path_, rtol=1e-9)
    expected = problems.scores_of(dense, X)
    found = problems.scores_of(other, sparse.csr_array(X))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def defaults(cls):
    """The default choice, units and loss of a class, in a small network."""
    if cls in problems.BLS:
        return {}
    loss = {"loss": "log"} if cls in problems.CLASSIFIERS else {}
    return {"selection": "joint", "weight_init": "mixed", **loss}


@pytest.mark.parametrize("p", [9, 150], ids=["tall", "wide"])
@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_same_answers_as_dense(cls, p):
    X, y = data_for(cls, p=p)
    dense, other = both_fits(cls, X, y)
    assert_same_network(dense, other, X)
    rows = sparse.csr_array(X)
    np.testing.assert_allclose(other.transform(rows), dense.transform(X), atol=1e-9)
    np.testing.assert_allclose(other.score(rows, y), dense.score(X, y), rtol=1e-9)
    np.testing.assert_allclose(
        other.feature_importances_, dense.feature_importances_, rtol=1e-7, atol=1e-9
    )
    for expected, found in zip(dense.staged_predict(X), other.staged_predict(rows), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("p", [9, 150], ids=["tall", "wide"])
@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_same_answers_as_dense_with_the_defaults(cls, p):
    X, y = data_for(cls, p=p)
    dense, other = both_fits(cls, X, y, **defaults(cls))
    assert_same_network(dense, other, X)
    np.testing.assert_allclose(other.loo_path_, dense.loo_path_, rtol=1e-7)
    if cls in problems.CLASSIFIERS:
        rows = sparse.csr_array(X)
        np.testing.assert_allclose(other.predict_proba(rows), dense.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize(
    "params",
    [
        {"standardize": False},
        {"standardize": True},
        {"standardize": "robust"},
        {"standardize": "common"},
        {"extrapolate": True},
        {"fit_intercept": False},
        {"solver": "primal"},
        {"solver": "dual"},
        {"selection": "random"},
        {"selection": "random", "solver": "dual"},
        {"early_stopping": "validation"},
        {"early_stopping": "loo"},
        {"early_stopping": "cv"},
        {"weight_init": "leaf", "block_size": 3},
        {"weight_init": "normal"},
        {"intervals": "loo"},
    ],
    ids=str,
)
@pytest.mark.parametrize("p", [9, 150], ids=["tall", "wide"])
def test_same_answers_as_dense_whatever_the_settings(p, params):
    X, y = data_for(stagenets.RVFLRegressor, p=p)
    dense, other = both_fits(stagenets.RVFLRegressor, X, y, **params)
    assert_same_network(dense, other, X)
    if "intervals" in params:
        np.testing.assert_allclose(
            other.predict_interval(sparse.csr_array(X)), dense.predict_interval(X), rtol=1e-7
        )


@pytest.mark.parametrize("to_sparse", FORMATS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_format_is_accepted(to_sparse, index, dtype):
    X, y = data_for(stagenets.ELMRegressor)
    X = X.astype(dtype)
    rows = to_sparse(X)
    if rows.format != "coo":
        rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    dense = problems.small(stagenets.ELMRegressor).fit(X, y)
    found = problems.small(stagenets.ELMRegressor).fit(rows, y).predict(rows)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, dense.predict(X), rtol=1e-3 if dtype == np.float32 else 1e-9)


def test_entries_out_of_order_and_repeated_are_summed_in_a_copy():
    X, y = data_for(stagenets.RVFLRegressor)
    tidy = sparse.csr_array(X)
    columns, values = tidy.indices.copy(), tidy.data / 2
    for start, end in zip(tidy.indptr[:-1], tidy.indptr[1:], strict=True):
        columns[start:end], values[start:end] = columns[start:end][::-1], values[start:end][::-1]
    halves = sparse.csr_array((values, columns, tidy.indptr), shape=X.shape)
    messy = sparse.csr_array(
        (
            np.concatenate([values, values]),
            np.concatenate([columns, columns]),
            2 * tidy.indptr,
        ),
        shape=X.shape,
    )
    order = np.argsort(np.concatenate([_rows_of(halves), _rows_of(halves)]), kind="stable")
    messy.data, messy.indices = messy.data[order], messy.indices[order]
    given = messy.indices.copy()
    model = problems.small(stagenets.RVFLRegressor).fit(tidy, y)
    np.testing.assert_array_equal(model.predict(messy), model.predict(tidy))
    np.testing.assert_array_equal(messy.indices, given)


def _rows_of(X):
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


def test_dense_and_sparse_rows_may_follow_each_other():
    X, y = data_for(stagenets.RVFLClassifier, p=40)
    dense, other = both_fits(stagenets.RVFLClassifier, X, y)
    unseen = mostly_zeros(50, 40, seed=5)
    unseen[:5, 0] = 0  # below all values of training
    expected = dense.decision_function(unseen)
    for model in (dense, other):
        np.testing.assert_allclose(model.decision_function(unseen), expected, atol=1e-9)
        rows = sparse.csr_array(unseen)
        np.testing.assert_allclose(model.decision_function(rows), expected, atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_common_scale_is_that_of_the_values_other_than_zero(form):
    X, y = data_for(stagenets.RVFLRegressor, p=30)
    X = np.delete(X, 2, axis=1)  # where inputs are not scaled, a constant is a second intercept
    weights = np.random.default_rng(3).choice([0.0, 0.5, 2.0], size=len(X))
    counted = np.broadcast_to(weights[:, None], X.shape)[X != 0]
    scale = np.sqrt(np.average(X[X != 0] ** 2, weights=counted))
    params = {"n_hidden": 8, "alpha": 0.5, "random_state": 0}
    expected = stagenets.RVFLRegressor(standardize=False, **params).fit(X / scale, y, weights)
    model = stagenets.RVFLRegressor(standardize="common", **params).fit(form(X), y, weights)
    np.testing.assert_array_equal(model.selected_, expected.selected_)
    np.testing.assert_allclose(model.predict(form(X)), expected.predict(X / scale), rtol=1e-9)


def test_a_common_scale_of_zeros_alone_leaves_the_mean():
    model = stagenets.ELMRegressor(standardize="common", n_hidden=3, alpha=1.0)
    rows = sparse.csr_array((20, 4))
    np.testing.assert_allclose(model.fit(rows, np.arange(20.0)).predict(rows), 9.5)


@pytest.mark.parametrize("p", [9, 150], ids=["tall", "wide"])
@pytest.mark.parametrize("cls", [stagenets.RVFLClassifier, stagenets.ELMClassifier])
def test_few_labels_have_the_same_neighbours(cls, p):
    X, y = data_for(cls, p=p)
    X[:, 4] = 0
    y[np.random.default_rng(4).random(len(y)) < 0.5] = -1
    params = {"unlabeled": -1, "manifold": 0.1, "n_hidden": 6, "alpha": 1.0, "random_state": 0}
    dense = cls(**params).fit(X, y)
    other = cls(**params).fit(sparse.csr_array(X), y)
    assert_same_network(dense, other, X)


@pytest.mark.parametrize("p", [9, 150], ids=["tall", "wide"])
@pytest.mark.parametrize("cls", [stagenets.RVFLClassifier, stagenets.RVFLRegressor])
def test_weights_are_counted(cls, p):
    X, y = data_for(cls, p=p)
    weights = np.random.default_rng(3).choice([0.0, 0.5, 2.0], size=len(X))
    params = {**defaults(cls), "random_state": 0, "n_hidden": 8}
    dense = cls(**params).fit(X, y, weights)
    other = cls(**params).fit(sparse.csr_array(X), y, weights)
    assert_same_network(dense, other, X)


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
def test_searches_find_the_same(cls):
    X, y = data_for(cls, n=60, p=70 if cls in problems.AFFINE else 9)
    size = {"n_enhancement": [2, 4]} if cls in problems.BLS else {"n_hidden": [3, 6]}
    small = {"n_windows": [2], "n_feature_nodes": [2]} if cls in problems.BLS else {}
    search = SEARCHES[cls](alphas=[0.1, 10.0], cv=3, random_state=0, **size, **small)
    dense = search.fit(X, y)
    other = SEARCHES[cls](**search.get_params()).fit(sparse.csc_array(X), y)
    np.testing.assert_allclose(
        other.cv_results_["mean_test_score"], dense.cv_results_["mean_test_score"], rtol=1e-7
    )
    assert other.best_params_ == dense.best_params_
    np.testing.assert_allclose(
        other.predict(sparse.csc_array(X)), dense.predict(X), rtol=1e-8, atol=1e-8
    )


def test_the_wide_log_loss_is_that_of_scikit_learn():
    X, y = data_for(stagenets.RVFLClassifier, n=60, p=200)
    model = stagenets.RVFLClassifier(n_hidden=10, alpha=0.5, standardize=False, random_state=0)
    rows = sparse.csr_array(X[:, 3:] * (np.abs(X[:, 3:]) < 100))
    model.fit(rows, y)
    design = np.hstack([rows.toarray(), model.transform(rows), np.ones((len(y), 1))])
    reference = LogisticRegression(C=1 / 0.5, fit_intercept=False, tol=1e-10, max_iter=10_000)
    expected = reference.fit(design, y).predict_proba(design)
    np.testing.assert_allclose(model.predict_proba(rows), expected, atol=2e-4)


def test_the_wide_squared_loss_is_that_of_scikit_learn():
    X, y = data_for(stagenets.RVFLRegressor, n=60, p=200)
    rows = sparse.csr_array(X[:, 3:] * (np.abs(X[:, 3:]) < 100))
    model = stagenets.RVFLRegressor(n_hidden=10, alpha=0.5, standardize=False, random_state=0)
    model.fit(rows, y)
    design = np.hstack([rows.toarray(), model.transform(rows), np.ones((len(y), 1))])
    centered = (y - y.mean()) / y.std()
    reference = Ridge(alpha=0.5, fit_intercept=False, solver="svd").fit(design, centered)
    expected = reference.predict(design) * y.std() + y.mean()
    np.testing.assert_allclose(model.predict(rows), expected, rtol=1e-8)


def test_batches_and_warm_starts_take_sparse_rows():
    X, y = data_for(stagenets.RVFLRegressor, n=120)
    streams = [problems.small(stagenets.RVFLRegressor) for _ in range(2)]
    for first in (0, 60):
        batch = slice(first, first + 60)
        streams[0].partial_fit(X[batch], y[batch])
        streams[1].partial_fit(sparse.csr_array(X[batch]), y[batch])
    expected = streams[0].predict(X)
    np.testing.assert_allclose(streams[1].predict(sparse.csr_array(X)), expected, rtol=1e-8)

    rows = sparse.csr_array(X)
    grown = problems.small(stagenets.RVFLRegressor, warm_start=True, n_hidden=4).fit(rows, y)
    grown.set_params(n_hidden=9).fit(rows, y)
    anew = problems.small(stagenets.RVFLRegressor, n_hidden=9).fit(rows, y)
    np.testing.assert_array_equal(grown.predict(rows), anew.predict(rows))


def test_units_are_added_and_chosen_from_batches_of_sparse_rows():
    X, y = data_for(stagenets.RVFLRegressor, n=120)
    batches = [(X[first : first + 40], y[first : first + 40]) for first in (0, 40, 80)]
    sparse_batches = [(sparse.csr_array(rows), targets) for rows, targets in batches]
    fits = [
        problems.small(stagenets.RVFLRegressor).fit_batches(some)
        for some in (batches, sparse_batches, [sparse_batches[0], *batches[1:]])
    ]
    streams = [problems.small(stagenets.RVFLRegressor) for _ in range(2)]
    for stream, some in zip(streams, (batches, sparse_batches), strict=True):
        for rows, targets in some:
            stream.partial_fit(rows, targets, grow=2)
    for group in (fits, streams):
        expected = group[0].predict(X)
        for model in group[1:]:
            np.testing.assert_allclose(model.predict(sparse.csr_array(X)), expected, rtol=1e-8)


def test_same_bits_for_any_thread_count():
    X, y = data_for(stagenets.RVFLClassifier, n=300, p=700)
    rows = sparse.csr_array(X)
    fits = [
        stagenets.RVFLClassifier(n_hidden=5, random_state=0, n_jobs=jobs).fit(rows, y)
        for jobs in (1, 3)
    ]
    np.testing.assert_array_equal(*(fit.decision_function(rows) for fit in fits))


def test_a_large_triangle_is_solved_by_several_threads_to_the_same_bits():
    X = sparse.random_array((2100, 2300), density=0.01, format="csr", rng=np.random.default_rng(0))
    y = X @ np.random.default_rng(1).normal(size=2300)
    params = {"n_hidden": 2, "alpha": 1.0, "random_state": 0}
    alone, helped = (
        stagenets.RVFLRegressor(n_jobs=jobs, **params).fit(X, y).predict(X) for jobs in (1, 3)
    )
    np.testing.assert_array_equal(alone, helped)
    dense = stagenets.RVFLRegressor(**params).fit(X.toarray(), y)
    np.testing.assert_allclose(alone, dense.predict(X), rtol=1e-9, atol=1e-9 * np.abs(y).max())


def test_entries_that_are_not_numbers_are_refused():
    rows = sparse.csr_array(mostly_zeros(20, 6))
    rows.data[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        stagenets.ELMRegressor().fit(rows, np.arange(20))


def test_matrices_beyond_32_bits_are_refused():
    starts = np.array([0, 1, 2], dtype=np.int64)
    columns = np.array([5, 2**31 + 3], dtype=np.int64)
    rows = sparse.csr_array((np.ones(2), columns, starts), shape=(2, 2**31 + 4))
    with pytest.raises(ValueError, match=r"fewer than 2\^31 rows and columns"):
        stagenets.ELMRegressor().fit(rows, np.arange(2.0))


def test_a_triangle_beyond_the_memory_is_refused():
    rows = sparse.random_array(
        (2_000_000, 2_000_001), density=2.5e-7, format="csr", rng=np.random.default_rng(0)
    )
    model = stagenets.RVFLRegressor(n_hidden=1, pool_size=2, weight_init="sparse", alpha=1.0)
    with pytest.raises(MemoryError, match="a fit of this size needs at least"):
        model.fit(rows, np.arange(rows.shape[0]))


def test_dask_says_that_it_needs_dense_rows():
    da = pytest.importorskip("dask.array")
    from stagenets import dask

    X, y = data_for(stagenets.ELMRegressor)
    blocks = da.from_array(X, chunks=(40, 9)).map_blocks(sparse.csr_matrix)
    model = dask.ELMRegressor(n_hidden=3, alpha=1.0)
    with pytest.raises(TypeError, match="dense data is required"):
        model.fit(blocks, da.from_array(y, chunks=40))
    with pytest.raises(TypeError, match="X must be a Dask array or data frame; got csr_array"):
        model.fit(sparse.csr_array(X), y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_has_the_same_key_in_either_form(dtype):
    X = mostly_zeros(40, 6).astype(dtype)
    rows = sparse.csr_array(X)
    zeros = X[:, 3] > 0
    X[zeros, 3] = -0.0
    rows.data[np.isin(_rows_of(rows), np.flatnonzero(zeros)) & (rows.indices == 3)] = 0.0
    y = np.arange(40.0)[:, None]
    for expected, found in zip(
        folds_by_value(X, y, None, 7), folds_by_value(rows, y, None, 7), strict=True
    ):
        np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("p", [9, 150], ids=["tall", "wide"])
@pytest.mark.parametrize("loss", ["log", "squared"])
def test_several_labels_and_the_penalty_chosen_are_the_same(loss, p):
    X, y = data_for(stagenets.RVFLClassifier, p=p)
    Y = np.column_stack([y > 0, y > 1, X[:, 3] > 0]).astype(int)
    models = [
        stagenets.RVFLClassifier(n_hidden=8, loss=loss, random_state=0).fit(rows, Y)
        for rows in (X, sparse.csr_array(X))
    ]
    assert models[0].alpha_ == models[1].alpha_
    assert_same_network(*models, X)


def test_sparse_columns_cannot_be_categorical():
    X, y = data_for(stagenets.ELMRegressor)
    rows = sparse.csr_array(X)
    with pytest.raises(ValueError, match="dense to have categorical columns"):
        problems.small(stagenets.ELMRegressor, categorical_features=[2]).fit(rows, y)
    dense = problems.small(stagenets.ELMRegressor, categorical_features=[2]).fit(X, y)
    with pytest.raises(ValueError, match="dense to have categorical columns"):
        dense.predict(rows)


def test_missing_values_in_training_leave_sparse_predictions_as_they_are():
    X, y = data_for(stagenets.RVFLRegressor)
    with_gaps = X.copy()
    with_gaps[::7, 3] = np.nan
    model = problems.small(stagenets.RVFLRegressor).fit(with_gaps, y)
    np.testing.assert_allclose(model.predict(sparse.csr_array(X)), model.predict(X), rtol=1e-9)


PEAK = """
import resource
import numpy as np
from scipy import sparse
import stagenets
X = sparse.random_array((1500, 60_000), density=1e-3, format="csr", rng=np.random.default_rng(0))
y = np.asarray(X[:, :30_000].sum(axis=1) > X[:, 30_000:].sum(axis=1)).astype(int)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = stagenets.RVFLClassifier(n_hidden=3, pool_size=20, loss="{loss}", random_state=0).fit(X, y)
model.predict(X)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has other units elsewhere")
@pytest.mark.parametrize("loss", ["log", "squared"])
def test_rows_are_never_filled_in(loss):
    printed = subprocess.run(
        [sys.executable, "-c", PEAK.format(loss=loss)], check=True, capture_output=True, text=True
    ).stdout
    filled_in = 1500 * 60_000 * 8
    assert float(printed) * 1024 < filled_in / 3
