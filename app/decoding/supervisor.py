"""Keeps the model process of one device alive. In: batches. Out: results, or WorkerDied while the process is started
again. Event loop thread."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from app.audio.waveform import SAMPLE_RATE, WINDOW_SECONDS, Samples
from app.decoding.engine import EngineConfig, Greeting
from app.decoding.metrics import DecodingMetrics
from app.decoding.request import DecodeOptions, PromptSet, WindowRequest, WindowResult
from app.decoding.worker import DecodeFailed, WorkerDied
from app.errors import NotReady
from app.telemetry import logger

log = logger(__name__)

# A process that dies this often without finishing a batch in between is not coming back by itself. Deaths under a
# window on trial are the window's: else one bad recording, sent twice, would take the service down.
MAX_DEATHS = 5
# No start and no batch takes this long on a device that works; one that does is hung, and is treated as a death.
STALLED_SECONDS = 600.0

# A GPU picks its kernels and memory by size, so it is warmed at the largest; a CPU has nothing to gain from that.
_CANARY_SECONDS = {"cpu": 1, "cuda": WINDOW_SECONDS}


class ModelWorker(Protocol):
    """What is asked of a process; see `worker.Worker`."""

    @property
    def pid(self) -> int | None: ...
    async def start(self) -> Greeting: ...
    async def decode(self, batch: Sequence[WindowRequest]) -> list[WindowResult]: ...
    async def stop(self) -> None: ...


StartWorker = Callable[[EngineConfig, Callable[[], None]], ModelWorker]


class Supervisor:
    """`running`: batches on the device. `ready`: it takes work. `healthy`: False once it died MAX_DEATHS times in a
    row. `on_change` is called whenever one of them may have changed for the better, or `healthy` for the worse.

    `recycle_after`: windows after which an idle moment is made to start a fresh process, None for never.
    """

    def __init__(
        self,
        config: EngineConfig,
        metrics: DecodingMetrics,
        *,
        start_worker: StartWorker,
        on_change: Callable[[], None],
        batch_windows: int = 1,
        recycle_after: int | None = None,
    ) -> None:
        self._config = config
        self._metrics = metrics
        self._start_worker = start_worker
        self._on_change = on_change
        self._batch_windows = batch_windows
        self._recycle_after = recycle_after
        self._worker: ModelWorker | None = None
        self._windows = 0
        self._deaths = 0
        self._restart: asyncio.Task[None] | None = None
        self._stopping = False
        self._on_trial = False
        self._holders: list[int] = []  # serials of the requests whose batches are on the device
        self.ready = False
        self.healthy = True
        self.greeting = Greeting({}, frozenset())

    @property
    def pid(self) -> int | None:
        return self._worker.pid if self._worker else None

    @property
    def worn(self) -> bool:
        """True from the moment a recycling is due until it is done; no new batch should be given."""
        return self._recycle_after is not None and self._windows >= self._recycle_after

    @property
    def running(self) -> int:
        return len(self._holders)

    @property
    def room(self) -> int:
        """Batches of anybody that it would start at once; below 0 while a spare thread is taken."""
        return self._config.workers - self.running if self.ready and not self.worn else 0

    def takes(self, window: WindowRequest) -> bool:
        """Whether it would start a batch that begins with `window` at once: there is room, or all of it is held by one
        other request and a spare thread is free."""
        if self.room > 0:
            return True
        spare = self.ready and not self.worn and self.running < self._config.threads
        return spare and len({*self._holders}) == 1 and window.serial not in self._holders

    async def start(self) -> None:
        """Load the model and decode the canary. Raises NotReady with the reason when that fails."""
        try:
            await self._bring_up()
        except WorkerDied as died:
            raise NotReady(
                f"The model in {self._config.model_path} could not be loaded: {died}. Check LEXICUE_MODEL, "
                "LEXICUE_DEVICE and LEXICUE_COMPUTE_TYPE; a folder that was copied in part is best copied again.",
                code="model_failed",
            ) from None

    def decode(self, batch: Sequence[WindowRequest], *, on_trial: bool = False) -> asyncio.Task[list[WindowResult]]:
        """Start a batch; `running` counts it at once. The task raises DecodeFailed, or WorkerDied: then a restart is
        under way and the batch may be given again. `on_trial`: alone on the device, since it has failed before."""
        self._holders.append(batch[0].serial)
        self._on_trial = on_trial
        return asyncio.create_task(self._decode(batch))

    async def _decode(self, batch: Sequence[WindowRequest]) -> list[WindowResult]:
        worker = self._worker
        assert worker is not None  # noqa: S101 - `room` is 0 before the start
        try:
            results = await asyncio.wait_for(worker.decode(batch), STALLED_SECONDS)
        except TimeoutError:
            log.error("model worker does not answer", seconds=STALLED_SECONDS)
            await worker.stop()
            raise WorkerDied("the model process does not answer") from None
        except WorkerDied:
            # A broken pipe is seen here before the process's end is told: without this the batch would be given to
            # the same dead process again, and each time be counted as a death of its own.
            self._exited(worker)
            raise
        finally:
            self._holders.remove(batch[0].serial)
            self._on_trial = False
        self._deaths = 0
        self._windows += len(batch)
        if self.worn and not self.running and self._restart is None:
            log.info("model worker is recycled", windows=self._windows)
            self._begin_restart()
        return results

    async def stop(self) -> None:
        """End the process for good."""
        self._stopping = True
        self.ready = False
        if self._restart is not None:
            self._restart.cancel()
            await asyncio.gather(self._restart, return_exceptions=True)
        if self._worker is not None:
            await self._worker.stop()
        self._metrics.worker(self._config.device_index, up=False)

    def _exited(self, worker: ModelWorker) -> None:
        if worker is self._worker and self.ready and not self._stopping:
            log.warning("model worker died", pid=self.pid)
            self._deaths -= self._on_trial
            self._begin_restart()

    def _begin_restart(self) -> None:
        self.ready = False
        self._metrics.worker(self._config.device_index, up=False)
        self._restart = asyncio.create_task(self._start_again())

    async def _start_again(self) -> None:
        while self._deaths < MAX_DEATHS:
            self._deaths += 1
            self._metrics.restarted()
            try:
                await self._bring_up()
            except WorkerDied as died:
                log.error("model worker does not start", reason=str(died), attempt=self._deaths)
                continue
            self._restart = None
            self._on_change()
            return
        log.critical("model worker keeps dying; restart the service", deaths=self._deaths)
        self.healthy = False
        self._on_change()

    async def _bring_up(self) -> None:
        """A fresh process in place of the old one; it is ready when it has decoded canaries as one full batch."""
        if self._worker is not None:
            await self._worker.stop()
        worker: ModelWorker = self._start_worker(self._config, lambda: self._exited(worker))
        self._worker = worker
        try:
            async with asyncio.timeout(STALLED_SECONDS):
                greeting = await worker.start()
                tone = _tone(_CANARY_SECONDS[self._config.device])
                canary = WindowRequest("canary", 0, tone, PromptSet(), DecodeOptions(language="en"))
                await worker.decode([canary] * self._batch_windows)
        except TimeoutError:
            await worker.stop()
            raise WorkerDied(f"the model process was not ready after {STALLED_SECONDS:g} s") from None
        except (DecodeFailed, OSError) as failure:
            await worker.stop()
            raise WorkerDied(f"the canary was not decoded: {failure}") from None
        except WorkerDied:
            await worker.stop()
            raise
        self.greeting = greeting
        self._windows = 0
        self._metrics.worker(self._config.device_index, up=True)
        self.ready = True


def _tone(seconds: int) -> Samples:
    """A quiet 220 Hz tone, shape (16,000 * seconds,): enough to run every step of the model once."""
    return (0.01 * np.sin(2 * np.pi * 220 * np.arange(seconds * SAMPLE_RATE) / SAMPLE_RATE)).astype(np.float32)
