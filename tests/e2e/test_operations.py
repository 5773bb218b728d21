"""What operators rely on: probes, metrics, errors in one envelope, a clean stop and a warm start."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from started_server import ROOT, start_server, stop_server

AUDIO = ROOT / "tests" / "data" / "audio"
JFK = ("jfk.mp3", (AUDIO / "jfk.mp3").read_bytes())


def error_of(response: httpx.Response) -> dict[str, Any]:
    error: dict[str, Any] = response.json()["error"]
    assert {"message", "type", "param", "code"} <= set(error)
    return error


def test_probes_are_green_on_a_started_server(client: httpx.Client) -> None:
    assert client.get("/livez").json() == {"alive": True}
    assert client.get("/readyz").json()["ready"] is True
    health = client.get("/health").json()
    assert health["database"] is True
    assert health["fingerprint_details"]["compute_type"] == "int8"


def test_api_documentation_is_served(client: httpx.Client) -> None:
    assert client.get("/docs").status_code == 200
    assert "/transcribe" in client.get("/openapi.json").json()["paths"]


def test_metrics_are_what_promtool_accepts(client: httpx.Client) -> None:
    client.post("/transcribe", files={"file": JFK}, data={"glossary": "clinic"}).raise_for_status()
    page = client.get("/metrics").text
    for name in (
        "lexicue_prompt_tokens_bucket",
        "lexicue_prompt_estimated_tokens_bucket",
        "lexicue_prompt_headroom_tokens_bucket",
        'lexicue_decode_windows_total{outcome="decoded"}',
        "lexicue_speech_seconds_total",
        "lexicue_queue_audio_seconds 0.0",
        'lexicue_worker_up{device="0"} 1.0',
        'lexicue_requests_total{outcome="2xx",route="/transcribe"}',
        "lexicue_build_info{",
    ):
        assert name in page
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed; `apt-get install prometheus` (.ci/run does) runs the rest of this test")
    checked = subprocess.run([promtool, "check", "metrics"], input=page, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize(
    ("fields", "file", "status", "code"),
    [
        ({"glossary": "no-such"}, JFK, 404, "glossary_not_found"),
        ({"language": "klingon"}, JFK, 400, "unknown_language"),
        ({"glosary": "clinic"}, JFK, 400, "unknown_field"),
        ({}, ("video.mp4", (AUDIO / "video_only_no_audio.mp4").read_bytes()), 400, "no_audio_stream"),
        ({}, ("page.mp3", b"<html>not audio</html>"), 400, "invalid_audio"),
        ({}, ("empty.mp3", b""), 400, "invalid_audio"),
        ({}, ("list.mp3", b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n"), 400, "invalid_audio"),
        ({}, ("list.wav", b"ffconcat version 1.0\nfile /etc/passwd\n"), 400, "invalid_audio"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_input_gets_its_own_error(
    client: httpx.Client, fields: dict[str, str], file: tuple[str, bytes], status: int, code: str
) -> None:
    response = client.post("/transcribe", files={"file": file}, data=fields)
    assert (response.status_code, error_of(response)["code"]) == (status, code)


def test_framework_errors_wear_the_same_envelope(client: httpx.Client) -> None:
    assert error_of(client.get("/nowhere"))["code"] == "unknown_route"
    assert error_of(client.get("/transcribe"))["code"] == "method_not_allowed"
    missing = client.post("/transcribe", data={"glossary": "clinic"})
    assert (missing.status_code, error_of(missing)["param"]) == (422, "file")


def test_decision_is_by_the_bytes_not_by_the_label(client: httpx.Client) -> None:
    """Uploads without a content type or with a wrong one were refused elsewhere (public report c07)."""
    for part in ((JFK[0], JFK[1], "text/plain"), ("noname", JFK[1], "application/octet-stream"), ("-dash", JFK[1], "")):
        response = client.post("/transcribe", files={"file": part})
        assert "my fellow Americans" in response.json()["text"]


def test_request_id_comes_back(client: httpx.Client) -> None:
    assert client.get("/livez", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"] == "abc-1"
    generated = client.get("/livez", headers={"X-Request-Id": "bad id\t" + "x" * 200}).headers["x-request-id"]
    assert len(generated) == 32


def test_stop_and_start_again_keep_the_glossary_and_the_transcript(tmp_path: Path) -> None:
    answers = []
    for arguments in (["--sample"], []):
        server = start_server(tmp_path / "data", *arguments)
        with server.client() as client:
            answers.append(client.post("/transcribe", files={"file": JFK}, data={"glossary": "clinic"}).json())
        assert stop_server(server) == 0
        assert "Traceback" not in server.log.read_text()
    assert answers[0] == answers[1]


def test_uploads_over_the_limit_are_refused_while_they_stream(tmp_path: Path) -> None:
    def streamed() -> Iterator[bytes]:  # no Content-Length: counted as it comes
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n'
        yield from (b"x" * 1000 for _ in range(100))

    server = start_server(tmp_path / "data", LEXICUE_ENGINE="scripted", LEXICUE_MAX_UPLOAD_BYTES="50000")
    try:
        with server.client() as client:
            declared = client.post("/transcribe", files={"file": JFK})
            assert (declared.status_code, error_of(declared)["code"]) == (413, "upload_too_large")
            header = {"Content-Type": "multipart/form-data; boundary=b"}
            counted = client.post("/transcribe", content=streamed(), headers=header)
            assert (counted.status_code, error_of(counted)["code"]) == (413, "upload_too_large")
            assert client.get("/livez").status_code == 200
    finally:
        assert stop_server(server) == 0


def test_log_lines_never_hold_what_was_said(client: httpx.Client, server: Any) -> None:
    client.post("/transcribe", files={"file": JFK}, data={"glossary": "clinic"}).raise_for_status()
    log = server.log.read_text()
    assert '"event": "request"' in log
    assert "prompt_sha256" in log
    assert "fellow Americans" not in log
    assert "Sonalift" not in log
