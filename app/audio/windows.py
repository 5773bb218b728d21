"""Speech packed into windows. In: spans of speech. Out: windows of at most 30 s, cut at silence wherever there is
one. Pure; any thread."""

from collections.abc import Iterator, Sequence

from app.audio.waveform import SAMPLE_RATE, WINDOW_SECONDS, Span, Window


def pack_windows(spans: Sequence[Span], *, max_seconds: float = WINDOW_SECONDS) -> tuple[Window, ...]:
    """Greedy in order: a span joins the current window if it still fits, else it opens the next one.

    Every sample of every span is in exactly one window; a span over `max_seconds` (seconds, > 0) is split.
    """
    limit = int(max_seconds * SAMPLE_RATE)
    windows: list[Window] = []
    current: list[Span] = []
    filled = 0
    for span in _split(spans, limit):
        if current and filled + len(span) > limit:
            windows.append(Window(len(windows), tuple(current)))
            current, filled = [], 0
        current.append(span)
        filled += len(span)
    if current:
        windows.append(Window(len(windows), tuple(current)))
    return tuple(windows)


def _split(spans: Sequence[Span], limit: int) -> Iterator[Span]:
    for span in spans:
        for start in range(span.start, span.end, limit):
            yield Span(start, min(start + limit, span.end))
