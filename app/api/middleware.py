"""What holds for every request: an id in and out, a bound on the body, one log line, two metrics. Pure ASGI, event
loop thread."""

import asyncio
import contextlib
import re
import time
import uuid

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.error_handlers import error_response
from app.errors import InternalError, TooLarge
from app.telemetry import Telemetry, logger, request_facts_var, request_id_var
from app.tracing import OFF

log = logger("app.access")

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_CLIENT_CLOSED = 499
_DRAINED_BYTES = 16 * 1024 * 1024
_DRAINED_SECONDS = 5.0
_QUIET = {"/livez", "/readyz", "/health", "/metrics"}


class RequestContext:
    """Gives every request an id (the caller's `X-Request-Id` if it is sane), counts it and logs its outcome."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app = app
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        facts: dict[str, object] = {}
        tokens = request_id_var.set(request_id), request_facts_var.set(facts)
        start = time.perf_counter()
        status = _CLIENT_CLOSED
        answering = complete = False

        async def send_with_id(message: Message) -> None:
            nonlocal status, answering, complete
            if message["type"] == "http.response.start":
                status, answering = message["status"], True
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            else:
                complete = not message.get("more_body", False)
            await send(message)

        tracing = OFF if scope["path"] in _QUIET else self._telemetry.tracing
        with self._telemetry.in_flight.track_inprogress(), tracing.request(scope["headers"], facts):
            try:
                await self._app(scope, receive, send_with_id)
            except ClientDisconnect:
                log.debug("client left while sending")
            except Exception as error:
                log.exception("unexpected error", error=type(error).__name__)
                if answering:
                    raise
                fault = InternalError("Something went wrong here; the request id finds it in the log.")
                await error_response(fault)(scope, receive, send_with_id)
            finally:
                # An answer that was begun and not ended: whoever asked left in the middle of it.
                self._account(scope, status if complete else _CLIENT_CLOSED, time.perf_counter() - start, facts)
                request_id_var.reset(tokens[0])
                request_facts_var.reset(tokens[1])

    def _account(self, scope: Scope, status: int, seconds: float, facts: dict[str, object]) -> None:
        """Counts, and the one line that the log has of a request, with what the stations noted."""
        route = getattr(scope.get("route"), "path", "unmatched")
        facts.update(
            method=scope["method"],
            route=route,
            status=status,
            outcome=self._telemetry.request_ended(route, status, seconds),
            actor=scope.get("state", {}).get("actor", "anonymous"),
            seconds=round(seconds, 4),
        )
        level = log.debug if route in _QUIET else log.info
        level("request", **facts)


class BodyLimit:
    """Answers 413 as soon as a body passes `max_bytes`, whatever its Content-Length says."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > self._max_bytes:
            await self._refuse(scope, receive, send)
            return
        seen = 0
        over = ended = False

        async def counted() -> Message:
            nonlocal seen, over, ended
            message = await receive()
            ended = not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > self._max_bytes:
                over = True
                return {"type": "http.disconnect"}
            return message

        async def guarded(message: Message) -> None:
            if not over:
                await send(message)

        try:
            await self._app(scope, counted, guarded)
        except Exception:
            if not over:
                raise
        if over:
            await self._refuse(scope, receive, send, ended=ended)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, *, ended: bool = False) -> None:
        if not ended:
            await let_finish(scope, receive)
        error = TooLarge(
            f"The upload is over the limit of {self._max_bytes} bytes; send a compressed format or split it.",
            param="file",
            code="upload_too_large",
        )
        await error_response(error)(scope, receive, send)


async def let_finish(scope: Scope, receive: Receive) -> None:
    """Read on for a while before a refusal: a client that is still sending when the connection is closed never sees
    it. One that asked whether to send at all is not told to go on."""
    if b"expect" in dict(scope["headers"]):
        return
    left = _DRAINED_BYTES
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAINED_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _request_id(scope: Scope) -> str:
    given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
