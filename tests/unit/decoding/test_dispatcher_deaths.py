"""The queue when the model fails, dies, does not start or is replaced: nobody who waits goes without an answer."""

import asyncio

import pytest
from fake_model import FakeWorker, Model, ask, dispatching, results, settle

from app.decoding import supervisor
from app.decoding.batching import BatchPolicy
from app.decoding.dispatcher import MAX_DEATHS_A_WINDOW
from app.decoding.engine import Greeting
from app.decoding.supervisor import MAX_DEATHS
from app.decoding.worker import DecodeFailed
from app.errors import InternalError, LexicueError, NotReady


async def test_windows_of_a_process_that_died_are_decoded_again() -> None:
    model = Model()
    async with dispatching(model, workers=2) as (dispatcher, registry):
        decodings = [ask(dispatcher, name, 5, 5) for name in ("a", "b")]
        for _ in range(3):
            await model.until(2 if not model.log and model.starts == 1 else 1)
            model.running[0][2].die()
            assert not dispatcher.ready
            await settle()
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
            await settle()
        with pytest.raises(InternalError):
            await results(poison)
        while model.running:
            await model.answer()
        assert await results(good) == [0]
        assert model.starts == 1 + MAX_DEATHS_A_WINDOW
        assert dispatcher.healthy


async def test_a_bad_recording_that_is_sent_twice_does_not_take_the_service_down() -> None:
    model = Model()
    async with dispatching(model) as (dispatcher, _):
        for attempt in range(1, MAX_DEATHS + 2):
            poison = ask(dispatcher, f"poison{attempt}", 5)
            while not poison.finished:
                await settle()
                if model.running:
                    model.running[0][2].die()
            assert isinstance(poison.error, InternalError if attempt <= MAX_DEATHS else NotReady)
            assert dispatcher.healthy == (attempt <= MAX_DEATHS)


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
    with pytest.raises(NotReady, match=r"no memory.*LEXICUE_MODEL.*LEXICUE_COMPUTE_TYPE"):
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


async def test_a_window_that_the_engine_fails_on_costs_nobody_else_in_its_batch_the_answer() -> None:
    model = Model()
    policy = BatchPolicy(max_windows=3, scope="shared")
    async with dispatching(model, policy=policy) as (dispatcher, _):
        held = ask(dispatcher, "held", 5)
        decodings = {name: ask(dispatcher, name, 5) for name in ("good", "bad", "fine")}
        await model.until(1)
        await model.answer("held0")
        assert await results(held) == [0]
        assert model.names() == ["good0", "bad0", "fine0"]
        while model.running:
            if "bad0" in model.names():
                model.running.pop(0)[1].set_exception(DecodeFailed("RuntimeError: no number"))
                await settle()
            else:
                await model.answer()
        with pytest.raises(InternalError):
            await results(decodings["bad"])
        assert [await results(decodings[name]) for name in ("good", "fine")] == [[0], [0]]
        assert model.starts == 1


async def test_a_process_that_hangs_while_it_starts_again_fails_liveness(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model()
    async with dispatching(model) as (dispatcher, _):
        decoding = ask(dispatcher, "a", 5)
        await model.until(1)
        monkeypatch.setattr(FakeWorker, "start", never)
        monkeypatch.setattr(supervisor, "STALLED_SECONDS", 0)
        model.running[0][2].die()
        with pytest.raises(NotReady, match="needs a restart"):
            await results(decoding)
        assert not dispatcher.healthy


async def never(worker: FakeWorker) -> Greeting:
    await asyncio.Event().wait()
    raise AssertionError


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
        await settle()
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


async def test_every_waiter_gets_an_answer_when_all_is_lost_at_once() -> None:
    model = Model()
    async with dispatching(model, workers=2) as (dispatcher, _):
        decodings = [ask(dispatcher, f"r{number}", 5, 5, language=None) for number in range(10)]
        await model.until(2)
        await dispatcher.stop(0)
        outcomes = await asyncio.gather(*map(results, decodings), return_exceptions=True)
        assert all(isinstance(outcome, LexicueError) for outcome in outcomes)
