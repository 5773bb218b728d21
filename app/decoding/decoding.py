"""One request inside the queue. In: its windows. Out: results in window order, or one error. Event loop thread."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

from app.audio.waveform import SAMPLE_RATE
from app.decoding.request import WindowRequest, WindowResult
from app.errors import LexicueError


class Decoding:
    """Iterate it for the results; every iteration ends: with the last result or with the request's error.

    `deaths` counts, by window, how often the model died under it. `queue` holds the windows that may be decoded now:
    all of them, or only the first while the language is unknown.
    """

    def __init__(
        self, request_id: str, windows: Sequence[WindowRequest], admitted_at: float, on_cancel: Callable[[], None]
    ) -> None:
        self.request_id = request_id
        self.admitted_at = admitted_at
        self.queue: deque[WindowRequest] = deque(windows)
        self._held: list[WindowRequest] = []
        if windows and windows[0].options.language is None:
            self._held = list(windows[1:])
            self.queue = deque(windows[:1])
        self.unfinished_seconds = sum(len(window.samples) for window in windows) / SAMPLE_RATE
        self.error: LexicueError | None = None
        self.deaths: Counter[int] = Counter()
        self._left = len(windows)
        self._results: dict[int, WindowResult] = {}
        self._next = 0
        self._total = len(windows)
        self._changed = asyncio.Event()
        self._on_cancel = on_cancel

    @property
    def finished(self) -> bool:
        """True when nothing of it must be decoded any more."""
        return self._left == 0 or self.error is not None

    def add(self, window: WindowRequest, result: WindowResult) -> None:
        """Take a result; the first one of a request without language releases the others in that language."""
        if self.finished or result.index in self._results:
            return
        self._results[result.index] = result
        self._left -= 1
        self.unfinished_seconds -= len(window.samples) / SAMPLE_RATE
        if self._held:
            options = replace(window.options, language=result.language)
            self.queue.extend(replace(held, options=options) for held in self._held)
            self._held = []
        self._changed.set()

    def fail(self, error: LexicueError) -> None:
        if not self.finished:
            self.error = error
            self.queue.clear()
            self._held = []
            self.unfinished_seconds = 0.0
            self._changed.set()

    def cancel(self) -> None:
        """Drop what is not decoded yet; what is running is finished and thrown away."""
        self._on_cancel()

    async def __aiter__(self) -> AsyncIterator[WindowResult]:
        while self._next < self._total:
            while self._next not in self._results:
                if self.error is not None:
                    raise self.error
                self._changed.clear()
                await self._changed.wait()
            self._next += 1
            yield self._results.pop(self._next - 1)
