"""The database dies and comes back, or serves two: what a started server makes of it."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import httpx
from started_server import ROOT, Server, start_server, stop_server

CLINIC = ("clinic.flac", (ROOT / "samples" / "clinic.flac").read_bytes())


def transcribe(client: httpx.Client) -> dict[str, Any]:
    response = client.post("/transcribe", files={"file": CLINIC}, data={"glossary": "clinic"})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def postmaster(data_dir: Path) -> int:
    return int((data_dir / "postgres" / "cluster" / "postmaster.pid").read_text().splitlines()[0])


def until_written(client: httpx.Client, text: str) -> httpx.Response:
    """Write until the database takes it; each refusal must be a 503 that says so."""
    give_up = time.monotonic() + 30
    while time.monotonic() < give_up:
        response = client.post("/glossaries/clinic/terms", json={"text": text})
        if response.status_code == 201:
            return response
        assert response.status_code == 503, response.text
    raise AssertionError("the database did not come back within 30 s")


def test_transcription_goes_on_while_the_database_is_dead_and_it_comes_back_by_itself(tmp_path: Path) -> None:
    server = start_server(tmp_path / "data", "--sample")
    try:
        with server.client() as client:
            before = transcribe(client)
            killed = postmaster(tmp_path / "data")
            os.kill(killed, signal.SIGKILL)
            during = transcribe(client)
            assert during["text"] == before["text"]
            assert during["receipt"]["prompt"]["sha256"] == before["receipt"]["prompt"]["sha256"]
            until_written(client, "Aftermath")
            after = transcribe(client)
            assert "Aftermath" in after["receipt"]["prompt"]["kept"]
            assert after["receipt"]["prompt"]["stale"] is False
            assert postmaster(tmp_path / "data") != killed
    finally:
        assert stop_server(server) == 0


def test_two_servers_on_one_database_see_each_others_edits(tmp_path: Path) -> None:
    first = start_server(tmp_path / "data", "--sample", LEXICUE_ENGINE="scripted")
    second: Server | None = None
    try:
        sockets = tmp_path / "data" / "postgres"
        url = f"postgresql://lexicue@/lexicue?host={sockets}"
        second = start_server(tmp_path / "other", LEXICUE_ENGINE="scripted", LEXICUE_DATABASE_URL=url)
        assert not (tmp_path / "other" / "postgres").exists()
        with first.client() as one, second.client() as two:
            seen = two.get("/prompt/preview", params={"glossary": "clinic"}).json()["revision"]
            written = one.post("/glossaries/clinic/terms", json={"text": "Edited"})
            assert written.status_code == 201
            give_up = time.monotonic() + 5
            while "Edited" not in two.get("/prompt/preview", params={"glossary": "clinic"}).json()["text"]:
                assert time.monotonic() < give_up
            assert two.get("/prompt/preview", params={"glossary": "clinic"}).json()["revision"] == seen + 1
    finally:
        if second is not None:
            assert stop_server(second) == 0
        assert stop_server(first) == 0
