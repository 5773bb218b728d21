"""One started server with tight limits: a recording as the whole body, asking twice, and every way to be over."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psutil
import pytest
from started_server import ROOT, Server, start_server, stop_server

AUDIO = (ROOT / "tests" / "data" / "audio" / "jfk.mp3").read_bytes()
LIMITS = {
    "LEXICUE_ENGINE": "scripted",
    "LEXICUE_DEADLINE_SECONDS": "5",
    "LEXICUE_STALL_SECONDS": "3",
    "LEXICUE_MAX_FORM_FIELDS": "20",
    "LEXICUE_MAX_FORM_FIELD_BYTES": "2000",
    "LEXICUE_MAX_HEADER_BYTES": "8192",
    "LEXICUE_MAX_UPLOAD_BYTES": "300000",
}


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = start_server(tmp_path_factory.mktemp("limited") / "data", "--sample", **LIMITS)
    yield started
    assert stop_server(started) == 0


@pytest.fixture
def web(limited: Server) -> Iterator[httpx.Client]:
    with limited.client() as client:
        yield client


def raw(
    web: httpx.Client, content: bytes | Iterator[bytes] = AUDIO, kind: str = "audio/mpeg", **query: Any
) -> httpx.Response:
    headers = {"Content-Type": kind} | query.pop("headers", {})
    return web.post("/transcribe", content=content, params=query, headers=headers)


def code_of(answer: httpx.Response) -> tuple[int, str]:
    error = answer.json()["error"]
    assert set(error) >= {"message", "type", "param", "code"}
    return answer.status_code, error["code"]


def test_a_recording_as_the_whole_body_is_the_form_of_the_same(web: httpx.Client) -> None:
    options: dict[str, Any] = {"glossary": "clinic", "language": "en", "keywords[]": ["Velnora", "Brelka"]}
    form = web.post("/transcribe", files={"file": ("a.mp3", AUDIO)}, data=options)
    assert form.status_code == 200
    for kind in ("audio/mpeg", "video/mp4", "application/octet-stream", "Audio/X-Odd; codecs=none"):
        assert raw(web, kind=kind, **options).json() == form.json()
    assert raw(web, iter([AUDIO[:100], AUDIO[100:]]), **options).json() == form.json()
    assert raw(web, response_format="srt").text.startswith("1\n00:00:00,")


@pytest.mark.parametrize(
    ("query", "status", "code", "param"),
    [
        ({"glosary": "clinic"}, 400, "unknown_field", "glosary"),
        ({"language": ["en", "de"]}, 400, "repeated_field", "language"),
        ({"language": "klingon"}, 400, "unknown_language", "language"),
        ({"revision": "x", "glossary": "clinic"}, 422, "invalid_parameter", "revision"),
        ({"response_format": "banana"}, 422, "invalid_parameter", "response_format"),
        ({"glossary": "none"}, 404, "glossary_not_found", "glossary"),
        ({"file": "a"}, 400, "repeated_field", "file"),
    ],
)
def test_options_of_a_whole_body_are_checked_like_fields(
    web: httpx.Client, query: dict[str, Any], status: int, code: str, param: str
) -> None:
    answer = raw(web, **query)
    assert code_of(answer) == (status, code)
    assert answer.json()["error"]["param"] == param


def test_a_whole_body_that_is_no_recording_is_refused(web: httpx.Client) -> None:
    assert code_of(raw(web, b"")) == (400, "invalid_audio")
    assert code_of(raw(web, b"<html>")) == (400, "invalid_audio")
    assert code_of(raw(web, kind="text/plain")) == (422, "missing_parameter")
    assert "Content-Type: audio/" in raw(web, kind="text/plain").json()["error"]["message"]
    assert code_of(raw(web, kind="application/json")) == (422, "missing_parameter")


def test_options_of_a_form_do_not_hide_in_the_address(web: httpx.Client) -> None:
    for route in ("/transcribe", "/v1/audio/transcriptions"):
        fields = {"model": "whisper-1"} if route.startswith("/v1") else {}
        answer = web.post(f"{route}?glossary=clinic", files={"file": ("a.mp3", AUDIO)}, data=fields)
        assert code_of(answer) == (400, "unknown_query")


@pytest.mark.parametrize("route", ["/transcribe", "/v1/audio/transcriptions", "/v1/audio/translations"])
def test_asking_twice_with_a_key_is_decoded_once(web: httpx.Client, route: str) -> None:
    fields = {} if route == "/transcribe" else {"model": "whisper-1"}
    windows = 'lexicue_decode_windows_total{outcome="decoded"}'

    def decoded() -> float:
        return sum(
            float(line.split()[-1]) for line in web.get("/metrics").text.splitlines() if line.startswith(windows)
        )

    def ask(**more: str) -> httpx.Response:
        headers = {"Idempotency-Key": f"one of {route}"}
        return web.post(route, files={"file": ("a.mp3", AUDIO)}, data=fields | more, headers=headers)

    before = decoded()
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: ask(), range(4)))
    assert {(answer.status_code, answer.content) for answer in answers} == {(200, answers[0].content)}
    assert decoded() == before + 1
    assert sum("idempotent-replayed" in answer.headers for answer in answers) == 3
    assert len({answer.headers["x-request-id"] for answer in answers}) == 4
    assert code_of(ask(prompt="other")) == (422, "idempotency_key_reused")


def test_a_stream_takes_no_key(web: httpx.Client) -> None:
    fields = {"model": "whisper-1", "stream": "true"}
    headers = {"Idempotency-Key": "k"}
    answer = web.post("/v1/audio/transcriptions", files={"file": ("a.mp3", AUDIO)}, data=fields, headers=headers)
    assert code_of(answer) == (400, "idempotency_with_stream")


def test_over_the_deadline_is_504_and_the_next_request_is_served(limited: Server, web: httpx.Client) -> None:
    children = psutil.Process(limited.process.pid).children(recursive=True)
    model = next(child for child in children if "app.decoding.child" in " ".join(child.cmdline()))
    model.suspend()
    try:
        assert code_of(raw(web)) == (504, "deadline_exceeded")
    finally:
        model.resume()
    assert raw(web).status_code == 200


def test_forms_over_their_limits_are_413(web: httpx.Client) -> None:
    file = {"file": ("a.mp3", AUDIO)}
    assert code_of(web.post("/transcribe", files=file, data={"prompt": "x" * 2001})) == (413, "field_too_large")
    many = {"keywords[]": ["a"] * 21}
    assert code_of(web.post("/transcribe", files=file, data=many)) == (413, "too_many_fields")
    assert code_of(raw(web, b"x" * 300_001)) == (413, "upload_too_large")
    assert code_of(raw(web, iter([b"x" * 100_000] * 4))) == (413, "upload_too_large")
    bad = web.post("/transcribe", content=b"no parts", headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert code_of(bad) == (400, "invalid_body")


def test_long_headers_are_431_and_a_crawling_upload_is_408(limited: Server, web: httpx.Client) -> None:
    assert code_of(web.get("/livez", headers={"X-Long": "a" * 9000})) == (431, "headers_too_large")
    host, port = limited.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall(
            b"POST /transcribe HTTP/1.1\r\nHost: x\r\nContent-Type: audio/mpeg\r\nContent-Length: 9\r\n\r\nI"
        )
        answer = client.makefile("rb").readline()
    assert answer.split()[1] == b"408"


def test_a_client_that_leaves_while_sending_is_logged_as_one(limited: Server, web: httpx.Client) -> None:
    host, port = limited.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall(
            b"POST /transcribe HTTP/1.1\r\nHost: x\r\nX-Request-Id: left-early\r\nContent-Type: audio/mpeg\r\n"
            b"Content-Length: 1000\r\n\r\nIt begins"
        )
    lines: list[str] = []
    while not lines:
        lines = [line for line in limited.log.read_text().splitlines() if "left-early" in line and '"status"' in line]
    assert '"status": 499' in lines[0]
    assert '"outcome": "client_closed"' in lines[0]
