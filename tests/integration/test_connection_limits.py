"""Bad and slow clients on a real socket: each gets its answer in the envelope and none holds the server."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from app.api.connection import ConnectionLimits, bounded
from app.api.error_handlers import install_error_handlers
from app.api.middleware import RequestContext
from app.api.upload_limits import UploadLimits
from app.telemetry import Telemetry

PATIENT, IMPATIENT = 60.0, 0.5

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Service:
    """A server of a few lines; `arrived` is set when the first byte of a body is there."""

    def __init__(self, stall_seconds: float) -> None:
        self.limits = ConnectionLimits(max_header_bytes=4096, max_headers=50, stall_seconds=stall_seconds)
        self.arrived = asyncio.Event()
        self.telemetry = Telemetry(version="test")
        app = FastAPI()
        app.add_middleware(UploadLimits, max_uploads=2, stall_seconds=stall_seconds, min_bytes_per_second=100_000)
        app.add_middleware(RequestContext, telemetry=self.telemetry)
        install_error_handlers(app)

        @app.post("/count")
        async def count(request: Request) -> int:
            seen = 0
            async for chunk in request.stream():
                seen += len(chunk)
                self.arrived.set()
            return seen

        @app.get("/large")
        async def large() -> StreamingResponse:
            return StreamingResponse(b"x" * 65536 for _ in range(1000))

        self.app = app

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[int]:
        config = uvicorn.Config(
            self.app, port=0, http=bounded(self.limits), ws="none", log_config=None, timeout_graceful_shutdown=9
        )
        server = uvicorn.Server(config)
        config.load()
        server.lifespan = config.lifespan_class(config)
        await server.startup()
        port = server.servers[0].sockets[0].getsockname()[1]
        ticking = asyncio.create_task(server.main_loop())
        try:
            yield port
        finally:
            server.should_exit = True
            await ticking
            await server.shutdown()


@pytest.fixture
async def service() -> Service:
    return Service(PATIENT)


@pytest.fixture
async def impatient() -> Service:
    """Ends whoever stands still for half a second."""
    return Service(IMPATIENT)


async def talk(port: int, *data: bytes) -> tuple[int, Any]:
    """Status and JSON of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for part in data:
        writer.write(part)
        with contextlib.suppress(ConnectionError):
            await writer.drain()
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    body = await reader.readexactly(int(head.partition("content-length: ")[2].split()[0]))
    writer.close()
    return int(head.split()[1]), json.loads(body)


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (b"\x16\x03\x01 this is TLS\r\n\r\n", 400, "invalid_http"),
        (b"GET /count HTTP/1.1\r\nHo st: x\r\n\r\n", 400, "invalid_http"),
        (b"GET /count HTTP/1.1\r\nHost: x\r\nX: \x01\r\n\r\n", 400, "invalid_http"),
        (b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431, "headers_too_large"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 5000 + b"\r\n\r\n", 431, "headers_too_large"),
        (b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: a\r\n" % n for n in range(60)) + b"\r\n", 431, "headers_too_large"),
    ],
    ids=["tls", "bad-name", "bad-value", "long-address", "long-header", "many-headers"],
)
async def test_what_is_no_request_is_refused_in_the_envelope(
    service: Service, data: bytes, status: int, code: str
) -> None:
    async with service.running() as port:
        got, body = await talk(port, data)
    assert (got, body["error"]["code"]) == (status, code)
    assert set(body["error"]) == {"message", "type", "param", "code"}


async def test_a_header_without_an_end_is_not_collected(service: Service) -> None:
    async with service.running() as port:
        status, body = await talk(port, b"GET / HTTP/1.1\r\nX: ", *(b"a" * 3000 for _ in range(30)))
    assert (status, body["error"]["code"]) == (431, "headers_too_large")


async def test_a_request_without_an_end_is_ended(impatient: Service) -> None:
    async with impatient.running() as port:
        status, body = await talk(port, b"GET / HTTP/1.1\r\nHost: x")
    assert (status, body["error"]["code"]) == (408, "request_too_slow")


async def test_a_connection_that_says_nothing_is_ended(impatient: Service) -> None:
    async with impatient.running() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        writer.close()


async def test_an_upload_that_stands_still_is_ended_and_the_next_one_served(impatient: Service) -> None:
    async with impatient.running() as port:
        head = b"POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
        status, body = await talk(port, head, b"some of it")
        assert (status, body["error"]["code"]) == (408, "upload_too_slow")
        whole = b"POST /count HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\nfour"
        assert await talk(port, whole) == (200, 4)


async def test_an_upload_that_crawls_is_ended_though_it_never_stops(impatient: Service) -> None:
    async def crawl(writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(b"1\r\nx\r\n")
                await writer.drain()
                await asyncio.wait({asyncio.create_task(asyncio.Event().wait())}, timeout=0.05)

    async with impatient.running() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        crawling = asyncio.create_task(crawl(writer))
        answer = await reader.readuntil(b"}}")
        crawling.cancel()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 408 ")


async def test_uploads_beyond_the_bound_are_told_when_to_come_back(service: Service) -> None:
    head = b"POST /count HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\n"
    async with service.running() as port:
        held: list[Connection] = []
        for _ in range(2):
            held.append(await asyncio.open_connection("127.0.0.1", port))
            service.arrived.clear()
            held[-1][1].write(head + b"f")
            await service.arrived.wait()
        status, body = await talk(port, head + b"four")
        assert (status, body["error"]["code"]) == (429, "overloaded")
        assert body["error"]["details"]["retry_after"] >= 1
        for reader, writer in held:
            writer.write(b"our")
            assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
            writer.close()
        assert await talk(port, head + b"four") == (200, 4)


async def test_a_reader_that_stops_does_not_hold_the_server(impatient: Service) -> None:
    async with impatient.running() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.write(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readexactly(1024)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        assert await talk(port, b"POST /count HTTP/1.1\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx") == (200, 1)
    # The server has stopped, which it does when the last connection has ended.
    writer.close()
    ended = impatient.telemetry.registry.get_sample_value(
        "lexicue_requests_total", {"route": "/large", "outcome": "client_closed"}
    )
    assert ended == 1
