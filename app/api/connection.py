"""Bounds on one connection, below the routes. In: bytes that may be HTTP. Out: requests; what is none, has too long
headers or comes too slowly is refused in the same envelope, and who reads no answer is let go. Event loop thread."""

import asyncio
import json
import uuid
from dataclasses import dataclass
from http import HTTPStatus
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.api.error_handlers import error_body
from app.errors import HeadersTooLarge, InvalidRequest, LexicueError, RequestTimeout
from app.telemetry import logger

log = logger("app.access")

# Enough for a client to read a refusal before its connection ends under what it still sends.
_LINGER_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """`max_header_bytes`: request line and headers together. `stall_seconds`: for the headers to arrive, and for an
    answer that the client has stopped reading."""

    max_header_bytes: int = 32 * 1024
    max_headers: int = 200
    stall_seconds: float = 20.0


class BoundedProtocol(HttpToolsProtocol):
    """The server's HTTP, with limits; `bounded` makes the class for given ones."""

    limits: ClassVar = ConnectionLimits()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as the server has it
        super().connection_made(transport)
        self._refused: LexicueError | None = None
        self._in_headers = False
        self._partial_bytes = self._header_bytes = self._header_count = 0
        self._header_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._header_timer, self._write_timer):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused is not None:
            return
        were_in_headers = self._in_headers
        super().data_received(data)
        # A header without an end never reaches on_header. What came together with the end of a request before is not
        # counted: it may be that one's body.
        if self._in_headers and (were_in_headers or self.cycle is None):
            self._partial_bytes += len(data)
            if self._partial_bytes > self.limits.max_header_bytes:
                self._refuse(self._too_large())

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_headers = True
        self._partial_bytes = self._header_bytes = self._header_count = 0
        self._await_headers()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._header_count += 1
        self._count(len(name) + len(value))

    def on_headers_complete(self) -> None:
        self._in_headers = False
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Called by the server for what its parser refuses; `_count` refuses through the parser too."""
        if self._header_count > self.limits.max_headers or self._header_bytes > self.limits.max_header_bytes:
            self._refuse(self._too_large())
        else:
            self._refuse(InvalidRequest("That is no valid HTTP request.", code="invalid_http"))

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self.limits.stall_seconds, self._let_go)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        if self._write_timer is None:  # the last bytes of an answer may still wait to be read
            self._write_timer = self.loop.call_later(self.limits.stall_seconds, self._let_go)

    def _let_go(self) -> None:
        log.info("connection ended: its answer is not read", seconds=self.limits.stall_seconds)
        if self.cycle is not None:
            self.cycle.disconnected = True  # an answer written before connection_lost is told would be a fault of ours
        self.transport.abort()

    def _await_headers(self) -> None:
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(self.limits.stall_seconds, self._headers_are_late)

    def _headers_are_late(self) -> None:
        self._header_timer = None
        if self.pipeline or (self.cycle is not None and not self.cycle.response_complete):
            self._await_headers()  # reading stands still while an earlier request is answered
        elif self._in_headers:
            self._refuse(RequestTimeout("The request came too slowly.", code="request_too_slow"))
        else:
            self.transport.close()

    def _count(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > self.limits.max_header_bytes or self._header_count > self.limits.max_headers:
            raise ValueError  # ends parsing; the server calls send_400_response

    def _too_large(self) -> HeadersTooLarge:
        return HeadersTooLarge(
            f"The request line and headers are over {self.limits.max_header_bytes} bytes or {self.limits.max_headers} "
            "headers; send long options in the form."
        )

    def _refuse(self, error: LexicueError) -> None:
        self._refused = error
        if self._header_timer is not None:
            self._header_timer.cancel()
        log.info("request", route="unparsed", status=error.status, code=error.code)
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(_refusal(error))
        self.loop.call_later(_LINGER_SECONDS, self.transport.close)


def bounded(limits: ConnectionLimits) -> type[BoundedProtocol]:
    """A protocol class of these limits; the server makes one object of it a connection."""

    class Protocol(BoundedProtocol):
        pass

    Protocol.limits = limits
    return Protocol


def _refusal(error: LexicueError) -> bytes:
    body = json.dumps(error_body(error)).encode()
    head = (
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        f"x-request-id: {uuid.uuid4().hex}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body
