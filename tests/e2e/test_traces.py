"""Traces of a started server: what a collector gets, and what is said when the extra is not there."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from started_server import ROOT, start_server, stop_server

JFK = ("jfk.mp3", (ROOT / "tests" / "data" / "audio" / "jfk.mp3").read_bytes())


class Collector(ThreadingHTTPServer):
    """An OTLP/HTTP endpoint that keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receive)
        self.received: list[ExportTraceServiceRequest] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def spans(self) -> dict[str, bytes]:
        """Name to trace id."""
        return {
            span.name: span.trace_id
            for message in self.received
            for resource in message.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        }


class _Receive(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        plain = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
        self.server.received.append(ExportTraceServiceRequest.FromString(plain))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_collector_gets_the_stations_of_a_request_also_those_of_the_last_moment(
    collector: Collector, tmp_path: Path
) -> None:
    server = start_server(
        tmp_path / "data",
        "--sample",
        LEXICUE_ENGINE="scripted",
        LEXICUE_TRACES="true",
        OTEL_EXPORTER_OTLP_ENDPOINT=collector.endpoint,
    )
    try:
        with server.client() as client:
            client.post("/transcribe", files={"file": JFK}, data={"glossary": "clinic"}).raise_for_status()
    finally:
        assert stop_server(server) == 0
    spans = collector.spans()
    assert set(spans) == {"request", "glossary", "prompt", "audio", "decoding", "remember", "transcript"}
    assert len(set(spans.values())) == 1, "one trace"
    assert b"Sonalift" not in b"".join(message.SerializeToString() for message in collector.received)


def test_without_the_extra_the_service_starts_and_says_what_to_install(tmp_path: Path) -> None:
    # What the extra installs cannot be imported there; the interface alone comes with the web framework.
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['opentelemetry.sdk'] = None\n")
    server = start_server(tmp_path / "data", LEXICUE_ENGINE="scripted", LEXICUE_TRACES="true", PYTHONPATH=str(tmp_path))
    try:
        with server.client() as client:
            client.post("/transcribe", files={"file": JFK}).raise_for_status()
    finally:
        assert stop_server(server) == 0
    assert "pip install 'lexicue[otel]'" in server.log.read_text()
