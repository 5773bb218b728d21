"""The queue with a model that answers when told to: fairness, admission, cancelling, deadlines, drain, deaths."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from app.audio.waveform import SAMPLE_RATE, Samples
from app.decoding.batching import BatchPolicy
from app.decoding.decoding import Decoding
from app.decoding.dispatcher import MAX_DEATHS_A_WINDOW, Dispatcher
from app.decoding.engine import EngineConfig, Greeting
from app.decoding.metrics import DecodingMetrics
from app.decoding.request import DecodeOptions, Outcome, PromptSet, Task, WindowRequest, WindowResult
from app.decoding.worker import DecodeFailed, WorkerDied
from app.errors import DeadlineExceeded, InternalError, InvalidRequest, LexicueError, NotReady, Overloaded


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
        index = next(i for i, (batch, _, _) in enumerate(self.running) if name in (None, _name(batch[0])))
        batch, future, _ = self.running.pop(index)
        self.log += [_name(window) for window in batch]
        future.set_result([_result(window, language) for window in batch])
        await _settle()

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


def _name(window: WindowRequest) -> str:
    return f"{window.request_id}{window.index}"


def _result(window: WindowRequest, language: str) -> WindowResult:
    return WindowResult(window.index, window.options.language or language, 1.0, Outcome.DECODED, "first")


async def _settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def speech(*seconds: float) -> list[Samples]:
    return [np.zeros(round(part * SAMPLE_RATE), dtype=np.float32) for part in seconds]


@asynccontextmanager
async def dispatching(
    model: Model,
    *,
    workers: int = 1,
    max_pending: float = 1000.0,
    policy: BatchPolicy | None = None,
    devices: Sequence[int] = (0,),
    recycle_after: int | None = None,
) -> AsyncIterator[tuple[Dispatcher, CollectorRegistry]]:
    registry = CollectorRegistry()
    dispatcher = Dispatcher(
        EngineConfig(kind="scripted", workers=workers),
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


async def test_a_short_request_waits_for_one_batch_of_a_long_one_only() -> None:
    model = Model()
    async with dispatching(model) as (dispatcher, _):
        ask(dispatcher, "long", *[30] * 5)
        short = ask(dispatcher, "short", 5)
        await model.until(1)
        await model.answer()
        assert model.names() == ["short0"]
        await model.answer()
        assert await results(short) == [0]
        for _ in range(4):
            await model.answer()
        assert model.log == ["long0", "short0", "long1", "long2", "long3", "long4"]


async def test_requests_take_turns() -> None:
    model = Model()
    async with dispatching(model) as (dispatcher, _):
        for name in "abc":
            ask(dispatcher, name, 30, 30)
        await model.until(1)
        for _ in range(6):
            await model.answer()
        assert model.log == ["a0", "b0", "c0", "a1", "b1", "c1"]


async def test_results_come_in_window_order_whatever_order_they_finish_in() -> None:
    model = Model()
    async with dispatching(model, workers=3) as (dispatcher, _):
        decoding = ask(dispatcher, "a", 30, 30, 30)
        await model.until(3)
        for name in ("a2", "a0", "a1"):
            await model.answer(name)
        assert await results(decoding) == [0, 1, 2]


async def test_the_first_window_decides_the_language_of_the_rest() -> None:
    model = Model()
    async with dispatching(model, workers=2) as (dispatcher, _):
        decoding = ask(dispatcher, "a", 30, 30, 30, language=None)
        await model.until(1)
        assert model.names() == ["a0"]
        await model.answer(language="ko")
        assert [batch[0].options.language for batch, _, _ in model.running] == ["ko", "ko"]
        await model.answer()
        await model.answer()
        assert [result.language async for result in decoding] == ["ko", "ko", "ko"]


async def test_over_the_backlog_is_refused_with_the_time_to_come_back() -> None:
    model = Model()
    async with dispatching(model, max_pending=60) as (dispatcher, registry):
        huge = ask(dispatcher, "huge", *[30] * 4)
        assert registry.get_sample_value("lexicue_queue_audio_seconds") == 120
        with pytest.raises(Overloaded) as refused:
            ask(dispatcher, "late", 10)
        assert refused.value.retry_after >= 1
        huge.cancel()
        assert registry.get_sample_value("lexicue_queue_audio_seconds") == 0
        assert not ask(dispatcher, "next", 10).finished


async def test_cancelled_requests_cost_no_more_windows_and_the_others_finish() -> None:
    model = Model()
    async with dispatching(model) as (dispatcher, _):
        decodings = [ask(dispatcher, f"r{number}/", 5, 5) for number in range(40)]
        await model.until(1)
        for decoding in decodings[::2]:
            decoding.cancel()
        while model.running:
            await model.answer()
        for decoding in decodings[1::2]:
            assert await results(decoding) == [0, 1]
        assert sorted(set(model.log)) == sorted(["r0/0", *[f"r{n}/{w}" for n in range(1, 40, 2) for w in (0, 1)]])
        assert dispatcher.pending_seconds == 0


async def test_an_overdue_request_ends_with_its_error_and_frees_the_model() -> None:
    model = Model()
    async with dispatching(model) as (dispatcher, _):
        late = ask(dispatcher, "late", 30, 30, deadline=0)
        with pytest.raises(DeadlineExceeded):
            await results(late)
        other = ask(dispatcher, "other", 5)
        await model.until(1)
        await model.answer("late0")
        await model.answer("other0")
        assert await results(other) == [0]
        assert model.log == ["late0", "other0"]


async def test_stop_refuses_new_work_and_finishes_what_was_admitted() -> None:
    model = Model()
    async with dispatching(model) as (dispatcher, _):
        decoding = ask(dispatcher, "a", 30, 30)
        await model.until(1)
        stopping = asyncio.create_task(dispatcher.stop(60))
        await _settle()
        assert not dispatcher.ready
        with pytest.raises(NotReady):
            ask(dispatcher, "b", 5)
        await model.answer()
        await model.answer()
        await stopping
        assert await results(decoding) == [0, 1]


async def test_stop_fails_what_is_not_done_in_time() -> None:
    model = Model()
    async with dispatching(model) as (dispatcher, _):
        decoding = ask(dispatcher, "a", 30, 30)
        await model.until(1)
        await dispatcher.stop(0)
        with pytest.raises(NotReady):
            await results(decoding)


async def test_a_request_without_windows_is_done_at_once() -> None:
    async with dispatching(Model()) as (dispatcher, _):
        assert await results(ask(dispatcher, "silent")) == []
        assert dispatcher.pending_seconds == 0


async def test_windows_of_a_process_that_died_are_decoded_again() -> None:
    model = Model()
    async with dispatching(model, workers=2) as (dispatcher, registry):
        decodings = [ask(dispatcher, name, 5, 5) for name in ("a", "b")]
        for _ in range(3):
            await model.until(2 if not model.log and model.starts == 1 else 1)
            model.running[0][2].die()
            assert not dispatcher.ready
            await _settle()
            assert dispatcher.ready
        while model.running:
            await model.answer()
        assert [await results(decoding) for decoding in decodings] == [[0, 1], [0, 1]]
        assert registry.get_sample_value("lexicue_worker_restarts_total") == 3
        assert dispatcher.healthy


async def test_a_dead_process_whose_end_is_told_late_gets_no_second_batch_and_is_one_death() -> None:
    model = Model()
    async with dispatching(model) as (dispatcher, registry):
        decoding = ask(dispatcher, "a", 5, 5)
        await model.until(1)
        dead = model.running[0][2]
        dead.die(exited=False)
        await model.until_busy()
        assert model.running[0][2] is not dead
        dead.on_exit()
        while model.running:
            await model.answer()
        assert await results(decoding) == [0, 1]
        assert decoding.deaths == {0: 1}
        assert registry.get_sample_value("lexicue_worker_restarts_total") == 1


async def test_a_window_that_kills_its_process_fails_alone() -> None:
    model = Model()
    async with dispatching(model, workers=2) as (dispatcher, _):
        poison = ask(dispatcher, "poison", 5)
        good = ask(dispatcher, "good", 5)
        await model.until(2)
        while not poison.finished:
            if "poison0" in model.names():
                next(worker for batch, _, worker in model.running if batch[0].request_id == "poison").die()
            else:
                await model.answer()
            await _settle()
        with pytest.raises(InternalError):
            await results(poison)
        while model.running:
            await model.answer()
        assert await results(good) == [0]
        assert model.starts == 1 + MAX_DEATHS_A_WINDOW
        assert dispatcher.healthy


async def test_a_process_that_does_not_start_again_fails_liveness_and_answers_everybody() -> None:
    model = Model()
    async with dispatching(model) as (dispatcher, registry):
        decoding = ask(dispatcher, "a", 5)
        await model.until(1)
        model.may_start = False
        model.running[0][2].die()
        with pytest.raises(NotReady):
            await results(decoding)
        assert not dispatcher.healthy
        assert not dispatcher.ready
        assert registry.get_sample_value("lexicue_worker_up", {"device": "0"}) == 0
        with pytest.raises(NotReady):
            ask(dispatcher, "b", 5)


async def test_a_model_that_cannot_be_loaded_is_a_failed_start_with_the_reason() -> None:
    model = Model()
    model.may_start = False
    with pytest.raises(NotReady, match="no memory"):
        async with dispatching(model):
            pass


async def test_an_engine_fault_ends_its_own_request_only() -> None:
    model = Model()
    async with dispatching(model) as (dispatcher, _):
        bad, good = ask(dispatcher, "bad", 5), ask(dispatcher, "good", 5)
        await model.until(1)
        model.running.pop(0)[1].set_exception(DecodeFailed("RuntimeError: position 448"))
        await model.until(1)
        await model.answer("good0")
        with pytest.raises(InternalError) as failure:
            await results(bad)
        assert "448" not in failure.value.message
        assert await results(good) == [0]


async def test_a_fault_that_nobody_foresaw_still_answers_who_waits() -> None:
    """A connection closed under a message being sent raised a TypeError, and its request waited for ever."""
    model = Model()
    async with dispatching(model) as (dispatcher, _):
        decoding = ask(dispatcher, "a", 30)
        await model.until(1)
        model.running.pop()[1].set_exception(TypeError("closed"))
        with pytest.raises(InternalError):
            await results(decoding)


async def test_devices_share_the_work_and_one_that_dies_leaves_the_other_working() -> None:
    model = Model()
    async with dispatching(model, devices=(0, 1)) as (dispatcher, _):
        decoding = ask(dispatcher, "a", 30, 30, 30)
        await model.until(2)
        assert model.running[0][2] is not model.running[1][2]
        model.running[0][2].die()
        assert dispatcher.ready
        await _settle()
        while model.running:
            await model.answer()
        assert await results(decoding) == [0, 1, 2]


async def test_a_process_is_replaced_after_its_number_of_windows_and_no_request_notices() -> None:
    model = Model()
    async with dispatching(model, workers=2, recycle_after=4) as (dispatcher, _):
        decoding = ask(dispatcher, "a", *[5] * 10)
        while not decoding.finished:
            await model.until_busy()
            await model.answer()
        assert await results(decoding) == list(range(10))
        assert model.starts == 3
        assert dispatcher.healthy


@pytest.mark.parametrize(("scope", "expected"), [("request", [["a0", "a1"]]), ("shared", [["a0", "a1", "b0"]])])
async def test_only_the_shared_scope_puts_requests_into_one_batch(scope: str, expected: list[list[str]]) -> None:
    model = Model()
    policy = BatchPolicy(max_windows=3, scope=scope)  # type: ignore[arg-type]
    async with dispatching(model, policy=policy) as (dispatcher, _):
        first = ask(dispatcher, "first", 5)
        ask(dispatcher, "a", 5, 5)
        ask(dispatcher, "b", 5, 5)
        await model.until(1)
        await model.answer("first0")
        assert await results(first) == [0]
        assert [[_name(window) for window in batch] for batch, _, _ in model.running] == expected


async def test_a_language_or_task_that_the_model_does_not_know_is_refused_before_it_queues() -> None:
    async with dispatching(Model(frozenset({"en"}))) as (dispatcher, _):
        with pytest.raises(InvalidRequest, match="knows: en") as refused:
            ask(dispatcher, "a", 5, language="ko")
        assert refused.value.code == "language_not_supported"
        with pytest.raises(InvalidRequest) as refused:
            dispatcher.submit("a", speech(5), PromptSet(), DecodeOptions(task=Task.TRANSLATE))
        assert refused.value.code == "task_not_supported"
        assert dispatcher.pending_seconds == 0


async def test_every_waiter_gets_an_answer_when_all_is_lost_at_once() -> None:
    model = Model()
    async with dispatching(model, workers=2) as (dispatcher, _):
        decodings = [ask(dispatcher, f"r{number}", 5, 5, language=None) for number in range(10)]
        await model.until(2)
        await dispatcher.stop(0)
        outcomes = await asyncio.gather(*map(results, decodings), return_exceptions=True)
        assert all(isinstance(outcome, LexicueError) for outcome in outcomes)
