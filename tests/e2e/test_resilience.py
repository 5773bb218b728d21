"""Kill, overload, leave, stop: no admitted request is lost and every answer is the one that an undisturbed server
gives."""

import json
import signal
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from started_server import ROOT, Server, start_server, stop_server

LATE = ("late.opus", (ROOT / "tests" / "data" / "audio" / "late_63s.opus").read_bytes())
JFK = ("jfk.mp3", (ROOT / "tests" / "data" / "audio" / "jfk.mp3").read_bytes())


def post(server: Server, file: tuple[str, bytes]) -> httpx.Response:
    return httpx.post(f"{server.url}/transcribe", files={"file": file}, data={"glossary": "clinic"}, timeout=300)


def text_of(response: httpx.Response) -> str:
    assert response.status_code == 200, response.text
    return json.dumps(response.json()["segments"])


def model_process(server: Server) -> psutil.Process:
    """The server's child that holds the model."""
    children = psutil.Process(server.process.pid).children(recursive=True)
    return next(child for child in children if "app.decoding.child" in " ".join(child.cmdline()))


def test_killing_the_model_three_times_loses_no_request(server: Server) -> None:
    expected = text_of(post(server, LATE))
    with ThreadPoolExecutor(20) as threads:
        waiting = [threads.submit(post, server, LATE) for _ in range(20)]
        answers, killed = [], set()
        for done in as_completed(waiting):
            answers.append(text_of(done.result()))
            if len(killed) < 3 and len(answers) in (1, 5, 9):
                victim = model_process(server)
                killed.add(victim.pid)
                victim.kill()
    assert len(killed) == 3
    assert set(answers) == {expected}
    page = httpx.get(f"{server.url}/metrics").text
    assert "lexicue_worker_restarts_total" in page
    assert httpx.get(f"{server.url}/readyz").status_code == 200


def test_requests_of_clients_that_left_do_not_hold_up_the_others(server: Server) -> None:
    expected = text_of(post(server, JFK))
    abandoned: list[str] = []

    def leave() -> None:
        try:
            httpx.post(f"{server.url}/transcribe", files={"file": LATE}, timeout=httpx.Timeout(5, read=0.5))
        except httpx.ReadTimeout:
            abandoned.append("left")

    with ThreadPoolExecutor(16) as threads:
        leavers = [threads.submit(leave) for _ in range(8)]
        stayers = [threads.submit(post, server, JFK) for _ in range(8)]
        assert {text_of(stayer.result()) for stayer in stayers} == {expected}
        for leaver in leavers:
            leaver.result()
    assert len(abandoned) == 8
    page = httpx.get(f"{server.url}/metrics").text
    assert 'lexicue_requests_total{outcome="client_closed",route="/transcribe"}' in page


def test_over_the_bound_requests_get_429_with_a_time_and_the_admitted_ones_their_text(tmp_path: Path) -> None:
    server = start_server(tmp_path / "data", "--sample", LEXICUE_MAX_PENDING_AUDIO_SECONDS="130")
    try:
        expected = text_of(post(server, LATE))
        with ThreadPoolExecutor(12) as threads:
            responses = list(threads.map(lambda _: post(server, LATE), range(12)))
            assert httpx.get(f"{server.url}/livez").status_code == 200
        refused = [response for response in responses if response.status_code == 429]
        admitted = [response for response in responses if response.status_code == 200]
        assert len(refused) + len(admitted) == 12
        assert len(admitted) >= 2
        assert refused
        assert {text_of(response) for response in admitted} == {expected}
        for response in refused:
            assert int(response.headers["retry-after"]) >= 1
            assert response.json()["error"]["code"] == "overloaded"
    finally:
        assert stop_server(server) == 0


@pytest.mark.parametrize(("drain", "statuses"), [("60", {200}), ("0", {503})])
def test_stopping_finishes_or_refuses_but_never_cuts(tmp_path: Path, drain: str, statuses: set[int]) -> None:
    server = start_server(tmp_path / "data", "--sample", LEXICUE_DRAIN_SECONDS=drain)
    got: list[Any] = []
    threads = [threading.Thread(target=lambda: got.append(post(server, LATE))) for _ in range(3)]
    for thread in threads:
        thread.start()
    with httpx.Client(base_url=server.url) as client:
        while "lexicue_queue_audio_seconds 0.0" in client.get("/metrics").text:
            pass  # until the requests are on the model
    server.process.send_signal(signal.SIGTERM)
    for thread in threads:
        thread.join()
    assert {response.status_code for response in got} <= statuses | {503}
    assert statuses <= {response.status_code for response in got}
    assert server.process.wait(60) == 0
    assert server.process.stdout is not None
    server.process.stdout.close()
