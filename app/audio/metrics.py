"""How much speech came in and how much of it got no text. In: seconds per request. Out: two counters. Any thread."""

from prometheus_client import CollectorRegistry, Counter


class AudioMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._speech = Counter(
            "lexicue_speech_seconds", "Seconds of speech found by voice detection.", registry=registry
        )
        self._uncovered = Counter(
            "lexicue_uncovered_speech_seconds", "Seconds of speech that lie under no segment.", registry=registry
        )

    def observe(self, speech_seconds: float, covered_seconds: float) -> None:
        """Count one request; both in seconds, `covered_seconds` may exceed speech by rounding."""
        self._speech.inc(speech_seconds)
        self._uncovered.inc(max(0.0, speech_seconds - covered_seconds))
