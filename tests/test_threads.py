"""Threads: any number gives the same bits, others may run meanwhile, limits are put back."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import problems
import residuum

ROWS = 5000  # several blocks of rows, and enough work for the parallel path


def fitted(cls, n_jobs, dtype=float, rows=ROWS, **params):
    X, y = problems.data_for(cls, rows, p=7)
    X = X.astype(dtype)
    return problems.small(cls, n_jobs=n_jobs, **params).fit(X, y), X


def bits(model, X):
    """Everything that a fit and its predictions hold, for comparison without any tolerance."""
    arrays = {
        name: getattr(model, name)
        for name in ("coef_", "intercept_", "selected_", "objective_path_", "residual_path_")
    }
    arrays["transform"] = model.transform(X)
    arrays["predict"] = model.predict(X)
    if hasattr(model, "predict_proba"):
        arrays["decision_function"] = model.decision_function(X)
        arrays["predict_proba"] = model.predict_proba(X)
        arrays["temperature_"] = model.temperature_
    return {name: np.asarray(value).tobytes() for name, value in arrays.items()}


@pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("selection", ["residual", "random"])
def test_same_bits_for_any_thread_count(cls, dtype, selection):
    expected = bits(*fitted(cls, 1, dtype, selection=selection))
    for n_jobs in (2, 3, 8, None):
        assert bits(*fitted(cls, n_jobs, dtype, selection=selection)) == expected, n_jobs


@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_same_bits_for_any_thread_count_with_more_columns_than_rows(solver):
    def run(n_jobs):
        X, y = problems.data_for(residuum.RVFLClassifier, 400, p=500)
        model = residuum.RVFLClassifier(
            n_hidden=40, solver=solver, block_size=4, random_state=0, n_jobs=n_jobs
        )
        return bits(model.fit(X, y), X)

    expected = run(1)
    for n_jobs in (2, 3, 8):
        assert run(n_jobs) == expected, n_jobs


def test_same_bits_when_the_process_limits_threads():
    expected = bits(*fitted(residuum.RVFLClassifier, None))
    for limit in (1, 2, 4):
        with threadpool_limits(limits=limit):
            assert bits(*fitted(residuum.RVFLClassifier, None)) == expected, limit


def test_other_python_threads_run_during_a_fit():
    X, y = problems.data_for(residuum.RVFLClassifier, 20_000, p=20)
    model = residuum.RVFLClassifier(n_hidden=60, pool_size=300, random_state=0, n_jobs=1)
    worker = threading.Thread(target=model.fit, args=(X, y))
    worker.start()
    turns = 0
    while worker.is_alive():
        worker.join(timeout=0.001)
        turns += 1
    assert turns > 100  # a fit that kept the interpreter to itself would leave us a handful


def test_concurrent_fits_give_the_result_of_one_alone():
    jobs = [(cls, rows) for cls in problems.ALL for rows in (1500, ROWS)] * 2
    alone = {job: bits(*fitted(job[0], 1, rows=job[1])) for job in set(jobs)}
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda job: bits(*fitted(job[0], 2, rows=job[1])), jobs))
    for job, result in zip(jobs, together, strict=True):
        assert result == alone[job], job


def blas_threads():
    return {
        lib["filepath"]: lib["num_threads"]
        for lib in threadpool_info()
        if lib["user_api"] == "blas"
    }


@pytest.mark.parametrize("limit", [1, 3])
def test_blas_thread_count_is_put_back_after_a_fit(limit):
    with threadpool_limits(limits=limit, user_api="blas"):
        before = blas_threads()
        model, X = fitted(residuum.RVFLClassifier, 2)
        model.predict_proba(X)
        assert blas_threads() == before


def test_blas_thread_count_is_put_back_after_overlapping_fits():
    """Fits of unlike length that overlap in every order; the first to start is not the last."""
    with threadpool_limits(limits=3, user_api="blas"):
        before = blas_threads()
        start = threading.Barrier(4)

        def run(rows):
            start.wait()
            for _ in range(5):
                fitted(residuum.ELMRegressor, 2, rows=rows)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(run, [500, 1500, 4000, 9000]))
        assert blas_threads() == before


def test_blas_thread_count_is_put_back_after_an_error():
    def fail(_stage, _size):
        raise RuntimeError("no candidates today")

    with threadpool_limits(limits=3, user_api="blas"):
        before = blas_threads()
        with pytest.raises(RuntimeError, match="no candidates"):
            residuum.fit_stagewise(fail, np.zeros((ROWS, 2)), n_hidden=3, pool_size=5)
        assert blas_threads() == before
