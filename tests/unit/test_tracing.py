"""Traces: off unless asked for, one span a request under the caller's own, and a plain word about what to install."""

import sys
import threading
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from app.api.middleware import RequestContext
from app.telemetry import StageTimer, Telemetry, note
from app.tracing import OFF, Tracing, open_tracing

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracing(exporter: InMemorySpanExporter) -> Iterator[Tracing]:
    opened = open_tracing(True, version="1.2.3", processor=SimpleSpanProcessor(exporter))
    yield opened
    opened.close()


@pytest.fixture
def client(tracing: Tracing) -> TestClient:
    def work(request: Request) -> PlainTextResponse:
        note(prompt_tokens=39, rungs={"first": 2}, glossary_revision=None)
        with StageTimer(tracing).stage("decoding"):
            return PlainTextResponse("", status_code=int(request.path_params["status"]))

    app = Starlette(routes=[Route("/jobs/{status}", work), Route("/livez", lambda _: PlainTextResponse(""))])
    return TestClient(RequestContext(app, Telemetry(version="1.2.3", tracing=tracing)))


def by_name(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


def test_a_request_is_a_span_of_the_caller_with_the_stations_under_it(
    client: TestClient, exporter: InMemorySpanExporter
) -> None:
    client.get("/jobs/200", headers={"traceparent": CALLER})
    spans = by_name(exporter)
    assert set(spans) == {"request", "decoding"}
    request, station = spans["request"], spans["decoding"]
    assert request.parent is not None
    assert f"{request.parent.trace_id:032x}-{request.parent.span_id:016x}" == CALLER[3:-3]
    assert station.parent is not None
    assert station.parent.span_id == request.context.span_id
    assert (
        dict(request.attributes or {}).items()
        >= {
            "lexicue.status": 200,
            "lexicue.prompt_tokens": 39,
            "lexicue.rungs.first": 2,
        }.items()
    )
    assert request.resource.attributes["service.name"] == "lexicue"
    assert request.resource.attributes["service.version"] == "1.2.3"


def test_a_failure_of_ours_marks_the_span_and_a_refusal_does_not(
    client: TestClient, exporter: InMemorySpanExporter
) -> None:
    client.get("/jobs/429")
    assert by_name(exporter)["request"].status.status_code is StatusCode.UNSET
    client.get("/jobs/503")
    assert exporter.get_finished_spans()[-1].status.status_code is StatusCode.ERROR


def test_probes_leave_no_spans(client: TestClient, exporter: InMemorySpanExporter) -> None:
    client.get("/livez")
    assert exporter.get_finished_spans() == ()


def test_off_is_the_default() -> None:
    assert open_tracing(False, version="1") is OFF


def test_without_the_extra_the_log_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    warnings: list[tuple[str, dict[str, object]]] = []
    monkeypatch.setattr("app.tracing.log.warning", lambda event, **facts: warnings.append((event, facts)))
    assert open_tracing(True, version="1") is OFF
    assert warnings == [
        ("traces are off: LEXICUE_TRACES needs the extra `otel`", {"install": "pip install 'lexicue[otel]'"})
    ]


def test_a_collector_that_is_away_does_not_hold_up_the_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    given_up, done = threading.Event(), threading.Event()

    class Stubborn(SpanProcessor):
        def shutdown(self) -> None:
            given_up.wait(10)
            done.set()

    monkeypatch.setattr("app.tracing.CLOSE_SECONDS", 0.01)
    tracing = open_tracing(True, version="1.2.3", processor=Stubborn())
    warnings: list[str] = []
    monkeypatch.setattr("app.tracing.log.warning", lambda event, **_: warnings.append(event))
    tracing.close()
    assert not done.is_set(), "closing returns while the processor still tries"
    assert warnings == ["the last traces are lost: nobody takes them"]
    given_up.set()
    assert done.wait(10)
