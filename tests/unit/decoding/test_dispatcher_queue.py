"""The queue with a model that answers when told to: turns, admission, cancelling, deadlines, drain."""

import asyncio

import pytest
from fake_model import Model, ask, dispatching, name_of, results, settle, speech

from app.decoding.batching import BatchPolicy
from app.decoding.request import DecodeOptions, PromptSet, Task
from app.errors import DeadlineExceeded, InvalidRequest, NotReady, Overloaded


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
        await settle()
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
        assert [[name_of(window) for window in batch] for batch, _, _ in model.running] == expected


async def test_a_language_or_task_that_the_model_does_not_know_is_refused_before_it_queues() -> None:
    async with dispatching(Model(frozenset({"en"}))) as (dispatcher, _):
        with pytest.raises(InvalidRequest, match="knows: en") as refused:
            ask(dispatcher, "a", 5, language="ko")
        assert refused.value.code == "language_not_supported"
        with pytest.raises(InvalidRequest) as refused:
            dispatcher.submit("a", speech(5), PromptSet(), DecodeOptions(task=Task.TRANSLATE))
        assert refused.value.code == "task_not_supported"
        assert dispatcher.pending_seconds == 0


async def test_a_short_request_goes_on_the_spare_thread_while_one_other_holds_all() -> None:
    model = Model()
    async with dispatching(model, workers=2, spare_workers=1) as (dispatcher, _):
        ask(dispatcher, "long", *[30] * 6)
        await model.until(2)
        short = ask(dispatcher, "short", 5)
        await model.until(3)
        assert model.names() == ["long0", "long1", "short0"]
        late = ask(dispatcher, "late", 5)
        await settle()
        assert model.names() == ["long0", "long1", "short0"]
        await model.answer("short0")
        assert await results(short) == [0]
        assert model.names() == ["long0", "long1", "late0"]
        await model.answer("long0")
        assert model.names() == ["long1", "late0"]
        await model.answer("late0")
        assert await results(late) == [0]
        assert model.names() == ["long1", "long2"]


async def test_the_spare_thread_is_for_nobody_while_several_requests_are_on_the_model() -> None:
    model = Model()
    async with dispatching(model, workers=2, spare_workers=1) as (dispatcher, _):
        for name in "abc":
            ask(dispatcher, name, 30)
        await model.until(2)
        await settle()
        assert model.names() == ["a0", "b0"]
