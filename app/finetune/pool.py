"""Worker processes on this machine. In: jobs. Out: their records, in the order in which they are done. Each worker has
a thread of the parent's that waits for it; the parent never sees samples or features.

A worker that dies is replaced and its chunk done again. An entry at which workers crash three times is left out and
counted; a worker killed from outside blames no entry.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

from app.errors import InternalError
from app.finetune.chunk import Job
from app.finetune.worker import ONE_THREAD

_CRASHES = 3
# Deaths without one entry read in between: the machine lacks memory or a library, and trying on would never end.
_FRUITLESS = 20
_LAST_WORDS_SECONDS = 5.0
_FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP)

Record = dict[str, Any]


class WorkerPool:
    """`workers` processes of one thread; `held`: descriptors that they keep open as long as they live; `tick` is
    called, from any thread, when an entry is begun, and with -n when n entries will be done again."""

    def __init__(self, workers: int, *, held: Sequence[int], tick: Callable[[int], None]) -> None:
        self._workers = workers
        self._held = tuple(held)
        self._tick = tick
        self._idle: list[_Worker] = []
        self._alive: set[_Worker] = set()
        self._lock = threading.Lock()
        self._fruitless = 0
        self._stopping = False

    def run(self, jobs: Iterator[Job]) -> Iterator[Record]:
        """At most two jobs a worker are read ahead. Raises InternalError when a worker says that it cannot write, or
        when workers die without getting anywhere; all processes are gone when this ends, however it ends."""
        with ThreadPoolExecutor(self._workers) as threads:
            try:
                pending = set()
                for job in jobs:
                    pending.add(threads.submit(self._finish, job))
                    if len(pending) >= 2 * self._workers:
                        done, pending = wait(pending, return_when=FIRST_COMPLETED)
                        yield from (future.result() for future in done)
                while pending:
                    done, pending = wait(pending, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            finally:
                self._stop()
                threads.shutdown(cancel_futures=True)
                for worker in self._alive:
                    worker.end()

    def _finish(self, job: Job) -> Record:
        crashes: Counter[int] = Counter()
        while True:
            worker = self._take()
            at = -1
            for message in worker.ask(job):
                if "record" in message:
                    self._give_back(worker)
                    record: Record = message["record"]
                    return record
                if "failed" in message:
                    raise InternalError(str(message["failed"]))
                at = message.get("at", -1)
                if at >= 0:
                    self._fruitless = 0
                    self._count(1)
            if at >= 0:
                self._count(-at - 1)
            code = self._died(worker)
            if at >= 0 and code not in _FROM_OUTSIDE:
                crashes[at] += 1
                if crashes[at] == _CRASHES:
                    job = replace(job, crashed=(*job.crashed, at))

    def _take(self) -> "_Worker":
        with self._lock:
            if self._stopping:
                raise InternalError("The run was stopped.")
            worker = self._idle.pop() if self._idle else _Worker(self._held)
            self._alive.add(worker)
            return worker

    def _give_back(self, worker: "_Worker") -> None:
        with self._lock:
            self._idle.append(worker)

    def _died(self, worker: "_Worker") -> int:
        code = worker.end()
        with self._lock:
            self._alive.discard(worker)
            self._fruitless += 1
            if self._stopping or self._fruitless >= _FRUITLESS:
                raise InternalError(f"Workers end before they read anything (exit code {code}); see their last words.")
        return code

    def _count(self, entries: int) -> None:
        with self._lock:
            self._tick(entries)

    def _stop(self) -> None:
        with self._lock:
            self._stopping = True
            for worker in self._alive:
                worker.kill()


class _Worker:
    """One process; its stderr is the parent's."""

    def __init__(self, held: tuple[int, ...]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app.finetune.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=held,
            env=os.environ | ONE_THREAD,
            encoding="utf-8",
        )

    def ask(self, job: Job) -> Iterator[dict[str, Any]]:
        """What it says until the chunk is done or it is dead."""
        assert self._process.stdin is not None  # noqa: S101 - asked for above
        assert self._process.stdout is not None  # noqa: S101 - asked for above
        try:
            self._process.stdin.write(job.to_json() + "\n")
            self._process.stdin.flush()
        except OSError:
            return
        for line in self._process.stdout:
            if not line.endswith("\n"):
                return
            yield json.loads(line)

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> int:
        """Its exit code, once it is gone; one that has closed its mouth but does not go is killed."""
        with contextlib.suppress(OSError), self._process:
            try:
                self._process.wait(_LAST_WORDS_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
        return self._process.wait()
