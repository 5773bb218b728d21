"""What leaves the process about a request: counts that start at zero, one line with what the stations noted."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from app.api.middleware import RequestContext
from app.audio.metrics import AudioMetrics
from app.db_metrics import DatabaseMetrics
from app.decoding.ladder import LADDER, Reason
from app.decoding.metrics import DecodingMetrics
from app.telemetry import OUTCOMES, Telemetry, configure_logging, note


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry(version="1.2.3")


@pytest.fixture
def client(telemetry: Telemetry) -> TestClient:
    def work(request: Request) -> PlainTextResponse:
        note(prompt_sha256="ab12", prompt_tokens=39, stage_seconds={"audio": 0.1})
        return PlainTextResponse("", status_code=int(request.path_params["status"]))

    return TestClient(RequestContext(Starlette(routes=[Route("/jobs/{status}", work)]), telemetry))


@pytest.fixture
def json_log() -> Iterator[io.StringIO]:
    """What the service's own log handler writes, as JSON lines."""
    root = logging.getLogger()
    handlers, level, configured = root.handlers[:], root.level, structlog.get_config()
    configure_logging(log_format="json", level="info")
    structlog.configure(cache_logger_on_first_use=False)
    written = io.StringIO()
    handler = root.handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(written)
    yield written
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**configured)


@pytest.mark.parametrize(
    ("status", "outcome"), [(200, "2xx"), (303, "3xx"), (404, "4xx"), (429, "overloaded"), (503, "5xx")]
)
def test_a_request_is_counted_by_route_and_outcome(
    client: TestClient, telemetry: Telemetry, status: int, outcome: str
) -> None:
    client.get(f"/jobs/{status}", follow_redirects=False)
    labels = {"route": "/jobs/{status}", "outcome": outcome}
    assert telemetry.registry.get_sample_value("lexicue_requests_total", labels) == 1
    assert telemetry.registry.get_sample_value("lexicue_request_seconds_count", {"route": "/jobs/{status}"}) == 1
    assert telemetry.registry.get_sample_value("lexicue_requests_in_flight") == 0


def test_the_first_failure_of_a_route_is_an_increase(telemetry: Telemetry) -> None:
    telemetry.expect(["/transcribe"])
    values = [
        telemetry.registry.get_sample_value("lexicue_requests_total", {"route": "/transcribe", "outcome": outcome})
        for outcome in OUTCOMES
    ]
    assert values == [0] * len(OUTCOMES)


def test_the_log_has_one_line_a_request_with_what_the_stations_noted(json_log: io.StringIO, client: TestClient) -> None:
    client.get("/jobs/200", headers={"X-Request-Id": "abc-1"})
    (line,) = requests_in(json_log)
    assert (
        line.items()
        >= {
            "request_id": "abc-1",
            "route": "/jobs/{status}",
            "status": 200,
            "prompt_sha256": "ab12",
            "prompt_tokens": 39,
            "stage_seconds": {"audio": 0.1},
        }.items()
    )


def test_what_one_request_noted_is_not_in_the_line_of_the_next(json_log: io.StringIO, client: TestClient) -> None:
    client.get("/jobs/200")
    client.get("/nowhere")
    first, second = requests_in(json_log)
    assert first["prompt_tokens"] == 39
    assert "prompt_tokens" not in second


def requests_in(log: io.StringIO) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    return [line for line in lines if line["event"] == "request"]


def test_every_rung_and_reason_has_a_series_from_the_start() -> None:
    registry = CollectorRegistry()
    DecodingMetrics(registry, queue_limit=7200)
    for rung in LADDER:
        for reason in Reason:
            labels = {"rung": rung.name, "reason": reason.value}
            assert registry.get_sample_value("lexicue_decode_fallbacks_total", labels) == 0
    assert registry.get_sample_value("lexicue_queue_limit_audio_seconds") == 7200


def test_the_queue_is_shown_in_seconds_and_in_requests() -> None:
    registry = CollectorRegistry()
    DecodingMetrics(registry).backlog(90.5, 3)
    assert registry.get_sample_value("lexicue_queue_audio_seconds") == 90.5
    assert registry.get_sample_value("lexicue_queue_requests") == 3


def test_the_real_time_factor_is_time_taken_over_length() -> None:
    registry = CollectorRegistry()
    metrics = AudioMetrics(registry)
    metrics.finished(60, 15)
    metrics.finished(0, 0.1)
    assert registry.get_sample_value("lexicue_real_time_factor_sum") == 0.25
    assert registry.get_sample_value("lexicue_real_time_factor_count") == 1
    assert registry.get_sample_value("lexicue_audio_seconds_total") == 60


def test_the_pool_is_looked_at_when_a_scrape_comes() -> None:
    class Pool:
        pool_size, pool_in_use, pool_timeouts = 5, 0, 0

    pool, registry = Pool(), CollectorRegistry()
    registry.register(DatabaseMetrics(pool))
    pool.pool_in_use, pool.pool_timeouts = 5, 2
    assert registry.get_sample_value("lexicue_database_pool_size") == 5
    assert registry.get_sample_value("lexicue_database_pool_in_use") == 5
    assert registry.get_sample_value("lexicue_database_pool_timeouts_total") == 2
