"""One answer for one Idempotency-Key: same request, other request, at once, after a failure, after the client left."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

import anyio
import httpx
import pytest
from fastapi import APIRouter, FastAPI, Form, Request, Response, UploadFile
from fastapi.responses import JSONResponse

from app.api.error_handlers import install_error_handlers
from app.api.forms import FormOrFileRoute
from app.api.idempotency import RememberedAnswers
from app.api.keys import ApiKey, Role
from app.errors import NotReady, Overloaded


class Service:
    """Decodes by counting; `gate` holds the work back, `failures` are raised first. `now` is the clock."""

    def __init__(self) -> None:
        self.decoded: list[bytes] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.started = asyncio.Event()
        self.failures: list[Exception] = []
        self.now = 0.0
        self.api_key: ApiKey | None = None
        self.answers = RememberedAnswers(seconds=60, max_bytes=10_000, clock=lambda: self.now)
        router = APIRouter(route_class=FormOrFileRoute)

        @router.post("/transcribe")
        async def transcribe(
            request: Request,
            file: UploadFile,
            language: Annotated[str, Form()] = "",
            actor: Annotated[str, Form()] = "",
        ) -> Response:
            if actor:
                request.state.actor = actor
            request.state.api_key = self.api_key

            async def work(path: Any) -> Response:
                self.started.set()
                await self.gate.wait()
                if self.failures:
                    raise self.failures.pop()
                self.decoded.append(await anyio.Path(path).read_bytes())
                return JSONResponse({"n": len(self.decoded), "language": language}, headers={"X-Kept": "yes"})

            return await self.answers.answer(request, file, work)

        self.app = FastAPI()
        self.app.include_router(router)
        install_error_handlers(self.app)
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app=self.app), base_url="http://test")

    async def post(
        self, key: str | None, audio: bytes = b"RIFF", headers: dict[str, str] | None = None, **fields: str
    ) -> httpx.Response:
        sent = (headers or {}) | ({"Idempotency-Key": key} if key else {})
        return await self.client.post("/transcribe", files={"file": ("a.wav", audio)}, data=fields, headers=sent)


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    service = Service()
    yield service
    await service.answers.close()


async def test_the_same_request_is_decoded_once_and_answered_alike(service: Service) -> None:
    first, second = await service.post("k", language="en"), await service.post("k", language="en")
    assert len(service.decoded) == 1
    assert first.content == second.content
    assert [answer.headers.get("idempotent-replayed") for answer in (first, second)] == [None, "true"]
    assert second.headers["x-kept"] == "yes"
    assert second.headers["content-type"] == "application/json"


async def test_the_name_and_form_of_the_upload_make_no_other_request(service: Service) -> None:
    raw = {"Idempotency-Key": "k", "Content-Type": "audio/wav"}
    first = await service.client.post("/transcribe?language=en", content=b"RIFF", headers=raw)
    second = await service.post("k", language="en")
    assert first.json() == second.json() == {"n": 1, "language": "en"}


@pytest.mark.parametrize("changed", [{"audio": b"RIFG"}, {"language": "de"}, {"language": "e", "actor": ""}])
async def test_another_request_under_the_key_is_refused(service: Service, changed: dict[str, Any]) -> None:
    await service.post("k", language="en")
    refused = await service.post("k", **({"language": "en"} | changed))
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert len(service.decoded) == 1


@pytest.mark.parametrize("header", ["X-Lexicue-Glossary", "X-Lexicue-Selection"])
async def test_a_header_that_chooses_makes_another_request(service: Service, header: str) -> None:
    await service.post("k")
    refused = await service.post("k", headers={header: "relevant"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "idempotency_key_reused")


async def test_another_secret_of_the_caller_with_another_glossary_makes_another_request(service: Service) -> None:
    answers = []
    for glossary in ("clinic", "clinic", "support"):
        service.api_key = ApiKey("web", Role.APP, glossary, b"")
        answers.append((await service.post("k")).status_code)
    assert answers == [200, 200, 422]


async def test_callers_do_not_share_keys_and_no_key_is_no_memory(service: Service) -> None:
    for actor in ("web", "shop"):
        assert (await service.post("k", actor=actor)).headers.get("idempotent-replayed") is None
    for _ in range(2):
        await service.post(None)
    assert len(service.decoded) == 4


async def test_a_second_request_joins_the_first_one_under_way(service: Service) -> None:
    service.gate.clear()
    waiting = [asyncio.create_task(service.post("k")) for _ in range(5)]
    await service.started.wait()
    service.gate.set()
    answers = [await answer for answer in waiting]
    assert len(service.decoded) == 1
    assert {answer.content for answer in answers} == {b'{"n":1,"language":""}'}


@pytest.mark.parametrize(("failure", "status"), [(Overloaded("Later.", retry_after=3), 429), (NotReady("Later."), 503)])
async def test_a_failure_is_not_kept(service: Service, failure: Exception, status: int) -> None:
    service.failures.append(failure)
    assert (await service.post("k")).status_code == status
    again = await service.post("k")
    assert (again.status_code, again.json()["n"]) == (200, 1)
    assert "idempotent-replayed" not in again.headers


async def test_work_goes_on_when_its_client_leaves_and_the_next_one_gets_the_answer(service: Service) -> None:
    service.gate.clear()
    leaving: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    request = service.client.build_request(
        "POST", "/transcribe", files={"file": ("a.wav", b"RIFF")}, headers={"Idempotency-Key": "k"}
    )
    leaving.put_nowait({"type": "http.request", "body": await request.aread(), "more_body": False})
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/transcribe",
        "raw_path": b"/transcribe",
        "query_string": b"",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
    }
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    first = asyncio.create_task(service.app(scope, leaving.get, send))  # type: ignore[arg-type]
    await service.started.wait()
    leaving.put_nowait({"type": "http.disconnect"})
    await first
    assert sent[0]["status"] == 499
    service.gate.set()
    second = await service.post("k")
    assert (second.json()["n"], second.headers["idempotent-replayed"]) == (1, "true")
    assert service.decoded == [b"RIFF"]


async def test_answers_are_given_up_by_age_and_by_size(service: Service) -> None:
    await service.post("old")
    service.now = 59.9
    assert "idempotent-replayed" in (await service.post("old")).headers
    service.now = 60.0
    assert "idempotent-replayed" not in (await service.post("old")).headers
    for number in range(8):  # about 2,100 bytes each with what holds them, 10,000 are kept
        await service.post(f"k{number}")
    replayed = ["idempotent-replayed" in (await service.post(f"k{number}")).headers for number in (7, 0)]
    assert replayed == [True, False]


@pytest.mark.parametrize("key", ["", "ü", "x" * 256, "a\tb"])
async def test_what_is_no_key_is_refused(service: Service, key: str) -> None:
    headers = [(b"idempotency-key", key.encode())]
    refused = await service.client.post("/transcribe", files={"file": ("a.wav", b"RIFF")}, headers=headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_idempotency_key")


async def test_closing_ends_the_work_that_is_left(service: Service) -> None:
    service.gate.clear()
    waiting = asyncio.create_task(service.post("k"))
    await service.started.wait()
    await service.answers.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert service.decoded == []
