"""How much was heard, how much of the speech got no text, and how fast. In: seconds per request. Out: counters and one
histogram. Event loop thread."""

from prometheus_client import CollectorRegistry, Counter, Histogram

_REAL_TIME_FACTORS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 5, 10)


class AudioMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._audio = Counter("lexicue_audio_seconds", "Seconds of recordings transcribed.", registry=registry)
        self._speech = Counter(
            "lexicue_speech_seconds", "Seconds of speech found by voice detection.", registry=registry
        )
        self._uncovered = Counter(
            "lexicue_uncovered_speech_seconds", "Seconds of speech that lie under no segment.", registry=registry
        )
        self._factor = Histogram(
            "lexicue_real_time_factor",
            "Time that a transcription took, waiting included, over the length of its recording.",
            buckets=_REAL_TIME_FACTORS,
            registry=registry,
        )

    def observe(self, speech_seconds: float, covered_seconds: float) -> None:
        """Count one request; both in seconds, `covered_seconds` may exceed speech by rounding."""
        self._speech.inc(speech_seconds)
        self._uncovered.inc(max(0.0, speech_seconds - covered_seconds))

    def finished(self, audio_seconds: float, seconds: float) -> None:
        """Count one transcribed recording of `audio_seconds` that took `seconds`."""
        self._audio.inc(audio_seconds)
        if audio_seconds > 0:
            self._factor.observe(seconds / audio_seconds)
