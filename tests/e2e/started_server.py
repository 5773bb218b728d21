"""`lexicue serve` as a user would start it: a process, a URL, a log."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "app.cli.main"]


@dataclass(frozen=True)
class Server:
    url: str
    process: subprocess.Popen[str]
    log: Path

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=120)


def start_server(data_dir: Path, *arguments: str, **settings: str) -> Server:
    """Start `lexicue serve` on a free port and wait for the line with its URL."""
    data_dir.mkdir(parents=True, exist_ok=True)
    log = data_dir / "server.log"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LEXICUE_")}
    environment |= {"LEXICUE_DATA_DIR": str(data_dir), "LEXICUE_LOG_FORMAT": "json", **settings}
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [*COMMAND, "serve", "--port", "0", *arguments],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    if not url:
        process.wait(60)
        pytest.fail(f"the server did not start (exit code {process.returncode}):\n{log.read_text()[-4000:]}")
    return Server(url, process, log)


def stop_server(server: Server) -> int:
    server.process.terminate()
    code = server.process.wait(60)
    assert server.process.stdout is not None
    server.process.stdout.close()
    return code


def lexicue(*arguments: str, url: str | None = None, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command; `url` goes along as LEXICUE_URL."""
    environment = os.environ | ({"LEXICUE_URL": url} if url else {})
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, env=environment, input=stdin, capture_output=True, text=True, timeout=300
    )
