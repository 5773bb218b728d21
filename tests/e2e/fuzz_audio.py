"""Sends damaged audio to a started server and looks what it does: `.venv/bin/python tests/e2e/fuzz_audio.py` starts one
with a scripted engine, sends 2,000 files and prints the counts. The test set sends the first of them."""

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil
from mutated_audio import mutated
from started_server import Server, start_server, stop_server

ROUTES = ("/transcribe", "/v1/audio/transcriptions")
DEADLINE_SECONDS = 30
AT_ONCE = 4


@dataclass
class Report:
    """`answers`: by status and code; `faults`: what must not be; `slowest` in seconds; `megabytes`: resident memory of
    the server after each hundred files."""

    answers: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0
    megabytes: list[int] = field(default_factory=list)

    @property
    def growth(self) -> float:
        """Memory at the end over memory after the first tenth."""
        return self.megabytes[-1] / self.megabytes[len(self.megabytes) // 10]


def fuzz(server: Server, numbers: Sequence[int]) -> Report:
    report = Report()
    process = psutil.Process(server.process.pid)
    with server.client() as client, ThreadPoolExecutor(AT_ONCE) as threads:
        for begin in range(0, len(numbers), 100):
            list(threads.map(lambda number: _send(client, number, report), numbers[begin : begin + 100]))
            report.megabytes.append(process.memory_info().rss // 2**20)
    if server.process.poll() is not None:
        report.faults.append(f"the server died with {server.process.returncode}")
    return report


def _send(client: httpx.Client, number: int, report: Report) -> None:
    name, content = mutated(number)
    begun = time.perf_counter()
    form = {"file": (f"{number}.audio", content)}
    try:
        answer = client.post(ROUTES[number % 2], files=form, data={"model": "whisper-1"} if number % 2 else {})
    except httpx.HTTPError as error:
        report.faults.append(f"{number} ({name}): {type(error).__name__}")
        return
    seconds = time.perf_counter() - begun
    report.slowest = max(report.slowest, seconds)
    body = json.loads(answer.content, parse_constant=lambda constant: report.faults.append(f"{number}: {constant}"))
    report.answers[body["error"]["code"] if answer.is_error else "heard"] += 1
    if answer.status_code not in (200, 400, 413) or seconds > DEADLINE_SECONDS:
        report.faults.append(f"{number} ({name}): {answer.status_code} after {seconds:.1f} s")


def main(files: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(Path(folder), LEXICUE_ENGINE="scripted", LEXICUE_MAX_AUDIO_SECONDS="600")
        begun = time.perf_counter()
        report = fuzz(server, range(files))
        seconds = time.perf_counter() - begun
        report.faults += [] if stop_server(server) == 0 else ["the server did not stop well"]
        tracebacks = server.log.read_text().count("Traceback")
    print(f"{files} files in {seconds:.0f} s; slowest answer {report.slowest:.1f} s")
    print("answers:", dict(report.answers.most_common()))
    print(f"memory in MB after each hundred: {report.megabytes}, end over a tenth of the way: {report.growth:.2f}")
    print("faults:", report.faults or "none", "; tracebacks in the log:", tracebacks)
    return int(bool(report.faults or tracebacks))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
