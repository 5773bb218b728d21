"""The model in a process of its own. In: batches over a pipe. Out: results over the same pipe, as they are done. The
parent never loads the model library; a worker that dies takes no request with it."""

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

from app.decoding.engine import EngineConfig, build_engine
from app.decoding.request import WindowRequest, WindowResult


class WorkerDied(Exception):
    """The process ended before it answered; the same batch may be given to another."""


class DecodeFailed(Exception):
    """The engine raised on this batch; the process lives on."""


class Worker:
    """One child process, spawned. All methods on the event loop thread; one reader thread hands results back."""

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None
        self._waiting: dict[int, asyncio.Future[list[WindowResult]]] = {}
        self._next_id = 0
        self._sending = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def start(self) -> dict[str, str]:
        """Spawn, load the model; the engine's fingerprint. Raises WorkerDied when loading fails."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(self._config, theirs), name="lexicue-model", daemon=True)
        self._process.start()
        theirs.close()
        self._connection = ours
        try:
            hello = await asyncio.to_thread(ours.recv)
        except (EOFError, OSError):
            raise WorkerDied(f"the model process ended while loading (exit code {self._exit_code()})") from None
        if isinstance(hello, str):
            raise WorkerDied(hello)
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(ours, loop), daemon=True, name="model-results").start()
        fingerprint: dict[str, str] = hello
        return fingerprint

    async def decode(self, batch: Sequence[WindowRequest]) -> list[WindowResult]:
        """Raises WorkerDied or DecodeFailed."""
        if self._connection is None:
            raise WorkerDied("the model process is not running")
        job, self._next_id = self._next_id, self._next_id + 1
        answer: asyncio.Future[list[WindowResult]] = asyncio.get_running_loop().create_future()
        self._waiting[job] = answer
        try:
            # Shielded: a caller that is cancelled midway must not leave half a message on the pipe.
            await asyncio.shield(self._send(self._connection, job, batch))
            return await answer
        except OSError:
            raise WorkerDied("the model process is gone") from None
        finally:
            self._waiting.pop(job, None)

    async def stop(self) -> None:
        """End the process and fail what still waits."""
        process, self._process = self._process, None
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        if process is not None:
            process.terminate()
            await asyncio.to_thread(process.join, 5)
            if process.is_alive():
                process.kill()
                await asyncio.to_thread(process.join)
        self._fail_all()

    async def _send(self, connection: Connection, job: int, batch: Sequence[WindowRequest]) -> None:
        async with self._sending:
            await asyncio.to_thread(connection.send, (job, list(batch)))

    def _exit_code(self) -> int | None:
        if self._process is not None:
            self._process.join(1)
            return self._process.exitcode
        return None

    def _read(self, connection: Connection, loop: asyncio.AbstractEventLoop) -> None:
        try:
            while True:
                job, outcome = connection.recv()
                loop.call_soon_threadsafe(self._answer, job, outcome)
        except (EOFError, OSError, TypeError):  # TypeError: closed by stop() while waiting
            try:
                loop.call_soon_threadsafe(self._fail_all)
            except RuntimeError:
                return  # the loop is closed, nobody waits any more

    def _answer(self, job: int, outcome: list[WindowResult] | str) -> None:
        waiting = self._waiting.get(job)
        if waiting is None or waiting.done():
            return
        if isinstance(outcome, str):
            waiting.set_exception(DecodeFailed(outcome))
        else:
            waiting.set_result(outcome)

    def _fail_all(self) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(WorkerDied("the model process ended"))


def serve(config: EngineConfig, connection: Connection) -> None:
    """The child's main: load, greet with the fingerprint, then answer until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the parent's to handle
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        engine = build_engine(config)
        connection.send(engine.fingerprint())
    except Exception as error:  # noqa: BLE001 - any failure to load is told to the parent, which decides
        connection.send(f"{type(error).__name__}: {error}")
        return
    lock = threading.Lock()

    def answer(job: int, batch: list[WindowRequest]) -> None:
        outcome: list[WindowResult] | str
        try:
            outcome = engine.decode(batch)
        except Exception as error:  # noqa: BLE001 - one bad window must not end the process
            outcome = f"{type(error).__name__}: {error}"
        with lock:
            connection.send((job, outcome))

    with ThreadPoolExecutor(config.workers, thread_name_prefix="window") as threads:
        while True:
            try:
                job, batch = connection.recv()
            except (EOFError, OSError):
                return
            threads.submit(answer, job, batch)
