"""More work than fits, a stop under load, hundreds of requests: nobody is left without an answer and nothing grows.

The model's process is halted by signal where a test needs the queue to stay full; no test depends on how fast it is.
"""

import contextlib
import io
import logging
import subprocess
import sys
import threading
import wave
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

import httpx
import numpy as np
import psutil
from started_server import ROOT, Server, start_server, stop_server

from app.audio.decoder import decode_audio
from app.audio.vad import speech_spans
from app.audio.waveform import SAMPLE_RATE
from app.audio.windows import pack_windows

ADMITTED, REQUESTS, CLIENTS = 20, 200, 32


def spoken(seconds: float) -> tuple[bytes, float]:
    """A WAV of speech, and how many seconds of it are decoded."""
    samples = decode_audio(ROOT / "tests" / "data" / "audio" / "jfk.mp3", max_seconds=60).samples
    samples = samples[: int(seconds * SAMPLE_RATE)]
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(SAMPLE_RATE)
        writer.writeframes((samples * 32767).astype(np.int16).tobytes())
    heard = sum(window.cut(samples).size for window in pack_windows(speech_spans(samples))) / SAMPLE_RATE
    return file.getvalue(), heard


def model_process(server: Server) -> psutil.Process:
    children = psutil.Process(server.process.pid).children(recursive=True)
    return next(child for child in children if "app.decoding.child" in " ".join(child.cmdline()))


def resident(server: Server) -> int:
    """Bytes of the service and its model."""
    return sum(process.memory_info().rss for process in (psutil.Process(server.process.pid), model_process(server)))


# In a process of its own: what it measures is the server, not the thirty clients of this one.
PROBE = """
import select, sys, httpx
with httpx.Client(base_url=sys.argv[1], timeout=60) as client:
    while not select.select([sys.stdin], [], [], 0.01)[0]:
        answer = client.get("/livez")
        print(answer.status_code, answer.elapsed.total_seconds())
"""


@contextlib.contextmanager
def probing(server: Server) -> Iterator[list[list[str]]]:
    """Status and seconds of each probe made meanwhile, filled in when the block ends."""
    probes: list[list[str]] = []
    command = [sys.executable, "-c", PROBE, server.url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield probes
        finally:
            output, _ = process.communicate("over", timeout=300)
            probes += [line.split() for line in output.splitlines()]


def post(server: Server, audio: bytes) -> httpx.Response:
    return httpx.post(
        f"{server.url}/transcribe?glossary=clinic", content=audio, headers={"Content-Type": "audio/wav"}, timeout=300
    )


def test_exactly_what_fits_is_admitted_and_the_probe_answers_throughout(
    tmp_path: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    audio, heard = spoken(2)
    bound = str((ADMITTED + 0.5) * heard)
    limits = {"LEXICUE_ENGINE": "scripted", "LEXICUE_MAX_PENDING_AUDIO_SECONDS": bound}
    server = start_server(tmp_path / "data", "--sample", **limits)
    model = model_process(server)
    try:
        model.suspend()
        with probing(server) as probes, ThreadPoolExecutor(CLIENTS) as clients:
            waiting = [clients.submit(post, server, audio) for _ in range(REQUESTS)]
            answers = []
            for done in as_completed(waiting, timeout=300):
                answers.append(done.result())
                if len(answers) == REQUESTS - ADMITTED:
                    model.resume()
    finally:
        model.resume()
        assert stop_server(server) == 0
    assert Counter(answer.status_code for answer in answers) == {200: ADMITTED, 429: REQUESTS - ADMITTED}
    for answer in answers:
        if answer.status_code == 429:
            assert answer.json()["error"]["code"] == "overloaded"
            assert 1 <= int(answer.headers["retry-after"]) <= ADMITTED * heard
    assert {status for status, _ in probes} == {"200"}
    slowest = max(float(seconds) for _, seconds in probes)
    record_testsuite_property("livez_slowest_seconds", slowest)
    logging.getLogger(__name__).warning("/livez: %d answers, the slowest after %.0f ms", len(probes), slowest * 1000)


def test_a_stop_under_load_finishes_or_refuses_and_cuts_nobody(tmp_path: Path) -> None:
    audio, _ = spoken(2)
    patience = {"LEXICUE_DRAIN_SECONDS": "300", "LEXICUE_STALL_SECONDS": "300"}
    server = start_server(tmp_path / "data", "--sample", LEXICUE_ENGINE="scripted", **patience)
    model = model_process(server)
    stopping, half_sent = threading.Event(), threading.Semaphore(0)

    def half_then_the_rest() -> Iterator[bytes]:
        yield audio[:1000]
        half_sent.release()
        stopping.wait(300)
        yield audio[1000:]

    def slowly() -> httpx.Response:
        headers = {"Content-Type": "audio/wav"}
        return httpx.post(f"{server.url}/transcribe", content=half_then_the_rest(), headers=headers, timeout=300)

    try:
        model.suspend()
        with ThreadPoolExecutor(24) as clients:
            whole: list[Future[httpx.Response]] = [clients.submit(post, server, audio) for _ in range(16)]
            half = [clients.submit(slowly) for _ in range(8)]
            for _ in half:
                assert half_sent.acquire(timeout=300)
            with server.client() as client:
                while "lexicue_queue_audio_seconds 0.0" in client.get("/metrics").text:
                    pass  # until the first of them are on the model
            server.process.terminate()
            stopping.set()
            for answer in as_completed(half, timeout=300):
                assert (answer.result().status_code, answer.result().json()["error"]["code"]) == (503, "not_ready")
            model.resume()
            statuses = Counter(answer.result().status_code for answer in as_completed(whole, timeout=300))
        assert set(statuses) <= {200, 503}
        assert statuses[200] >= 1
        assert statuses.total() == 16
        assert server.process.wait(300) == 0
    finally:
        stop_server(server)


def test_memory_after_hundreds_of_requests_is_that_after_fifty(tmp_path: Path) -> None:
    audio, _ = spoken(1)
    server = start_server(tmp_path / "data", "--sample", LEXICUE_ENGINE="scripted")
    try:
        with ThreadPoolExecutor(8) as clients:
            assert {answer.status_code for answer in clients.map(lambda _: post(server, audio), range(50))} == {200}
            before = resident(server)
            assert {answer.status_code for answer in clients.map(lambda _: post(server, audio), range(450))} == {200}
            after = resident(server)
    finally:
        assert stop_server(server) == 0
    assert after <= 1.1 * before, f"{before / 2**20:.0f} MiB, then {after / 2**20:.0f} MiB"
