"""OpenAI's own clients for Python and Node, unchanged, over one table of cases against started servers."""

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from openai_suite import CASES, Result, run_node, run_python
from started_server import Server, start_server, stop_server

Run = Callable[[list[dict[str, Any]], str], dict[str, Result]]

CLIENTS: dict[str, Run] = {"python": run_python, "node": run_node}
# What Node calls the class that Python calls so: errors without a class of their own.
IN_NODE = {"APIStatusError": "APIError"}
TYPES = {"number": (int, float), "string": str}


@pytest.fixture(scope="module")
def strict_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    settings = {
        "LEXICUE_ENGINE": "scripted",
        "LEXICUE_APP_KEYS": "phone@clinic=app-secret",
        "LEXICUE_OPS_KEYS": "desk=ops-secret",
        "LEXICUE_MAX_AUDIO_SECONDS": "12",
        "LEXICUE_MAX_UPLOAD_BYTES": "200000",
        "LEXICUE_MAX_UPLOADS": "1",
        "LEXICUE_DEADLINE_SECONDS": "0.000001",
    }
    started = start_server(tmp_path_factory.mktemp("strict") / "data", "--sample", **settings)
    yield started
    assert stop_server(started) == 0


@pytest.fixture(scope="module", params=list(CLIENTS))
def results(
    request: pytest.FixtureRequest, server: Server, scripted_server: Server, strict_server: Server
) -> tuple[str, dict[str, Result]]:
    """Every case once by each client: with the real model where the text counts."""
    run = CLIENTS[request.param]
    found = run(_of("real"), server.url) | run(_of("scripted"), scripted_server.url)
    found |= run(_of("strict"), strict_server.url)
    with upload_that_never_ends(strict_server.url):
        found |= run(_of("busy"), strict_server.url)
    return request.param, found


def _of(server: str) -> list[dict[str, Any]]:
    return [case for case in CASES if case.get("server", "scripted") == server]


def upload_that_never_ends(url: str) -> socket.socket:
    """A client that has begun to send: the server has said that it reads on."""
    host, port = url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)))
    connection.sendall(
        b"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\nExpect: 100-continue\r\n"
        b"Authorization: Bearer app-secret\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n"
    )
    assert b"100 Continue" in connection.recv(1000)
    return connection


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: dict[str, Any], results: tuple[str, dict[str, Result]]) -> None:
    client, found = results
    got, expected = found[case["name"]], case["expect"]
    if "error" in expected:
        _hold_error(got["error"], dict(expected["error"]), client)
        assert got["calls"] == 1  # a client's fault is no reason to send it again
        return
    assert "error" not in got, got["error"]
    for path, value in expected.get("equal", {}).items():
        assert at(got["value"], path) == value
    for path, text in expected.get("contain", {}).items():
        assert text in at(got["value"], path)
    for path, kind in expected.get("types", {}).items():
        assert isinstance(at(got["value"], path), TYPES[kind])
    if "keys" in expected:
        assert sorted(got["value"]) == sorted(expected["keys"])
    for name, value in expected.get("headers", {}).items():
        assert got["headers"][name] == value
    if "stream" in expected:
        assert len(got["deltas"]) == expected["stream"]["deltas"]
        assert "".join(got["deltas"]) == got["value"]["text"]
        assert expected["stream"]["contain"] in got["value"]["text"]


def _hold_error(got: dict[str, Any], expected: dict[str, Any], client: str) -> None:
    if client == "node":
        expected["class"] = IN_NODE.get(expected["class"], expected["class"])
    assert {name: got[name] for name in expected} == expected
    assert len(got["message"]) > 20


def test_both_clients_hear_the_same(results: tuple[str, dict[str, Result]]) -> None:
    """All formats give the text of plain json."""
    _, found = results
    text = found["json: text and usage, nothing else"]["value"]["text"]
    assert found["text"]["value"].strip() == text
    assert at(found["verbose_json: ten keys a segment, numbers as numbers"]["value"], "text") == text
    for name in ("srt", "vtt"):
        lines = [line for line in found[name]["value"].splitlines() if line and "-->" not in line]
        spoken = " ".join(line for line in lines if line != "WEBVTT" and not line.isdigit())
        assert spoken == text


def at(value: Any, path: str) -> Any:
    for step in filter(None, path.split(".")):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value
