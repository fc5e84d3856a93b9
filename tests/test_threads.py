"""Threads: any number gives the same bits, others may run meanwhile, limits are put back."""

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

import problems
import stagenets
from stagenets.fitting import _threads

ROWS = 5000  # several blocks of rows, and enough work for the parallel path


def fitted(cls, n_jobs, dtype=float, rows=ROWS, **params):
    X, y = problems.data_for(cls, rows, p=7)
    X = X.astype(dtype)
    return problems.small(cls, n_jobs=n_jobs, **params).fit(X, y), X


def bits(model, X):
    """Everything that a fit and its predictions hold, for comparison without any tolerance."""
    arrays = {
        name: getattr(model, name)
        for name in (
            "readout_",
            "readout_intercept_",
            "selected_",
            "objective_path_",
            "residual_path_",
        )
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


# What threads share besides rows: tiles of kernels and factors, runs of columns and rows.
MATRIX_WORK = {
    "primal": (400, 500, {"solver": "primal"}),
    "dual": (400, 500, {"solver": "dual"}),
    "dual-by-qr": (500, 200, {"solver": "dual", "alpha": 1e-8}),
    "dual-after-primal": (300, 280, {"n_hidden": 60}),
    "start-orthogonalized-twice": (300, 500, {"solver": "primal", "alpha": 1e-4}),
    "start-with-columns-dropped": (300, 500, {"alpha": 0.0}),
    "wide-blocks": (900, 20, {"n_hidden": 400, "block_size": 200, "pool_size": 300}),
    "one-shot": (900, 20, {"n_hidden": 400, "selection": "random"}),
    "log-loss": (900, 20, {"n_hidden": 100, "loss": "log"}),
    "log-loss-in-the-span-of-the-rows": (400, 500, {"loss": "log"}),
}


@pytest.mark.parametrize("work", MATRIX_WORK)
def test_same_bits_for_any_thread_count_in_work_on_matrices(work):
    n, p, params = MATRIX_WORK[work]

    def run(n_jobs):
        X, y = problems.data_for(stagenets.RVFLClassifier, n, p=p)
        model = stagenets.RVFLClassifier(
            **problems.plain(stagenets.RVFLClassifier)
            | {"n_hidden": 40, "block_size": 4, "random_state": 0, "n_jobs": n_jobs}
            | params
        )
        return bits(model.fit(X, y), X)

    expected = run(1)
    for n_jobs in (2, 3, 8):
        assert run(n_jobs) == expected, n_jobs


@pytest.mark.parametrize("pool_size", [40, 300])
def test_same_bits_for_any_thread_count_in_a_large_broad_network(pool_size):
    def run(n_jobs):
        X, y = problems.data_for(stagenets.BLSClassifier, 600, p=90)
        model = stagenets.BLSClassifier(
            n_windows=5,
            n_feature_nodes=30,
            n_enhancement=20,
            pool_size=pool_size,
            block_size=10,
            random_state=0,
            n_jobs=n_jobs,
        )
        return bits(model.fit(X, y), X)

    expected = run(1)
    for n_jobs in (2, 3):
        assert run(n_jobs) == expected, n_jobs


def test_same_bits_when_the_process_limits_threads():
    expected = bits(*fitted(stagenets.RVFLClassifier, None))
    for limit in (1, 2, 4):
        with threadpool_limits(limits=limit):
            assert bits(*fitted(stagenets.RVFLClassifier, None)) == expected, limit


@pytest.fixture
def gil_only_by_leave():
    """Nobody is asked to hand over the GIL: others run when its holder gives it up."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    yield
    sys.setswitchinterval(before)


def test_other_python_threads_run_during_a_fit(gil_only_by_leave):
    """Between two stages the core computes: a fit that held the GIL would let nobody count then."""
    X, y = problems.data_for(stagenets.RVFLClassifier, 20_000, p=20)
    count, seen = 0, []
    model = stagenets.RVFLClassifier(
        n_hidden=60,
        block_size=1,
        pool_size=300,
        random_state=0,
        n_jobs=1,
        callback=lambda _: seen.append(count),
    )
    worker = threading.Thread(target=model.fit, args=(X, y))
    worker.start()
    while worker.is_alive():
        count += 1
        time.sleep(0.0005)  # gives it up
    assert len(seen) == 60
    assert np.count_nonzero(np.diff(seen)) >= 5


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
        model, X = fitted(stagenets.RVFLClassifier, 2)
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
                fitted(stagenets.ELMRegressor, 2, rows=rows)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(run, [500, 1500, 4000, 9000]))
        assert blas_threads() == before


def test_blas_thread_count_is_put_back_after_an_error():
    def fail(_stage, _size):
        raise RuntimeError("no candidates today")

    with threadpool_limits(limits=3, user_api="blas"):
        before = blas_threads()
        with pytest.raises(RuntimeError, match="no candidates"):
            stagenets.fit_stagewise(fail, np.zeros((ROWS, 2)), n_hidden=3, pool_size=5)
        assert blas_threads() == before


class SeenFromInside:
    """Uniform draws that note how many threads SciPy's BLAS has while a fit is running."""

    def __init__(self):
        self.counts = []

    def __call__(self, rng, pool_size, n_features):
        self.counts += [library.get_threads() for library in _threads._blas]
        return rng.uniform(-1, 1, (n_features, pool_size)), rng.uniform(0, 1, pool_size)


def fit_and_look(_job):
    seen = SeenFromInside()
    model, X = fitted(stagenets.RVFLClassifier, 2, weight_init=seen)
    return bits(model, X), seen.counts


@pytest.mark.skipif(not _threads._blas, reason="no BLAS whose threads can be counted")
@pytest.mark.parametrize("limited_by_main", [False, True])
def test_blas_has_one_thread_in_fits_of_every_python_thread(limited_by_main):
    """Also where threadpoolctl would listen to the main thread alone, which has set something."""
    expected, _ = fit_and_look(0)
    with threadpool_limits(limits=3 if limited_by_main else None, user_api="blas"):
        before = blas_threads()
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(fit_and_look, range(12)))
        assert blas_threads() == before
    for result, counts in results:
        assert set(counts) == {1}
        assert result == expected


