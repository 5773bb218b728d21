"""Bounds on clients that send. In: request bodies as they arrive. Out: the same, or 429 when too many arrive at once
and 408 when one crawls. Pure ASGI, event loop thread."""

import asyncio
import math
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.error_handlers import error_response
from app.api.middleware import let_finish
from app.errors import LexicueError, Overloaded, RequestTimeout

_WITH_BODY = {"POST", "PUT", "PATCH"}


class UploadLimits:
    """At most `max_uploads` bodies at once. A body may stand still for `stall_seconds`, and must come at
    `min_bytes_per_second` over all after that; only time spent waiting for the client counts."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        max_uploads: int,
        stall_seconds: float,
        min_bytes_per_second: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._max_uploads = max_uploads
        self._stall_seconds = stall_seconds
        self._min_rate = min_bytes_per_second
        self._clock = clock
        self._arriving = 0
        self._usual_seconds = 1.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in _WITH_BODY:
            await self._app(scope, receive, send)
        elif self._arriving >= self._max_uploads:
            wait = max(1, math.ceil(self._usual_seconds / self._max_uploads))
            await let_finish(scope, receive)
            await _refuse(Overloaded("Too many uploads at once; try again.", retry_after=wait), scope, receive, send)
        else:
            await self._watched(scope, receive, send)

    async def _watched(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = _Body(receive, self._stall_seconds, self._min_rate, self._clock)
        begun, self._arriving = self._clock(), self._arriving + 1

        def ended() -> None:
            self._arriving -= 1
            self._usual_seconds = 0.8 * self._usual_seconds + 0.2 * (self._clock() - begun)

        body.on_end = ended

        async def guarded(message: Message) -> None:
            if not body.crawled:
                await send(message)

        try:
            await self._app(scope, body.receive, guarded)
        except Exception:
            if not body.crawled:
                raise
        finally:
            body.end()
        if body.crawled:
            late = RequestTimeout("The upload stood still or came too slowly; send it again.", code="upload_too_slow")
            await _refuse(late, scope, receive, send)


class _Body:
    """One body on its way. `crawled`: it was given up; the route saw its client leave."""

    def __init__(self, receive: Receive, stall_seconds: float, min_rate: int, clock: Callable[[], float]) -> None:
        self._receive = receive
        self._stall_seconds = stall_seconds
        self._min_rate = min_rate
        self._clock = clock
        self._seen = 0
        self._waited = 0.0
        self._ended = False
        self.crawled = False
        self.on_end: Callable[[], None] = lambda: None

    async def receive(self) -> Message:
        if self._ended:
            return await self._receive()  # waits for the client to leave, as long as it likes
        begun = self._clock()
        patience = min(self._stall_seconds, self._stall_seconds + self._seen / self._min_rate - self._waited)
        try:
            message = await asyncio.wait_for(self._receive(), max(patience, 0))
        except TimeoutError:
            self.crawled = True
            self.end()
            return {"type": "http.disconnect"}
        self._waited += self._clock() - begun
        self._seen += len(message.get("body", b""))
        if not message.get("more_body", False):
            self.end()
        return message

    def end(self) -> None:
        if not self._ended:
            self._ended = True
            self.on_end()


async def _refuse(error: LexicueError, scope: Scope, receive: Receive, send: Send) -> None:
    response = error_response(error)
    response.headers["Connection"] = "close"
    await response(scope, receive, send)
