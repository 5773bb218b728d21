"""Memory of a started server while an hour of speech is decoded, and while ten hours of silence in a 2 MB file are
refused. In: two files of the audio folder. Out: resident megabytes of the service and of its model process, at each
tenth of the way. Run: python benchmarks/measure_memory.py
"""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
from corpus import AUDIO

from app.cli.local_server import local_server

HOUR = AUDIO / "formats" / "jfk_loop_60min.opus"
BOMB = AUDIO / "formats" / "bomb_10h_silence.flac"
_BACKLOG = re.compile(r"^lexicue_queue_audio_seconds (\S+)$", re.MULTILINE)


def main() -> None:
    with local_server(sample=False) as url, httpx.Client(base_url=url, timeout=3600) as client:
        server = next(
            process
            for process in psutil.Process().children(recursive=True)
            if "serve" in process.cmdline() and process.children()
        )
        print(f"idle: {_memory(server)}")
        started = time.perf_counter()
        answer = _post(client, BOMB)
        print(
            f"ten hours of silence: {answer.status_code} after {time.perf_counter() - started:.1f} s; {_memory(server)}"
        )
        with ThreadPoolExecutor(1) as threads:
            working = threads.submit(_post, client, HOUR)
            most, shown, peak = 0.0, 11, 0
            while not working.done():
                left = float(_BACKLOG.findall(client.get("/metrics").text)[0])
                peak = max(peak, server.memory_info().rss)
                most = max(most, left)
                tenth = int(10 * left / most) if most else 10
                if most and tenth < shown:
                    print(f"{left:.0f} s left: {_memory(server)}", flush=True)
                    shown = tenth
                time.sleep(0.5)
        body = working.result().json()
        print(f"done: {len(body['segments'])} segments, {body['receipt']['decoding']['windows']} windows; "
              f"{_memory(server)}; service at most {peak >> 20} MB")  # fmt: skip


def _post(client: httpx.Client, path: Path) -> httpx.Response:
    with path.open("rb") as file:
        return client.post("/transcribe", files={"file": file}, data={"language": "en"})


def _memory(server: psutil.Process) -> str:
    model = max(child.memory_info().rss for child in server.children() if "app.decoding.child" in child.cmdline())
    return f"service {server.memory_info().rss >> 20} MB, model {model >> 20} MB"


if __name__ == "__main__":
    main()
