"""What holds for every request, on an application of a few lines: ids, outcomes, faults, bounds."""

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import structlog
from fastapi import FastAPI, Request

from app.api.error_handlers import install_error_handlers
from app.api.middleware import BodyLimit, RequestContext
from app.errors import Overloaded
from app.telemetry import Telemetry, configure_logging


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry(version="test")


@pytest.fixture
async def client(telemetry: Telemetry) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    app.add_middleware(BodyLimit, max_bytes=1000)
    app.add_middleware(RequestContext, telemetry=telemetry)
    install_error_handlers(app)

    @app.post("/fault")
    async def fault(request: Request) -> None:
        secret = (await request.body()).decode()
        raise ZeroDivisionError(len(secret))

    @app.post("/busy")
    async def busy() -> None:
        raise Overloaded("Later.", retry_after=7)

    @app.post("/body")
    async def body(item: dict[str, int]) -> dict[str, int]:
        return item

    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as connected:
        yield connected


async def test_a_fault_is_one_envelope_with_its_request_id_and_is_counted(
    client: httpx.AsyncClient, telemetry: Telemetry
) -> None:
    response = await client.post("/fault", content=b"x")
    assert response.status_code == 500
    assert response.json()["error"]["code"] == "internal_error"
    assert len(response.headers["x-request-id"]) == 32
    assert telemetry.registry.get_sample_value("lexicue_requests_total", {"route": "/fault", "outcome": "5xx"}) == 1


@pytest.mark.parametrize("log_format", ["console", "json"])
async def test_the_log_of_a_fault_never_holds_what_was_sent(
    client: httpx.AsyncClient, log_format: str, capfd: pytest.CaptureFixture[str]
) -> None:
    handlers = logging.getLogger().handlers
    try:
        configure_logging(log_format=log_format, level="info")
        await client.post("/fault", content=b"SECRETPROMPT")
    finally:
        logging.getLogger().handlers = handlers
        structlog.reset_defaults()
    written = capfd.readouterr().err
    assert "ZeroDivisionError" in written
    assert "SECRETPROMPT" not in written
    assert len(written) < 20_000


async def test_overload_says_when_to_come_back(client: httpx.AsyncClient) -> None:
    response = await client.post("/busy")
    assert (response.status_code, response.headers["retry-after"]) == (429, "7")


async def test_a_body_over_the_bound_is_refused_with_or_without_its_length(client: httpx.AsyncClient) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield b"x" * 400

    for content in (b"x" * 1001, chunks()):
        response = await client.post("/fault", content=content)
        assert (response.status_code, response.json()["error"]["code"]) == (413, "upload_too_large")


async def test_bad_bodies_are_refused_without_repeating_them(client: httpx.AsyncClient) -> None:
    broken = await client.post("/body", content=b"{", headers={"Content-Type": "application/json"})
    assert (broken.status_code, broken.json()["error"]["code"]) == (422, "invalid_json")
    key = "K" * 500
    odd: Any = await client.post("/body", content=json.dumps({key: "x"}), headers={"Content-Type": "application/json"})
    assert odd.status_code == 422
    assert key not in odd.text
