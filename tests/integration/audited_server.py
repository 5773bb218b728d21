"""A server that is not ours, on a real socket, and the audit commands that are pointed at it. It hears the terms that
reach it, as each test decides."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from typer.testing import CliRunner

from app.audit.hearing import found
from app.cli.main import app

TERMS = ["Sonalift", "Velnora", "Zytriflex"]
# In place of a status: the connection ends without an answer.
GONE = 0
Answering = Callable[[dict[str, str]], tuple[int, dict[str, object]]]


class OtherServer(ThreadingHTTPServer):
    """Speaks OpenAI's route; `answering` gets the fields of the form."""

    daemon_threads = True

    def __init__(self, answering: Answering) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answering = answering
        self.requests: list[dict[str, str]] = []


class _Handler(BaseHTTPRequestHandler):
    server: OtherServer

    def do_GET(self) -> None:
        self._reply(200, {"object": "list", "data": [{"id": "other", "owned_by": "somebody"}]})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        form = BytesParser(policy=HTTP).parsebytes(
            b"Content-Type: " + self.headers["Content-Type"].encode() + b"\r\n\r\n" + body
        )
        parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        fields = {str(name): part.get_content() for name, part in parts.items() if name != "file"}
        self.server.requests.append(fields)
        status, answer = self.server.answering(fields)
        if status == GONE:
            self.close_connection = True
        else:
            self._reply(status, answer)

    def _reply(self, status: int, body: dict[str, object]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def other_server(answering: Answering) -> Iterator[tuple[str, OtherServer]]:
    with OtherServer(answering) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", server
        finally:
            server.shutdown()
            thread.join()


def hearing(keep: Callable[[str], str]) -> Answering:
    def answering(fields: dict[str, str]) -> tuple[int, dict[str, object]]:
        kept = keep(fields.get("prompt", ""))
        return 200, {"text": " ".join(term for term in TERMS if found(term, kept)), "duration": 2.0, "segments": []}

    return answering


def audit(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    return result.exit_code, result.output


def truncation(url: str, audio: Path, *more: object) -> tuple[int, str]:
    return audit(
        "truncation", "--audio", audio, "--terms", ", ".join(TERMS), "--url", url, "--out", audio.parent / "out", *more
    )
