"""Fits on a cluster of processes: plain tasks, and workers that die."""

import os
import signal
import time

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import problems
import stagenets

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
import dask  # noqa: E402

import stagenets.dask  # noqa: E402
from stagenets.dask import _tasks  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # those of a cluster that loses its workers


def two_workers():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


client = pytest.fixture(two_workers, scope="module")
# Killed workers may not be back for the next test, and joblib does not spread work over one.
own_client = pytest.fixture(two_workers)


def data():
    X, y = problems.data_for(stagenets.RVFLClassifier, n=600)
    return X, y, da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)


def test_cluster_makes_the_local_network(client):
    X, y, parts, labels = data()
    local = problems.small(stagenets.RVFLClassifier).fit(X, y)
    model = stagenets.dask.RVFLClassifier(**local.get_params()).fit(parts, labels)
    np.testing.assert_array_equal(model.selected_, local.selected_)
    np.testing.assert_array_equal(model.predict(parts).compute(), local.predict(X))
    assert model.score(parts, labels) == local.score(X, y)


def test_tasks_have_names_that_tell(client):
    _, _, parts, labels = data()
    seen = set()

    def look(info):
        held = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
        seen.update(held)

    stagenets.dask.ELMClassifier(n_hidden=3, callback=look, random_state=0).fit(parts, labels)
    assert {"ELMClassifier-load", "ELMClassifier-start", "ELMClassifier-answer"} <= seen


@pytest.mark.parametrize("stage", [0, 5])
def test_killed_worker_leaves_the_model_as_it_would_have_been(own_client, stage):
    _, _, parts, labels = data()
    params = problems.small(stagenets.RVFLClassifier).get_params()
    whole = stagenets.dask.RVFLClassifier(**{**params, "client": own_client}).fit(parts, labels)
    killed = []

    def kill(info):
        if info.stage == stage:
            killed.append(next(iter(own_client.run(os.getpid).values())))
            os.kill(killed[-1], signal.SIGKILL)

    params = {**params, "client": own_client, "callback": kill}
    model = stagenets.dask.RVFLClassifier(**params).fit(parts, labels)
    assert len(killed) == 1
    np.testing.assert_array_equal(model.selected_, whole.selected_)
    np.testing.assert_array_equal(model.readout_, whole.readout_)


@pytest.mark.parametrize("workers", [0, 1])
def test_fit_ends_with_an_error_if_no_worker_takes_tasks(monkeypatch, workers):
    _, _, parts, labels = data()
    monkeypatch.setattr(_tasks, "_SECONDS_WITHOUT_WORKERS", 1.0)
    monkeypatch.setattr(_tasks, "_SECONDS_BETWEEN_LOOKS", 0.5)
    with (
        dask.config.set({"distributed.worker.memory.pause": 1e-6}),
        distributed.LocalCluster(
            n_workers=workers, processes=False, memory_limit="1GB", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        while any(w["status"] == "running" for w in client.scheduler_info()["workers"].values()):
            time.sleep(0.05)
        with pytest.raises(RuntimeError, match="1 s for a worker that takes tasks and there is"):
            stagenets.dask.RVFLClassifier(client=client).fit(parts, labels)


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "average_precision"])
def test_search_spreads_its_folds_over_the_cluster(client, scoring):
    X, y = problems.data_for(stagenets.RVFLClassifier, n=120)
    y = (y > 0).astype(int)
    X[::7, 1] = np.nan
    search = stagenets.RVFLClassifierCV(
        alphas=[0.1, 1.0], max_hidden=8, cv=3, scoring=scoring, random_state=0
    )
    here = clone(search).fit(X, y, sample_weight=1 + y)
    with joblib.parallel_config("dask"):
        there = search.fit(X, y, sample_weight=1 + y)
    # The scheduler forgets tasks that are done, but for this record of them.
    log = client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.transition_log])
    assert any("_on_split" in str(key) for key, *_ in log)
    for name in ("split0_test_score", "split2_test_score", "mean_test_score"):
        np.testing.assert_array_equal(there.cv_results_[name], here.cv_results_[name])
    assert there.best_params_ == here.best_params_
    np.testing.assert_array_equal(there.predict_proba(X), here.predict_proba(X))


def test_penalty_is_chosen_on_one_worker(client):
    X, y, parts, labels = data()
    local = stagenets.RVFLClassifier(n_hidden=6, random_state=0).fit(X, y)
    model = stagenets.dask.RVFLClassifier(n_hidden=6, random_state=0).fit(parts, labels)
    assert model.alpha_ == local.alpha_
    np.testing.assert_array_equal(model.selected_, local.selected_)


def test_error_in_a_task_is_raised_here(client):
    _, _, parts, labels = data()
    with pytest.raises(ValueError, match="X contains NaN"):
        stagenets.dask.RVFLClassifier().fit(da.where(parts > 0, parts, np.nan), labels)
