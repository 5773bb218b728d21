"""One request inside the queue. In: its windows. Out: results in window order, or one error. Event loop thread."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace

from app.audio.waveform import SAMPLE_RATE
from app.decoding.request import SecondLook, WindowRequest, WindowResult
from app.errors import InternalError, LexicueError
from app.telemetry import logger

log = logger(__name__)

# Given the first result of a window: what else it may have been, or None to leave it as it is.
FollowUp = Callable[[WindowResult], Awaitable[SecondLook | None]]


class Decoding:
    """Iterate it for the results; every iteration ends: with the last result or with the request's error.

    `queue` holds the windows that may be decoded now: all of them, or only the first while the language is unknown.
    `deaths` counts, by window index, the batches with the window that the model died of or failed on; `timer` is the
    deadline. `turn`: the lowest is served next; a request that arrives joins the turn being served, so that it waits
    for what is on the model and not for the next windows of those who were there before. A window is let go as soon as
    it is decoded, so memory falls while a long recording is worked off. With `follow_up` a window is done when that is
    content with its result or when it has been looked at once more, in this request's turn.
    """

    def __init__(
        self,
        windows: Sequence[WindowRequest],
        admitted_at: float,
        on_end: Callable[["Decoding"], None],
        *,
        turn: int = 0,
        follow_up: FollowUp | None = None,
        on_queued: Callable[[], None] = lambda: None,
    ) -> None:
        self.admitted_at = admitted_at
        self.turn = turn
        self.queue: deque[WindowRequest] = deque(windows)
        self._held: list[WindowRequest] = []
        if windows and windows[0].options.language is None:
            self._held = list(windows[1:])
            self.queue = deque(windows[:1])
        self.unfinished_seconds = sum(map(_seconds, windows))
        self.deaths: Counter[int] = Counter()
        self.error: LexicueError | None = None
        self.timer: asyncio.TimerHandle | None = None
        self._left = len(windows)
        self._results: dict[int, WindowResult] = {}
        self._next = 0
        self._total = len(windows)
        self._changed = asyncio.Event()
        self._on_end = on_end
        self._follow_up = follow_up
        self._on_queued = on_queued
        self._firsts: dict[int, WindowResult] = {}
        self._following: set[asyncio.Task[None]] = set()

    @property
    def finished(self) -> bool:
        """True when nothing of it must be decoded any more."""
        return self._left == 0 or self.error is not None

    def add(self, window: WindowRequest, result: WindowResult) -> None:
        """Take a result; the first one of a request without language releases the others in that language."""
        if self.finished:
            return
        if self._held:
            options = replace(window.options, language=result.language)
            self.queue.extend(replace(held, options=options) for held in self._held)
            self._held = []
        if window.again:
            self._done(window, replace(self._firsts.pop(window.index), again=result))
        elif self._follow_up is None:
            self._done(window, result)
        else:
            following = asyncio.create_task(self._follow(self._follow_up, window, result))
            self._following.add(following)
            following.add_done_callback(self._following.discard)

    async def _follow(self, follow_up: FollowUp, window: WindowRequest, result: WindowResult) -> None:
        try:
            look = await follow_up(result)
        except LexicueError as error:
            self.fail(error)
            return
        except Exception as error:  # whatever it is, whoever waits must be answered
            self.fail(InternalError("Choosing terms failed here; the request id finds it in the log."))
            log.exception("choosing terms failed", error=type(error).__name__)
            return
        if self.finished:
            return
        if look is None:
            self._done(window, result)
            return
        self._firsts[window.index] = result
        options = replace(window.options, language=result.language, word_timestamps=False)
        second = replace(window, options=options, followed=False, prompts=look.prompts, texts=look.texts)
        self.queue.appendleft(replace(second, written=look.written))
        self._on_queued()

    def _done(self, window: WindowRequest, result: WindowResult) -> None:
        self._results[result.index] = result
        self._left -= 1
        self.unfinished_seconds -= _seconds(window)
        self._changed.set()
        if self.finished:
            self._end()

    def fail(self, error: LexicueError) -> None:
        """End it with `error`; nothing happens if it has ended already."""
        if self.finished:
            return
        self.error = error
        self.queue.clear()
        self._held = []
        self._firsts.clear()
        self._changed.set()
        self._end()

    def suspects(self, window: WindowRequest) -> bool:
        """Whether the model has failed while it had this window; only alone can it be blamed or cleared."""
        return self.deaths[window.index] > 0

    def cancel(self) -> None:
        """Drop what is not decoded yet; what is on the model is finished there and thrown away."""
        self.fail(LexicueError("The request was cancelled.", code="cancelled"))

    def _end(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        self._on_end(self)

    async def __aiter__(self) -> AsyncIterator[WindowResult]:
        while self._next < self._total:
            while self._next not in self._results:
                if self.error is not None:
                    raise self.error
                self._changed.clear()
                await self._changed.wait()
            self._next += 1
            yield self._results.pop(self._next - 1)


def _seconds(window: WindowRequest) -> float:
    return len(window.samples) / SAMPLE_RATE
