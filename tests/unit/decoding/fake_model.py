"""A model that answers when told to, behind a real dispatcher."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import numpy as np
from prometheus_client import CollectorRegistry

from app.audio.waveform import SAMPLE_RATE, Samples
from app.decoding.batching import BatchPolicy
from app.decoding.decoding import Decoding
from app.decoding.dispatcher import Dispatcher
from app.decoding.engine import EngineConfig, Greeting
from app.decoding.metrics import DecodingMetrics
from app.decoding.request import DecodeOptions, Outcome, PromptSet, WindowRequest, WindowResult
from app.decoding.worker import WorkerDied


class Model:
    """Stands for every worker process of one dispatcher. A batch waits in `running` until the test answers it."""

    def __init__(self, languages: frozenset[str] = frozenset({"en", "ko"})) -> None:
        self.languages = languages
        self.running: list[tuple[list[WindowRequest], asyncio.Future[list[WindowResult]], object]] = []
        self.log: list[str] = []
        self.arrived = asyncio.Condition()
        self.starts = 0
        self.may_start = True

    def names(self) -> list[str]:
        return [f"{window.request_id}{window.index}" for batch, _, _ in self.running for window in batch]

    async def until(self, count: int) -> None:
        async with self.arrived:
            await self.arrived.wait_for(lambda: len(self.running) == count)

    async def until_busy(self) -> None:
        async with self.arrived:
            await self.arrived.wait_for(lambda: bool(self.running))

    async def answer(self, name: str | None = None, *, language: str = "en") -> None:
        """Answer the batch with this window, or the oldest."""
        index = next(i for i, (batch, _, _) in enumerate(self.running) if name in (None, name_of(batch[0])))
        batch, future, _ = self.running.pop(index)
        self.log += [name_of(window) for window in batch]
        future.set_result([_result(window, language) for window in batch])
        await settle()

    def start_worker(self, config: EngineConfig, on_exit: Callable[[], None]) -> "FakeWorker":
        return FakeWorker(self, on_exit)


class FakeWorker:
    def __init__(self, model: Model, on_exit: Callable[[], None]) -> None:
        self.model = model
        self.on_exit = on_exit
        self.pid = None

    async def start(self) -> Greeting:
        self.model.starts += 1
        if not self.model.may_start:
            raise WorkerDied("no memory")
        return Greeting({"engine": "fake"}, self.model.languages)

    async def decode(self, batch: Sequence[WindowRequest]) -> list[WindowResult]:
        if batch[0].request_id == "canary":
            return [_result(window, "en") for window in batch]
        future: asyncio.Future[list[WindowResult]] = asyncio.get_running_loop().create_future()
        async with self.model.arrived:
            self.model.running.append((list(batch), future, self))
            self.model.arrived.notify_all()
        return await future

    async def stop(self) -> None:
        self.die(exited=False)

    def die(self, *, exited: bool = True) -> None:
        mine = [item for item in self.model.running if item[2] is self]
        self.model.running = [item for item in self.model.running if item[2] is not self]
        for _, future, _ in mine:
            if not future.done():
                future.set_exception(WorkerDied("killed"))
        if exited:
            self.on_exit()


def name_of(window: WindowRequest) -> str:
    return f"{window.request_id}{window.index}"


def _result(window: WindowRequest, language: str) -> WindowResult:
    return WindowResult(window.index, window.options.language or language, 1.0, Outcome.DECODED, "first")


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def speech(*seconds: float) -> list[Samples]:
    return [np.zeros(round(part * SAMPLE_RATE), dtype=np.float32) for part in seconds]


@asynccontextmanager
async def dispatching(
    model: Model,
    *,
    workers: int = 1,
    spare_workers: int = 0,
    max_pending: float = 1000.0,
    policy: BatchPolicy | None = None,
    devices: Sequence[int] = (0,),
    recycle_after: int | None = None,
) -> AsyncIterator[tuple[Dispatcher, CollectorRegistry]]:
    registry = CollectorRegistry()
    dispatcher = Dispatcher(
        EngineConfig(kind="scripted", workers=workers, spare_workers=spare_workers),
        DecodingMetrics(registry),
        max_pending_audio_seconds=max_pending,
        policy=policy,
        devices=devices,
        recycle_after=recycle_after,
        start_worker=model.start_worker,
    )
    await dispatcher.start()
    try:
        yield dispatcher, registry
    finally:
        await dispatcher.stop(0)


def ask(dispatcher: Dispatcher, name: str, *seconds: float, language: str | None = "en", **more: float) -> Decoding:
    return dispatcher.submit(name, speech(*seconds), PromptSet(), DecodeOptions(language=language), **more)


async def results(decoding: Decoding) -> list[int]:
    return [result.index async for result in decoding]
