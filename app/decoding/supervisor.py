"""Keeps one model worker alive. In: batches. Out: results, or WorkerDied while it is started again. Event loop
thread."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence

import numpy as np

from app.audio.waveform import SAMPLE_RATE, Samples
from app.decoding.engine import EngineConfig
from app.decoding.metrics import DecodingMetrics
from app.decoding.request import DecodeOptions, PromptSet, WindowRequest, WindowResult
from app.decoding.worker import DecodeFailed, Worker, WorkerDied
from app.errors import NotReady
from app.telemetry import logger

log = logger(__name__)

# A worker that dies this often without finishing a window in between is not coming back by itself.
MAX_DEATHS = 5

# One second of a quiet 220 Hz tone: enough to run every step of the model once.
CANARY: Samples = (0.01 * np.sin(2 * np.pi * 220 * np.arange(SAMPLE_RATE) / SAMPLE_RATE)).astype(np.float32)


class WorkerSupervisor:
    """`ready`: the worker answers. `healthy`: False once it has died MAX_DEATHS times in a row.

    `on_ready` is called when a restarted worker answers, `on_lost` when it is given up.
    """

    def __init__(
        self,
        config: EngineConfig,
        metrics: DecodingMetrics,
        *,
        on_ready: Callable[[], None],
        on_lost: Callable[[], None],
    ) -> None:
        self._config = config
        self._metrics = metrics
        self._on_ready = on_ready
        self._on_lost = on_lost
        self._worker = Worker(config)
        self._deaths = 0
        self._restart: asyncio.Task[None] | None = None
        self.ready = False
        self.healthy = True
        self.fingerprint = ""
        self.fingerprint_details: dict[str, str] = {}

    @property
    def pid(self) -> int | None:
        return self._worker.pid

    async def start(self) -> None:
        """Load the model and decode a canary. Raises NotReady with the reason when that fails."""
        try:
            await self._bring_up()
        except WorkerDied as died:
            await self._worker.stop()
            raise NotReady(f"The model could not be loaded: {died}", code="model_failed") from None

    async def decode(self, batch: Sequence[WindowRequest]) -> list[WindowResult]:
        """Raises DecodeFailed, or WorkerDied: then a restart is under way and the batch may be given again."""
        worker = self._worker
        try:
            results = await worker.decode(batch)
        except WorkerDied:
            if worker is self._worker and self._restart is None and self.healthy:
                self.ready = False
                self._metrics.worker(up=False)
                self._restart = asyncio.create_task(self._start_again())
            raise
        self._deaths = 0
        return results

    async def stop(self) -> None:
        self.ready = False
        if self._restart is not None:
            self._restart.cancel()
            await asyncio.gather(self._restart, return_exceptions=True)
        await self._worker.stop()
        self._metrics.worker(up=False)

    async def _start_again(self) -> None:
        while (deaths := self._deaths + 1) <= MAX_DEATHS:
            self._deaths = deaths
            log.warning("model worker died, starting it again", deaths=deaths)
            await self._worker.stop()
            self._worker = Worker(self._config)
            self._metrics.restarted()
            try:
                await self._bring_up()
            except WorkerDied as died:
                log.error("model worker does not start", reason=str(died))
                continue
            self._restart = None
            self._on_ready()
            return
        log.critical("model worker keeps dying; restart the service", deaths=self._deaths)
        self.healthy = False
        self._on_lost()

    async def _bring_up(self) -> None:
        details = await self._worker.start()
        canary = WindowRequest("canary", 0, CANARY, PromptSet(), DecodeOptions(language="en"))
        try:
            await self._worker.decode([canary])
        except DecodeFailed as failure:
            raise WorkerDied(f"the canary decode failed: {failure}") from None
        self.fingerprint_details = details
        self.fingerprint = hashlib.sha256(json.dumps(details, sort_keys=True).encode()).hexdigest()[:16]
        self._metrics.worker(up=True)
        self.ready = True
