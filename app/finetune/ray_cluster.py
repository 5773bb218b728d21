"""The same chunks on a Ray cluster. In: jobs. Out: their records, in the order in which they are done. Main thread; the
work runs on the cluster's nodes, which must see the recordings, the tokenizer and the output under the same paths."""

import socket
from collections.abc import Callable, Iterator
from typing import Any

from app.errors import InternalError, InvalidRequest
from app.finetune.chunk import Job, prepare_chunk
from app.finetune.worker import ONE_THREAD

# How often Ray does a chunk again when its node or process was lost.
_RETRIES = 5
_CONNECT_SECONDS = 5.0


class RayCluster:
    """`address`: as `ray.init` takes it: `auto`, `host:port` or `ray://host:port`."""

    def __init__(self, address: str, *, tick: Callable[[int], None]) -> None:
        self._address = address
        self._tick = tick

    def run(self, jobs: Iterator[Job]) -> Iterator[dict[str, Any]]:
        """Two chunks a CPU are under way at most. Raises InvalidRequest when there is no such cluster, InternalError
        when a chunk cannot be done there."""
        try:
            import ray
        except ImportError:
            raise InvalidRequest("--ray needs the extra: pip install ray", param="ray") from None
        try:
            _require_listening(self._address)
            ray.init(address=self._address, log_to_driver=False, runtime_env={"env_vars": ONE_THREAD})
        except (OSError, RuntimeError, ValueError) as error:
            raise InvalidRequest(f"No Ray cluster answers there: {error}", param="ray") from None
        try:
            remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(_prepare)
            limit = max(2, 2 * int(ray.cluster_resources().get("CPU", 1)))
            pending: dict[Any, int] = {}
            for job in jobs:
                pending[remote.remote(job.to_json())] = len(job.entries)
                if len(pending) >= limit:
                    yield self._next(ray, pending)
            while pending:
                yield self._next(ray, pending)
        finally:
            ray.shutdown()

    def _next(self, ray: Any, pending: dict[Any, int]) -> dict[str, Any]:
        done, _ = ray.wait(list(pending), num_returns=1)
        try:
            record: dict[str, Any] = ray.get(done[0])
        except ray.exceptions.RayError as error:
            raise InternalError(f"A chunk could not be done on the cluster: {error}") from None
        self._tick(pending.pop(done[0]))
        return record


def _require_listening(address: str) -> None:
    """Ray itself would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS).close()


def _prepare(job: str) -> dict[str, Any]:
    return prepare_chunk(Job.from_json(job), lambda _position: None)