def test_blas_thread_count_that_is_set_during_a_fit_stays():
    """Whoever sets it while we hold it means it for later."""
    library = _threads._Blas(lambda: setting[0], lambda n: setting.__setitem__(0, n))
    setting = [6]
    limit = _threads._BlasLimit([library])
    limit.enter()
    assert setting == [1]
    setting[0] = 4
    limit.leave()
    assert setting == [4]
    limit.enter()
    limit.enter()
    limit.leave()
    assert setting == [1]
    limit.leave()
    assert setting == [4]


def test_blas_that_openmp_drives_is_limited_in_each_thread(monkeypatch):
    setting = threading.local()
    library = _threads._Blas(
        lambda: getattr(setting, "n", 5), lambda n: setattr(setting, "n", n), per_thread=True
    )
    monkeypatch.setattr(_threads, "_blas_of_threads", [library])

    def inside_and_after(_):
        with _threads.single_threaded_blas():
            inside = library.get_threads()
        return inside, library.get_threads()

    with ThreadPoolExecutor(3) as pool:
        assert set(pool.map(inside_and_after, range(9))) == {(1, 5)}


@pytest.mark.parametrize("many", [10_000, 10**9])
def test_more_threads_than_the_system_has_are_as_good_as_fewer(many):
    assert bits(*fitted(stagenets.ELMRegressor, many)) == bits(*fitted(stagenets.ELMRegressor, 1))


@pytest.fixture
def eight_cores(monkeypatch):
    monkeypatch.setattr(_threads, "_cpu_count", lambda: 8)
    monkeypatch.setattr(_threads, "_openmp_libraries", list)


@pytest.mark.parametrize(
    ("value", "threads"), [("3", 3), ("2,4", 2), (" 5 ", 5), ("50", 8), ("", 8), ("x", 8), ("0", 8)]
)
def test_default_number_of_threads_heeds_omp_num_threads(eight_cores, monkeypatch, value, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert _threads.effective_threads(None) == threads
    assert _threads.effective_threads(6) == 6


def test_default_number_of_threads_heeds_limits_of_openmp():
    with threadpool_limits(limits=1, user_api="openmp"):
        assert _threads.effective_threads(None) == 1


def test_default_number_of_threads_heeds_joblib():
    found = Parallel(n_jobs=2, backend="loky")(
        delayed(_threads.effective_threads)(None) for _ in range(2)
    )
    assert max(found) <= max(1, _threads._cpu_count() // 2)


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_no_threads_are_left_after_a_call():
    def count():
        return len(os.listdir("/proc/self/task"))

    fitted(stagenets.RVFLClassifier, 3)
    before = count()
    model, X = fitted(stagenets.RVFLClassifier, 3)
    model.predict(X)
    patience = 1000  # the system lists a thread for a moment after it has been joined
    while count() > before and patience > 0:
        patience -= 1
        time.sleep(0.02)
    assert count() <= before
