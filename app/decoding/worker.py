"""The model's process, seen from the service. In: batches. Out: results, or WorkerDied. Event loop thread; one reader
thread a process hands results back. The service itself never loads the model library."""

import asyncio
import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from app.decoding.engine import EngineConfig, Greeting
from app.decoding.request import WindowRequest, WindowResult

# One thread per window is the whole parallelism; a library's own pool would compete with the other windows.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_GREETING = -1


class WorkerDied(Exception):
    """The process ended before it answered; the same batch may be given to another."""


class DecodeFailed(Exception):
    """The engine raised on this batch; the process lives on."""


class Worker:
    """One child process, used once: start it, give it batches, stop it. `on_exit` is called on the event loop when
    the process ends, wanted or not."""

    def __init__(self, config: EngineConfig, on_exit: Callable[[], None]) -> None:
        self._config = config
        self._on_exit = on_exit
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._reader: threading.Thread | None = None
        self._waiting: dict[int, asyncio.Future[object]] = {}
        self._next_job = 0
        self._sending = asyncio.Lock()
        self._writing = threading.Lock()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def start(self) -> Greeting:
        """Start the process and load the model. Raises WorkerDied with the reason when it cannot."""
        ours, theirs = Pipe()
        self._connection = ours
        greeting = self._expect(_GREETING)
        with theirs:
            self._process = _spawn(theirs.fileno())
        loop = asyncio.get_running_loop()
        self._reader = threading.Thread(target=self._read, args=(ours, loop), daemon=True, name="model-results")
        self._reader.start()
        ours.send(self._config)
        return await greeting  # type: ignore[return-value]

    async def decode(self, batch: Sequence[WindowRequest]) -> list[WindowResult]:
        """Results of `batch`, in order. Raises WorkerDied or DecodeFailed."""
        job, self._next_job = self._next_job, self._next_job + 1
        answer = self._expect(job)
        try:
            # Shielded: a caller that is cancelled midway must not leave half a message on the pipe.
            await asyncio.shield(asyncio.ensure_future(self._send((job, list(batch)))))
            return await answer  # type: ignore[return-value]
        except OSError:
            raise WorkerDied("the model process is gone") from None
        finally:
            self._waiting.pop(job, None)

    async def stop(self) -> None:
        """End the process and fail what still waits. Nothing is left running when it returns."""
        if self._process is None:
            return
        self._process.kill()  # it holds nothing that must be put away
        if self._reader is not None:
            await asyncio.to_thread(self._reader.join)
        self._fail_all()

    def _expect(self, job: int) -> "asyncio.Future[object]":
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # may be waited for by nobody
        self._waiting[job] = answer
        return answer

    async def _send(self, message: tuple[int, list[WindowRequest]]) -> None:
        async with self._sending:
            await asyncio.to_thread(self._write, pickle.dumps(message))

    def _write(self, data: bytes) -> None:
        """On a worker thread. The lock keeps the reader from closing the connection under a message half written,
        which would raise whatever the moment gives, or write into a descriptor that is another's by then."""
        with self._writing:
            if self._connection is None or self._connection.closed:
                raise OSError
            self._connection.send_bytes(data)

    def _read(self, connection: Connection, loop: asyncio.AbstractEventLoop) -> None:
        """Reader thread: until the process closes its end, which it does by ending, however that comes about."""
        assert self._process is not None  # noqa: S101 - started before the thread
        try:
            hello = connection.recv()
            loop.call_soon_threadsafe(self._answer, _GREETING, hello)
            while True:
                loop.call_soon_threadsafe(self._answer, *connection.recv())
        except (EOFError, OSError, RuntimeError):  # RuntimeError: the loop is closed, nobody waits any more
            self._process.kill()
            self._process.wait()
            with self._writing:
                connection.close()
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._exited)

    def _exited(self) -> None:
        self._fail_all()
        self._on_exit()

    def _answer(self, job: int, outcome: object) -> None:
        waiting = self._waiting.pop(job, None)
        if waiting is None or waiting.done():
            return
        if isinstance(outcome, str):
            waiting.set_exception(WorkerDied(outcome) if job == _GREETING else DecodeFailed(outcome))
        else:
            waiting.set_result(outcome)

    def _fail_all(self) -> None:
        code = self._process.returncode if self._process else None
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(WorkerDied(f"the model process ended (exit code {code})"))


def _spawn(descriptor: int) -> subprocess.Popen[bytes]:
    """A fresh interpreter with one inherited socket; `-P` keeps the working directory out of its import path."""
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-P", "-m", "app.decoding.child", str(descriptor)],
        pass_fds=(descriptor,),
        stdin=subprocess.DEVNULL,
        env=os.environ | _ONE_THREAD,
    )
