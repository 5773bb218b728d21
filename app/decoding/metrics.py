"""What the decoder did, as numbers. In: results and queue states. Out: metrics with bounded labels. Event loop
thread."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from app.decoding.ladder import LADDER, Reason
from app.decoding.request import Outcome, WindowResult

_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)


class DecodingMetrics:
    """`queue_limit`: seconds of speech over which requests are refused."""

    def __init__(self, registry: CollectorRegistry, *, queue_limit: float = 0.0) -> None:
        self._windows = Counter("lexicue_decode_windows", "Windows by how they ended.", ["outcome"], registry=registry)
        for outcome in Outcome:
            self._windows.labels(outcome.value)
        self._fallbacks = Counter(
            "lexicue_decode_fallbacks", "Rungs left behind, by reason.", ["rung", "reason"], registry=registry
        )
        for rung in LADDER:
            for reason in Reason:
                self._fallbacks.labels(rung.name, reason.value)
        self._seconds = Histogram(
            "lexicue_decode_seconds", "Model time of one window.", buckets=_SECONDS, registry=registry
        )
        self._echoes = Counter(
            "lexicue_prompt_echoes", "Windows where only the prompt came back; dropped.", registry=registry
        )
        self._caps = Counter("lexicue_decode_output_caps", "Windows whose output reached the limit.", registry=registry)
        self._backlog = Gauge(
            "lexicue_queue_audio_seconds", "Seconds of speech admitted and not yet decoded.", registry=registry
        )
        self._requests = Gauge("lexicue_queue_requests", "Requests admitted and not yet decoded.", registry=registry)
        Gauge(
            "lexicue_queue_limit_audio_seconds",
            "Seconds of speech waiting over which requests are refused.",
            registry=registry,
        ).set(queue_limit)
        self._wait = Histogram(
            "lexicue_queue_wait_seconds",
            "Time from admission to a window's start.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._batch = Histogram(
            "lexicue_batch_size",
            "Windows given to the model together.",
            buckets=(1, 2, 4, 8, 16, 32),
            registry=registry,
        )
        self._up = Gauge("lexicue_worker_up", "1 while the model process answers.", ["device"], registry=registry)
        self._restarts = Counter(
            "lexicue_worker_restarts", "Times that the model process was started again.", registry=registry
        )

    def decoded(self, result: WindowResult) -> None:
        self._windows.labels(result.outcome.value).inc()
        self._seconds.observe(result.seconds)
        for step in result.fallbacks:
            self._fallbacks.labels(step.rung, step.reason).inc()
        if result.outcome is Outcome.PROMPT_ECHO:
            self._echoes.inc()
        if result.hit_output_cap:
            self._caps.inc()

    def batch_started(self, size: int, waits: list[float]) -> None:
        """`waits`: seconds since admission, one a window."""
        self._batch.observe(size)
        for wait in waits:
            self._wait.observe(wait)

    def backlog(self, seconds: float, requests: int) -> None:
        """What is admitted and not decoded yet: seconds of speech, and requests."""
        self._backlog.set(seconds)
        self._requests.set(requests)

    def worker(self, device: int, *, up: bool) -> None:
        """`device`: index of the device whose process this is."""
        self._up.labels(str(device)).set(int(up))

    def restarted(self) -> None:
        self._restarts.inc()
