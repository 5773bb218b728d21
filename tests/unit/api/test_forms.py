"""Forms in, bounded: what cannot be read as one is the caller's mistake."""

from typing import Annotated

import pytest
from fastapi import APIRouter, FastAPI, Form
from fastapi.testclient import TestClient

from app.api.error_handlers import install_error_handlers
from app.api.forms import FormRoute


@pytest.fixture(scope="module")
def client() -> TestClient:
    router = APIRouter(route_class=FormRoute)

    @router.post("/say")
    def say(word: Annotated[str, Form()]) -> str:
        return word

    app = FastAPI()
    app.include_router(router)
    install_error_handlers(app)
    return TestClient(app)


def _form(word: bytes) -> bytes:
    return b'--B\r\nContent-Disposition: form-data; name="word"\r\n\r\n' + word + b"\r\n--B--\r\n"


def test_a_charset_that_nothing_can_be_in_is_refused(client: TestClient) -> None:
    kind = {"Content-Type": "multipart/form-data; boundary=B; charset=undefined"}
    refused = client.post("/say", content=_form(b"word"), headers=kind)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_body")


def test_a_charset_that_the_form_is_in_is_read(client: TestClient) -> None:
    kind = {"Content-Type": "multipart/form-data; boundary=B; charset=iso-8859-1"}
    assert client.post("/say", content=_form("Müller".encode("latin-1")), headers=kind).json() == "Müller"
