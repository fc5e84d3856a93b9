"""Fits on a cluster of processes: plain tasks, and workers that die."""

import os
import signal

import numpy as np
import pytest

import problems
import stagenets

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
import stagenets.dask  # noqa: E402
from stagenets.dask import _tasks  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # those of a cluster that loses its workers


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


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
def test_killed_worker_leaves_the_model_as_it_would_have_been(client, stage):
    _, _, parts, labels = data()
    params = problems.small(stagenets.RVFLClassifier).get_params()
    whole = stagenets.dask.RVFLClassifier(**{**params, "client": client}).fit(parts, labels)
    killed = []

    def kill(info):
        if info.stage == stage:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[-1], signal.SIGKILL)

    params = {**params, "client": client, "callback": kill}
    model = stagenets.dask.RVFLClassifier(**params).fit(parts, labels)
    assert len(killed) == 1
    np.testing.assert_array_equal(model.selected_, whole.selected_)
    np.testing.assert_array_equal(model.readout_, whole.readout_)


def test_fit_without_workers_ends_with_an_error(monkeypatch):
    _, _, parts, labels = data()
    monkeypatch.setattr(_tasks, "_SECONDS_WITHOUT_WORKERS", 1.0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(RuntimeError, match="1 s for a worker and there is none"),
    ):
        stagenets.dask.RVFLClassifier(client=client).fit(parts, labels)


def test_error_in_a_task_is_raised_here(client):
    _, _, parts, labels = data()
    with pytest.raises(ValueError, match="X contains NaN"):
        stagenets.dask.RVFLClassifier().fit(da.where(parts > 0, parts, np.nan), labels)
