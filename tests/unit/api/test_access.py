"""Who reaches which route: the whole table, with and without keys, and what a refusal says."""

import logging
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import structlog
from fastapi import FastAPI, Request

from app.api.access import Access, default_glossary
from app.api.error_handlers import install_error_handlers
from app.api.keys import parse_keys
from app.api.middleware import RequestContext
from app.api.security_headers import Cors, SecurityHeaders, parse_origins
from app.errors import InvalidRequest
from app.telemetry import Telemetry, configure_logging

APP, OPS = "app-secret", "ops-secret"
PATHS = ("/livez", "/docs", "/metrics", "/transcribe", "/v1/models", "/prompt/preview", "/glossaries", "/not-yet-made")


def service(app_keys: str = "", ops_keys: str = "", origins: str = "", **options: Any) -> httpx.AsyncClient:
    app = FastAPI(docs_url=None, openapi_url=None, redoc_url=None)

    async def who(request: Request) -> dict[str, Any]:
        return {"actor": getattr(request.state, "actor", None), "glossary": default_glossary(request)}

    for path in PATHS:
        app.add_api_route(path, who, methods=["GET", "POST"])
    allowed = parse_origins(origins)
    app.add_middleware(Access, keys=parse_keys(app_keys, ops_keys), origins=allowed, **options)
    if allowed:
        app.add_middleware(Cors, origins=allowed)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestContext, telemetry=Telemetry(version="test"))
    install_error_handlers(app)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://test")


@pytest.fixture
def keyed() -> httpx.AsyncClient:
    return service(f"web@clinic={APP}", f"anna={OPS}")


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


async def test_the_table_of_routes_and_roles(keyed: httpx.AsyncClient) -> None:
    table = {}
    for path in PATHS:
        answers = [await keyed.get(path, headers=headers) for headers in ({}, bearer(APP), bearer(OPS), bearer("no"))]
        table[path] = [answer.status_code for answer in answers]
    assert table == {
        "/livez": [200, 200, 200, 200],
        "/docs": [200, 200, 200, 200],
        "/metrics": [200, 200, 200, 200],
        "/transcribe": [401, 200, 200, 401],
        "/v1/models": [401, 200, 200, 401],
        "/prompt/preview": [401, 403, 200, 401],
        "/glossaries": [401, 403, 200, 401],
        "/not-yet-made": [401, 403, 200, 401],
    }


async def test_metrics_can_be_closed() -> None:
    closed = service(f"web={APP}", f"anna={OPS}", metrics_need_key=True)
    statuses = [(await closed.get("/metrics", headers=headers)).status_code for headers in ({}, bearer(APP))]
    assert statuses == [401, 403]
    assert (await closed.get("/metrics", headers=bearer(OPS))).status_code == 200


async def test_without_keys_every_route_is_open() -> None:
    assert {(await service().get(path)).status_code for path in PATHS} == {200}


@pytest.mark.parametrize(
    "headers",
    [
        bearer(APP),
        {"Authorization": f"bearer  {APP}"},
        {"X-API-Key": APP},
        {"Authorization": "Basic x", "X-API-Key": APP},
    ],
)
async def test_the_caller_is_known_by_either_header(keyed: httpx.AsyncClient, headers: dict[str, str]) -> None:
    answer = await keyed.post("/transcribe", headers=headers)
    assert answer.json() == {"actor": "web", "glossary": "clinic"}


@pytest.mark.parametrize(
    ("path", "headers", "status", "type_", "code"),
    [
        ("/transcribe", {}, 401, "authentication_error", "missing_api_key"),
        ("/transcribe", bearer("wrong-one"), 401, "authentication_error", "invalid_api_key"),
        ("/transcribe", {"Authorization": APP}, 401, "authentication_error", "missing_api_key"),
        ("/glossaries", bearer(APP), 403, "permission_error", "wrong_role"),
    ],
)
async def test_a_refusal_is_the_envelope_and_names_no_key(
    keyed: httpx.AsyncClient, path: str, headers: dict[str, str], status: int, type_: str, code: str
) -> None:
    answer = await keyed.post(path, headers=headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["code"]) == (status, type_, code)
    assert ("www-authenticate" in answer.headers) == (status == 401)
    assert "x-request-id" in answer.headers
    assert not {APP, OPS, "wrong-one"} & set(answer.text.split('"'))


async def test_the_access_log_names_the_caller_and_never_the_secret(
    keyed: httpx.AsyncClient, capfd: pytest.CaptureFixture[str]
) -> None:
    handlers = logging.getLogger().handlers
    configure_logging(log_format="console", level="debug")
    await keyed.get("/glossaries", headers=bearer(OPS))
    await keyed.get("/glossaries", headers=bearer(APP))
    await keyed.get("/glossaries", headers=bearer("stolen"))
    logging.getLogger().handlers = handlers
    structlog.reset_defaults()
    written = capfd.readouterr().err
    assert re.findall(r"actor=(\w+)", written) == ["anna", "web", "anonymous"]
    for secret in (APP, OPS, "stolen"):
        assert secret not in written


@pytest.mark.parametrize(
    ("make", "headers", "status"),
    [
        (service, {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, 403),
        (service, {"Sec-Fetch-Site": "same-site", "Origin": "http://test:3000"}, 403),
        (service, {"Sec-Fetch-Site": "same-origin", "Origin": "http://test"}, 200),
        (
            lambda: service(origins="https://app.example"),
            {"Sec-Fetch-Site": "cross-site", "Origin": "https://app.example"},
            200,
        ),
    ],
)
async def test_pages_of_other_sites_change_nothing_through_their_readers(
    make: Callable[[], httpx.AsyncClient], headers: dict[str, str], status: int
) -> None:
    client = make()
    assert (await client.post("/glossaries", headers=headers)).status_code == status
    assert (await client.get("/glossaries", headers=headers)).status_code == 200


async def test_cors_is_off_by_default_and_open_to_the_named_origins_only() -> None:
    asks = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    asks["Access-Control-Request-Headers"] = "authorization"
    off = await service().get("/livez", headers={"Origin": "https://app.example"})
    assert not [name for name in off.headers if name.startswith("access-control")]
    on = service(f"web={APP}", origins="https://app.example")
    allowed = await on.options("/transcribe", headers=asks)
    assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, "https://app.example")
    refused = await on.options("/transcribe", headers=asks | {"Origin": "https://evil.example"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "cors_refused")
    unknown = await on.post("/transcribe", headers={"Origin": "https://app.example"})
    assert unknown.status_code == 401
    assert unknown.headers["access-control-allow-origin"] == "https://app.example"  # the page may read why


@pytest.mark.parametrize("origins", ["app.example", "https://app.example/path", "https://a b", "javascript:alert(1)"])
def test_what_is_no_origin_is_refused_at_the_start(origins: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_origins(origins + ",https://fine.example")
    assert "LEXICUE_CORS_ORIGINS" in caught.value.message


async def test_every_answer_tells_browsers_to_keep_and_frame_nothing(keyed: httpx.AsyncClient) -> None:
    for answer in (await keyed.get("/livez"), await keyed.get("/glossaries"), await keyed.get("/nowhere")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
