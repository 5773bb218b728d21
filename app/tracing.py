"""Spans of requests, for those who collect traces. In: a setting. Out: one span a request and one a station under it,
sent over OTLP; nothing at all when off. The only door to OpenTelemetry, which is an optional extra. Any thread."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.util.types import AttributeValue

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

INSTALL = "pip install 'lexicue[otel]'"
_PREFIX = "lexicue."
CLOSE_SECONDS = 5.0


class Tracing:
    """`provider` None: off, and every method does nothing. Spans carry counts and names of ours, never text."""

    def __init__(self, provider: "TracerProvider | None" = None) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("lexicue") if provider is not None else None

    @contextmanager
    def request(self, headers: Iterable[tuple[bytes, bytes]], facts: dict[str, object]) -> Iterator[None]:
        """The span of one HTTP request, under the caller's if `headers` name one (W3C trace context). What is in
        `facts` at its end becomes attributes; a status of 500 and above marks it as failed."""
        if self._tracer is None:
            yield
            return
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind, StatusCode

        context = extract({name.decode("latin-1"): value.decode("latin-1") for name, value in headers})
        with self._tracer.start_as_current_span("request", context, SpanKind.SERVER) as span:
            yield
            span.set_attributes({_PREFIX + name: value for name, value in _flat(facts)})
            status = facts.get("status")
            if isinstance(status, int) and status >= 500:
                span.set_status(StatusCode.ERROR)

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """A span under the current one, for the work of one station."""
        if self._tracer is None:
            yield
            return
        with self._tracer.start_as_current_span(name):
            yield

    def close(self) -> None:
        """Send what is still to be sent, in CLOSE_SECONDS at most: a collector that is away must not hold up a stop
        for as long as the exporter would try."""
        if self._provider is None:
            return
        closing = threading.Thread(target=self._provider.shutdown, name="lexicue-traces", daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)
        if closing.is_alive():
            log.warning("the last traces are lost: nobody takes them", seconds=CLOSE_SECONDS)


OFF = Tracing()


def open_tracing(enabled: bool, *, version: str, processor: "SpanProcessor | None" = None) -> Tracing:
    """Tracing as the setting wants it; off, with a line in the log that says what to install, when the extra is
    missing. `processor` None: spans are sent in batches to where the OTEL_EXPORTER_OTLP_* variables say."""
    if not enabled:
        return OFF
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        log.warning("traces are off: LEXICUE_TRACES needs the extra `otel`", install=INSTALL)
        return OFF
    ours = Resource.create({"service.name": "lexicue", "service.version": version})
    # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over what is ours.
    resource = ours.merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(processor or BatchSpanProcessor(OTLPSpanExporter()))
    return Tracing(provider)


def _flat(facts: dict[str, object]) -> Iterator[tuple[str, "AttributeValue"]]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", each) for key, each in value.items())
        elif isinstance(value, str | bool | int | float):
            yield name, value
