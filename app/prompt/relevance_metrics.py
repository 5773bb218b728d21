"""What selection by relevance does and costs, as numbers. In: windows that were looked at again. Out: metrics. Event
loop thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Histogram

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_MODEL_SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)


class RelevanceMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._windows = Counter(
            "lexicue_relevance_windows", "Windows looked at again, by what came of it.", ["outcome"], registry=registry
        )
        for outcome in ("changed", "unchanged"):
            self._windows.labels(outcome)
        self._offered = Counter(
            "lexicue_relevance_terms_offered", "Terms that windows were looked at again with.", registry=registry
        )
        self._won = Counter(
            "lexicue_relevance_terms_won", "Terms that stand in a transcript only since the second look.",
            registry=registry,
        )  # fmt: skip
        self._matching = Histogram(
            "lexicue_relevance_matching_seconds",
            "Time to find the terms that sound like a window, wait for a thread included.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._decoding = Histogram(
            "lexicue_relevance_decode_seconds",
            "Model time of the second look at a window.",
            buckets=_MODEL_SECONDS,
            registry=registry,
        )

    @contextmanager
    def matching(self) -> Iterator[None]:
        started = perf_counter()
        yield
        self._matching.observe(perf_counter() - started)

    def tried(self, offered: int, won: int, seconds: float) -> None:
        """A window was looked at again: terms offered, terms won, model time."""
        self._windows.labels("changed" if won else "unchanged").inc()
        self._offered.inc(offered)
        self._won.inc(won)
        self._decoding.observe(seconds)
