"""A window that is looked at once more, seen from the request."""

import asyncio

import numpy as np

from app.decoding.decoding import Decoding
from app.decoding.request import (
    ANY_LANGUAGE,
    DecodeOptions,
    Outcome,
    PromptSet,
    SecondLook,
    WindowRequest,
    WindowResult,
)
from app.errors import InternalError, LexicueError

PROMPTS = PromptSet({ANY_LANGUAGE: (7, 8)})
LOOK = SecondLook(PROMPTS, ((1, 2), (3,)), -12.5)


def window(index: int, language: str | None = "en") -> WindowRequest:
    samples = np.zeros(16_000, dtype=np.float32)
    return WindowRequest("r", index, samples, PromptSet(), DecodeOptions(language, word_timestamps=True), followed=True)


def result(index: int, rung: str = "first") -> WindowResult:
    return WindowResult(index, "en", 1.0, Outcome.DECODED, rung)


class Ends:
    def __init__(self) -> None:
        self.ended = 0
        self.queued = asyncio.Event()

    def decoding(self, windows: list[WindowRequest], follow_up: object) -> Decoding:
        return Decoding(windows, 0.0, self._end, follow_up=follow_up, on_queued=self.queued.set)  # type: ignore[arg-type]

    def _end(self, _: Decoding) -> None:
        self.ended += 1


async def test_a_window_is_done_when_it_was_looked_at_again() -> None:
    async def again(first: WindowResult) -> SecondLook | None:
        return LOOK if first.index == 0 else None

    ends = Ends()
    decoding = ends.decoding([window(0), window(1)], again)
    decoding.add(decoding.queue.popleft(), result(0))
    decoding.add(decoding.queue.popleft(), result(1))
    await ends.queued.wait()
    (second,) = decoding.queue
    assert (second.again, second.followed, second.options.word_timestamps) == (True, False, False)
    assert (second.prompts, second.texts, second.written) == (LOOK.prompts, LOOK.texts, LOOK.written)
    assert not decoding.finished
    decoding.queue.popleft()
    decoding.add(second, result(0, "second"))
    results = [done async for done in decoding]
    assert [(done.rung, done.again and done.again.rung) for done in results] == [("first", "second"), ("first", None)]
    assert (ends.ended, decoding.unfinished_seconds) == (1, 0)


async def test_the_second_look_at_one_window_does_not_hold_up_the_others() -> None:
    hold = asyncio.Event()

    async def wait(_: WindowResult) -> SecondLook | None:
        await hold.wait()
        return None

    decoding = Ends().decoding([window(0, None), window(1, None)], wait)
    decoding.add(decoding.queue.popleft(), result(0))
    assert [held.options.language for held in decoding.queue] == ["en"]
    decoding.add(decoding.queue.popleft(), result(1))
    hold.set()
    assert [done.index async for done in decoding] == [0, 1]


async def test_whoever_waits_is_answered_when_choosing_terms_fails() -> None:
    async def fail(_: WindowResult) -> SecondLook | None:
        raise ValueError

    decoding = Ends().decoding([window(0)], fail)
    decoding.add(decoding.queue.popleft(), result(0))
    error = await error_of(decoding)
    assert isinstance(error, InternalError)


async def test_a_request_that_is_cancelled_is_not_looked_at_again() -> None:
    chosen = asyncio.Event()

    async def again(_: WindowResult) -> SecondLook | None:
        await chosen.wait()
        return LOOK

    ends = Ends()
    decoding = ends.decoding([window(0)], again)
    decoding.add(decoding.queue.popleft(), result(0))
    decoding.cancel()
    chosen.set()
    assert (await error_of(decoding)).code == "cancelled"
    await asyncio.gather(*decoding._following)
    assert not decoding.queue
    assert not ends.queued.is_set()


async def error_of(decoding: Decoding) -> LexicueError:
    try:
        async for _ in decoding:
            pass
    except LexicueError as error:
        return error
    raise AssertionError("no error")
