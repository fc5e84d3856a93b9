"""Where tasks run: on the workers of a cluster, or on threads of this process.

Both offer the same three things: begin with Dask's own blocks, call a function on each of some
things that stay where they are, and fetch small results.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import dask
import dask.threaded
from dask.delayed import Delayed, delayed

_SECONDS_WITHOUT_WORKERS = 45.0
_SECONDS_BETWEEN_LOOKS = 5.0


class Tasks(Protocol):
    """Runs functions where the data are."""

    def begin(self, label: str, function: Callable[..., Any], calls: Sequence[Any]) -> list[Any]:
        """Call the function with each of some tuples of arguments, Dask's blocks among them."""

    def each(
        self, label: str, function: Callable[..., Any], *arguments: Sequence[Any]
    ) -> list[Any]:
        """Call the function on each of some things, as `map` does; the results stay there."""

    def fetch(self, things: Sequence[Any]) -> list[Any]:
        """Bring things here; raises what the tasks that should have made them raised."""


def tasks_of(client: Any, name: str) -> Tasks:
    """The tasks of this client, of the current one, or of this process if there is none."""
    if client is None:
        client = _current_client()
    return LocalTasks() if client is None else ClusterTasks(client, name)


def _current_client() -> Any:
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:  # there is none
        return None


class LocalTasks:
    """Threads of this process; no part of `distributed` is needed."""

    def begin(self, label: str, function: Callable[..., Any], calls: Sequence[Any]) -> list[Any]:
        call = delayed(function, pure=False)
        return list(dask.compute(*(call(*arguments) for arguments in calls)))

    def each(
        self, label: str, function: Callable[..., Any], *arguments: Sequence[Any]
    ) -> list[Any]:
        graph: dict[Any, Any] = {
            (label, i): (_call, function, _Plain(some))
            for i, some in enumerate(zip(*arguments, strict=True))
        }
        return list(self._scheduler()(graph, list(graph)))

    def fetch(self, things: Sequence[Any]) -> list[Any]:
        return list(things)

    @staticmethod
    def _scheduler() -> Callable[..., Any]:
        # Fits in progress cannot be sent to other processes, so threads take their part.
        name = dask.config.get("scheduler", None)
        in_turn = name in ("sync", "synchronous", "single-threaded")
        get: Callable[..., Any] = dask.get if in_turn else dask.threaded.get
        return get


class _Plain:
    """Arguments that Dask does not look into."""

    def __init__(self, arguments: Iterable[Any]) -> None:
        self.arguments = tuple(arguments)


def _call(function: Callable[..., Any], plain: _Plain) -> Any:
    return function(*plain.arguments)


class ClusterTasks:
    """The workers of a `distributed.Client`, which keeps, moves, spills and remakes what they hold.

    Tasks are plain: they wait for nothing but what they are given, and are pinned to no worker. In
    the dashboard they are named after the estimator and what they do.
    """

    def __init__(self, client: Any, name: str) -> None:
        if client.asynchronous:
            raise ValueError("client must not be asynchronous; got one with asynchronous=True")
        self._client = client
        self._name, self._fit = name, uuid.uuid4().hex[:8]
        self._calls = 0

    def begin(self, label: str, function: Callable[..., Any], calls: Sequence[Any]) -> list[Any]:
        call = delayed(function, pure=False)
        keys = self._keys(label, len(calls))
        wanted: list[Delayed] = [
            call(*arguments, dask_key_name=key) for arguments, key in zip(calls, keys, strict=True)
        ]
        return list(self._client.compute(wanted))

    def each(
        self, label: str, function: Callable[..., Any], *arguments: Sequence[Any]
    ) -> list[Any]:
        keys = self._keys(label, len(arguments[0]))
        return list(self._client.map(function, *arguments, key=keys, pure=False))

    def fetch(self, things: Sequence[Any]) -> list[Any]:
        # A gather of its own never ends if no worker is left to make what is wanted.
        loop = self._client.loop.asyncio_loop
        gathering = asyncio.run_coroutine_threadsafe(self._gather(list(things)), loop)
        alone_since: float | None = None
        try:
            while True:
                try:
                    return gathering.result(timeout=_SECONDS_BETWEEN_LOOKS)
                except (TimeoutError, concurrent.futures.TimeoutError):
                    if gathering.done():  # the task itself raised it
                        raise
                if self._somebody_works():
                    alone_since = None
                else:
                    now = time.monotonic()
                    alone_since = now if alone_since is None else alone_since
                    if now - alone_since > _SECONDS_WITHOUT_WORKERS:
                        raise RuntimeError(
                            f"the fit has waited {_SECONDS_WITHOUT_WORKERS:.0f} s for a worker "
                            f"that takes tasks and there is none; start workers, or give those "
                            f"that are paused more memory, and fit again"
                        )
        finally:
            gathering.cancel()

    def _somebody_works(self) -> bool:
        """Whether a worker takes tasks, or has one; those short of memory are paused."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        return any(
            worker["status"] == "running"
            or worker.get("metrics", {}).get("task_counts", {}).get("executing")
            for worker in workers
        )

    async def _gather(self, things: list[Any]) -> list[Any]:
        return list(await self._client.gather(things, asynchronous=True))

    def _keys(self, label: str, count: int) -> list[str]:
        self._calls += 1
        return [f"{self._name}-{label}-{self._fit}-{self._calls}-{i}" for i in range(count)]
