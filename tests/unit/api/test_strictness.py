"""JSON bodies in which a name stands twice, are too large or nested too deeply: refused, never half believed."""

from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from fastapi.testclient import TestClient

from app.api.error_handlers import install_error_handlers
from app.api.strictness import MAX_JSON_BYTES, StrictJsonRoute
from app.main import create_app
from app.settings import Settings


@pytest.fixture
def client() -> TestClient:
    router = APIRouter(route_class=StrictJsonRoute)

    @router.post("/body")
    async def body(item: dict[str, Any]) -> dict[str, Any]:
        return item

    app = FastAPI()
    app.include_router(router)
    install_error_handlers(app)
    return TestClient(app, raise_server_exceptions=False)


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        ('{"text": "a", "text": "b"}', 400, "repeated_name"),
        ('{"outer": [{"a": 1, "a": 1}]}', 400, "repeated_name"),
        ('{"text": ', 422, "invalid_json"),
        ('{"a":' * 100_000, 422, "invalid_json"),
        ('{"text": "' + "x" * MAX_JSON_BYTES + '"}', 413, "body_too_large"),
        ("[]", 422, "invalid_parameter"),
    ],
    ids=["twice", "twice-inside", "cut", "deep", "large", "list"],
)
def test_what_cannot_be_meant_is_refused(client: TestClient, content: str, status: int, code: str) -> None:
    answer = client.post("/body", content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert len(answer.text) < 500


def test_a_name_in_two_objects_is_no_repetition(client: TestClient) -> None:
    body = {"a": {"text": "1"}, "b": [{"text": "2"}, {"text": "3"}]}
    assert client.post("/body", json=body).json() == body


async def test_a_route_has_one_address_and_nobody_is_sent_elsewhere() -> None:
    """The Location of a redirect would be made of the Host that the request claims, and with http behind a proxy."""
    transport = httpx.ASGITransport(create_app(Settings(_env_file=None)))
    async with httpx.AsyncClient(transport=transport, base_url="http://elsewhere.example") as caller:
        for path in ("/transcribe/", "/glossaries/", "/v1/models/"):
            answer = await caller.get(path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_route")
            assert "location" not in answer.headers
