"""The queue in front of the models. In: requests of many windows. Out: results, each request's in order. All state
lives on the event loop; the models live in processes of their own, one a device."""

import asyncio
import itertools
import time
from collections.abc import Sequence
from dataclasses import replace

from app.audio.waveform import SAMPLE_RATE, Samples
from app.decoding.admission import Admission, require_known
from app.decoding.batching import BatchPolicy, next_batch
from app.decoding.decoding import Decoding, FollowUp
from app.decoding.engine import EngineConfig
from app.decoding.fingerprint import fingerprint_of
from app.decoding.metrics import DecodingMetrics
from app.decoding.request import DecodeOptions, PromptSet, WindowRequest, WindowResult
from app.decoding.supervisor import StartWorker, Supervisor
from app.decoding.worker import DecodeFailed, Worker, WorkerDied
from app.errors import DeadlineExceeded, InternalError, NotReady
from app.telemetry import logger

log = logger(__name__)

# A window that was on the model at one death is decoded alone from then on; one that has been there this often is to
# blame, and its request fails alone.
MAX_DEATHS_A_WINDOW = 4

Taken = list[tuple[Decoding, WindowRequest]]


class Dispatcher:
    """Round-robin over requests, one batch a turn; admission by seconds of speech that are not decoded yet.

    `devices`: indexes, one process each; `policy`: what may share a batch; `recycle_after`: windows a process decodes
    before a fresh one takes its place, None for no limit.
    """

    def __init__(
        self,
        config: EngineConfig,
        metrics: DecodingMetrics,
        *,
        max_pending_audio_seconds: float,
        policy: BatchPolicy | None = None,
        devices: Sequence[int] = (0,),
        recycle_after: int | None = None,
        start_worker: StartWorker = Worker,
    ) -> None:
        self._metrics = metrics
        self._admission = Admission(max_pending_audio_seconds)
        self._policy = policy or BatchPolicy()
        self._workers = [
            Supervisor(
                replace(config, device_index=device),
                metrics,
                start_worker=start_worker,
                on_change=self._on_worker_change,
                batch_windows=self._policy.max_windows,
                recycle_after=recycle_after,
            )
            for device in devices
        ]
        self._slots = config.workers * len(devices)
        self._turns: dict[Decoding, None] = {}
        self._turn = 0
        self._serials = itertools.count()
        self._alone: set[Supervisor] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._accepting = False
        self._idle = asyncio.Event()

    @property
    def worker_pids(self) -> tuple[int | None, ...]:
        """Process ids of the model workers, for operators and tests."""
        return tuple(worker.pid for worker in self._workers)

    @property
    def fingerprint(self) -> str:
        """Short name of everything that the answer depends on besides audio and prompt."""
        return fingerprint_of(self.fingerprint_details)

    @property
    def fingerprint_details(self) -> dict[str, str]:
        return self._workers[0].greeting.fingerprint

    @property
    def languages(self) -> frozenset[str]:
        """Whisper codes that the model knows."""
        return self._workers[0].greeting.languages

    @property
    def ready(self) -> bool:
        """A model answered its canary and work is taken."""
        return self._accepting and any(worker.ready for worker in self._workers)

    @property
    def healthy(self) -> bool:
        """False when a model process keeps dying: only a restart of the service helps."""
        return all(worker.healthy for worker in self._workers)

    @property
    def pending_seconds(self) -> float:
        return sum(decoding.unfinished_seconds for decoding in self._turns)

    async def start(self) -> None:
        """Load the models and decode a canary on each. Raises NotReady with the reason when that fails."""
        started = await asyncio.gather(*(worker.start() for worker in self._workers), return_exceptions=True)
        for outcome in started:
            if outcome is not None:
                await self.stop(0)
                raise outcome
        self._accepting = True

    def submit(
        self,
        request_id: str,
        windows: Sequence[Samples],
        prompts: PromptSet,
        options: DecodeOptions,
        *,
        deadline: float | None = None,
        follow_up: FollowUp | None = None,
    ) -> Decoding:
        """Admit one request. `windows`: 16 kHz samples, at most 30 s each; `deadline`: seconds from now; `follow_up`:
        see Decoding, asked for every window.

        Raises Overloaded when the backlog is over its bound (a request is always admitted to an empty queue),
        NotReady while stopping or when every model is beyond repair, InvalidRequest for a language or task that the
        model does not know.
        """
        if not self._accepting or not any(worker.healthy for worker in self._workers):
            raise NotReady("The service is not taking work now; try again in a moment.")
        require_known(options, self.languages)
        followed, serial = follow_up is not None, next(self._serials)
        requests = [
            WindowRequest(request_id, index, samples, prompts, options, followed=followed, serial=serial)
            for index, samples in enumerate(windows)
        ]
        started, turn = time.monotonic(), self._turn
        decoding = Decoding(requests, started, self._ended, turn=turn, follow_up=follow_up, on_queued=self._pump)
        self._admission.check(self.pending_seconds, decoding.unfinished_seconds)
        if requests:
            self._turns[decoding] = None
        if deadline is not None:
            late = DeadlineExceeded(f"Not done within {deadline:g} s; send a shorter recording or allow more time.")
            decoding.timer = asyncio.get_running_loop().call_later(deadline, decoding.fail, late)
        self._pump()
        return decoding

    async def stop(self, drain_seconds: float) -> None:
        """Refuse new work, let admitted requests finish for at most `drain_seconds`, fail the rest, end the models."""
        self._accepting = False
        if self._turns:
            self._idle.clear()
            try:
                await asyncio.wait_for(self._idle.wait(), drain_seconds)
            except TimeoutError:
                log.warning("drain time is over", requests=len(self._turns))
        self._fail_all("The service is stopping; send the request again.")
        await asyncio.gather(*(worker.stop() for worker in self._workers))
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _ended(self, decoding: Decoding) -> None:
        self._turns.pop(decoding, None)
        self._metrics.backlog(self.pending_seconds, len(self._turns))
        if not self._turns:
            self._idle.set()

    def _on_worker_change(self) -> None:
        if not any(worker.healthy for worker in self._workers):
            self._fail_all("The model is down; the service needs a restart.")
        self._pump()

    def _fail_all(self, reason: str) -> None:
        for decoding in list(self._turns):
            decoding.fail(NotReady(reason))

    def _pump(self) -> None:
        """Give the models work while one has room and there is some."""
        self._metrics.backlog(self.pending_seconds, len(self._turns))
        while True:
            decodings = sorted(self._turns, key=lambda decoding: decoding.turn)
            batch = next_batch([decoding.queue for decoding in decodings], self._policy)
            if not batch:
                return
            taken = [(decodings[queue], decodings[queue].queue[position]) for queue, position in batch]
            suspect = taken[0][0].suspects(taken[0][1])
            known_good = itertools.takewhile(lambda item: not item[0].suspects(item[1]), taken)
            taken = taken[:1] if suspect else list(known_good)
            worker = self._free_worker(taken[0][1], alone=suspect)
            if worker is None:
                return
            self._turn = taken[0][0].turn
            for decoding, window in taken:
                decoding.queue.remove(window)
                decoding.turn = self._turn + 1
            if suspect:
                self._alone.add(worker)
            answer = worker.decode([window for _, window in taken], on_trial=suspect)
            task = asyncio.create_task(self._finish(worker, taken, answer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _free_worker(self, window: WindowRequest, *, alone: bool) -> Supervisor | None:
        free = [worker for worker in self._workers if worker.takes(window) and worker not in self._alone]
        if alone:
            free = [worker for worker in free if not worker.running]
        return max(free, key=lambda worker: worker.room, default=None)

    async def _finish(self, worker: Supervisor, taken: Taken, answer: asyncio.Task[list[WindowResult]]) -> None:
        started = time.monotonic()
        self._metrics.batch_started(len(taken), [started - decoding.admitted_at for decoding, _ in taken])
        try:
            results = await answer
        except WorkerDied:
            self._put_back(taken)
        except DecodeFailed as failure:
            log.error("decoding failed", reason=str(failure), windows=len(taken))
            if len(taken) > 1:
                self._put_back(taken)  # one of them is at fault; which one shows when each is alone
            else:
                _fail(taken)
        except Exception as error:  # whatever it is, nobody who waits may be left without an answer
            log.exception("decoding ended unexpectedly", error=type(error).__name__)
            _fail(taken)
        else:
            speech = sum(len(window.samples) for _, window in taken) / SAMPLE_RATE
            self._admission.observe(self._slots * speech, time.monotonic() - started)
            for (decoding, window), result in zip(taken, results, strict=True):
                if not window.again:
                    self._metrics.decoded(result)
                decoding.add(window, result)
        finally:
            self._alone.discard(worker)
            self._pump()

    def _put_back(self, taken: Taken) -> None:
        """The model died or failed under these windows: decode them again, each at most MAX_DEATHS_A_WINDOW times."""
        for decoding, window in reversed(taken):
            decoding.deaths[window.index] += 1
            if decoding.deaths[window.index] >= MAX_DEATHS_A_WINDOW:
                decoding.fail(InternalError("The model fails on this recording; the log has the details."))
            elif not decoding.finished:
                decoding.queue.appendleft(window)


def _fail(taken: Taken) -> None:
    for decoding, _ in taken:
        decoding.fail(InternalError("Decoding failed here; the request id finds it in the log."))
