"""The queue in front of the model. In: requests of many windows. Out: results, each request's in order. All state
lives on the event loop; the model lives in its own process."""

import asyncio
import math
import time
from collections.abc import Coroutine, Sequence

from app.audio.waveform import SAMPLE_RATE, Samples
from app.decoding.batching import BatchPolicy, next_batch
from app.decoding.decoding import Decoding
from app.decoding.engine import EngineConfig
from app.decoding.metrics import DecodingMetrics
from app.decoding.request import DecodeOptions, PromptSet, WindowRequest
from app.decoding.supervisor import WorkerSupervisor
from app.decoding.worker import DecodeFailed, WorkerDied
from app.errors import DeadlineExceeded, InternalError, NotReady, Overloaded
from app.telemetry import logger

log = logger(__name__)

# A window that was on the model this often when it died is the likely cause; its request fails alone.
MAX_DEATHS_A_WINDOW = 3


class Dispatcher:
    """Round-robin over requests, one batch a turn; admission by seconds of speech that are not decoded yet."""

    def __init__(
        self,
        config: EngineConfig,
        metrics: DecodingMetrics,
        *,
        max_pending_audio_seconds: float,
        policy: BatchPolicy | None = None,
    ) -> None:
        self._config = config
        self._metrics = metrics
        self._max_pending = max_pending_audio_seconds
        self._policy = policy or BatchPolicy()
        self._worker = WorkerSupervisor(config, metrics, on_ready=self._pump, on_lost=self._give_up)
        self._turns: dict[str, Decoding] = {}
        self._running = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._accepting = False
        self._speed = 1.0
        self._idle = asyncio.Event()

    @property
    def worker_pid(self) -> int | None:
        """Process id of the model worker, for operators and tests."""
        return self._worker.pid

    @property
    def fingerprint(self) -> str:
        """Short name of everything that the answer depends on besides audio and prompt."""
        return self._worker.fingerprint

    @property
    def fingerprint_details(self) -> dict[str, str]:
        return self._worker.fingerprint_details

    @property
    def ready(self) -> bool:
        """The model answered its canary and work is taken."""
        return self._accepting and self._worker.ready

    @property
    def healthy(self) -> bool:
        """False when the model worker keeps dying: only a restart of the service helps."""
        return self._worker.healthy

    @property
    def pending_seconds(self) -> float:
        return sum(decoding.unfinished_seconds for decoding in self._turns.values())

    async def start(self) -> None:
        """Load the model and decode a canary. Raises NotReady with the reason when that fails."""
        await self._worker.start()
        self._accepting = True

    def submit(
        self,
        request_id: str,
        windows: Sequence[Samples],
        prompts: PromptSet,
        options: DecodeOptions,
        *,
        deadline: float | None = None,
    ) -> Decoding:
        """Admit one request. `windows`: 16 kHz samples, at most 30 s each; `deadline`: seconds from now.

        Raises Overloaded when the backlog is over its bound (a request is always admitted to an empty queue),
        NotReady while stopping or when the model is beyond repair.
        """
        if not self._accepting or not self.healthy:
            raise NotReady("The service is not taking work now; try again in a moment.")
        requests = [
            WindowRequest(request_id, index, samples, prompts, options) for index, samples in enumerate(windows)
        ]
        key = f"{request_id}/{id(requests)}"
        decoding = Decoding(key, requests, time.monotonic(), lambda: self._drop(key))
        self._admit(decoding.unfinished_seconds)
        self._turns[key] = decoding
        if deadline is not None:
            late = DeadlineExceeded(f"Not done within {deadline:.0f} s; send a shorter recording or allow more time.")
            asyncio.get_running_loop().call_later(deadline, self._fail, decoding, late)
        self._pump()
        return decoding

    async def stop(self, drain_seconds: float) -> None:
        """Refuse new work, let admitted requests finish for at most `drain_seconds`, fail the rest, end the worker."""
        self._accepting = False
        if self._turns:
            self._idle.clear()
            try:
                await asyncio.wait_for(self._idle.wait(), drain_seconds)
            except TimeoutError:
                for decoding in list(self._turns.values()):
                    self._fail(decoding, NotReady("The service is stopping; send the request again."))
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._worker.stop()

    def _admit(self, seconds: float) -> None:
        pending = self.pending_seconds
        if pending and pending + seconds > self._max_pending:
            raise Overloaded(
                "Too much audio is waiting; try again after the time in Retry-After.",
                retry_after=max(1, math.ceil((pending + seconds - self._max_pending) / self._speed)),
            )

    def _drop(self, key: str) -> None:
        decoding = self._turns.pop(key, None)
        if decoding is not None:
            decoding.fail(NotReady("The request was cancelled.", code="cancelled"))
        self._settle()

    def _fail(self, decoding: Decoding, error: DeadlineExceeded | NotReady | InternalError) -> None:
        decoding.fail(error)
        self._turns.pop(decoding.request_id, None)
        self._settle()

    def _settle(self) -> None:
        self._metrics.backlog(self.pending_seconds)
        if not self._turns:
            self._idle.set()

    def _pump(self) -> None:
        """Give the model work while it has room and there is some."""
        self._settle()
        while self._worker.ready and self._running < self._config.workers:
            decodings = list(self._turns.values())
            batch = next_batch([decoding.queue for decoding in decodings], self._policy)
            if not batch:
                return
            taken = [(decodings[queue], decodings[queue].queue[position]) for queue, position in batch]
            for decoding, window in taken:
                decoding.queue.remove(window)
                self._turns[decoding.request_id] = self._turns.pop(decoding.request_id)  # to the end of the turn
            self._running += 1
            self._spawn(self._run(taken))

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, taken: list[tuple[Decoding, WindowRequest]]) -> None:
        started = time.monotonic()
        self._metrics.batch_started(len(taken), [started - decoding.admitted_at for decoding, _ in taken])
        try:
            results = await self._worker.decode([window for _, window in taken])
        except WorkerDied:
            self._put_back(taken)
        except DecodeFailed as failure:
            log.error("decoding failed", reason=str(failure))
            for decoding, _ in taken:
                self._fail(decoding, InternalError("Decoding failed here; the request id finds it in the log."))
        else:
            seconds = sum(len(window.samples) for _, window in taken) / SAMPLE_RATE
            self._speed = 0.8 * self._speed + 0.2 * self._config.workers * seconds / max(
                time.monotonic() - started, 1e-3
            )
            for (decoding, window), result in zip(taken, results, strict=True):
                self._metrics.decoded(result)
                decoding.add(window, result)
                if decoding.finished:
                    self._turns.pop(decoding.request_id, None)
        finally:
            self._running -= 1
            self._pump()

    def _put_back(self, taken: list[tuple[Decoding, WindowRequest]]) -> None:
        """The model died under these windows: decode them again, each at most MAX_DEATHS_A_WINDOW times."""
        for decoding, window in reversed(taken):
            decoding.deaths[window.index] += 1
            if decoding.deaths[window.index] >= MAX_DEATHS_A_WINDOW:
                self._fail(decoding, InternalError("The model fails on this recording; the log has the details."))
            elif not decoding.finished:
                decoding.queue.appendleft(window)

    def _give_up(self) -> None:
        for decoding in list(self._turns.values()):
            self._fail(decoding, NotReady("The model is down; the service needs a restart."))
