"""Whisper's token stream to segments. In: ids with timestamps. Out: segments inside the window, and where to go on if
the stream stopped early. Pure; any thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.decoding.request import DecodedSegment

SECONDS_PER_TIMESTAMP = 0.02
# Pauses up to 2 s stay inside a window (audio/vad.py), so this much without text is no sign of loss.
MAX_UNWRITTEN_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class SplitTokens:
    """`resume`: seconds from which the window must be decoded again, None when it is done."""

    segments: tuple[DecodedSegment, ...]
    resume: float | None


def split_tokens(
    tokens: Sequence[int],
    *,
    timestamp_begin: int,
    end_of_text: int,
    seconds: float,
    hit_cap: bool,
    decode: Callable[[list[int]], str],
) -> SplitTokens:
    """Cut `tokens` at pairs of timestamps. `seconds`: the window's length, which bounds every time.

    Text after the last pair with no end of its own reaches to the end of the window, unless the output cap cut it.
    `resume` is the last timestamp when more than MAX_UNWRITTEN_SECONDS of the window lie behind it: a window holds
    speech only, so the model stopped early (seen: 8 of 30 s written, closed by a timestamp, no doubt in its figures).
    """
    segments: list[DecodedSegment] = []
    start: float | None = None
    text: list[int] = []
    last = 0.0
    for token in tokens:
        if token < timestamp_begin:
            if token < end_of_text:
                text.append(token)
            continue
        at = min((token - timestamp_begin) * SECONDS_PER_TIMESTAMP, seconds)
        if text:
            segments.append(_segment(start if start is not None else last, at, text, decode))
            text, start = [], None
        else:
            start = at
        last = max(last, at)
    if text and not (hit_cap and segments):
        segments.append(_segment(start if start is not None else last, seconds, text, decode))
        return SplitTokens(_spoken(segments), None)
    return SplitTokens(_spoken(segments), last if 0.0 < last < seconds - MAX_UNWRITTEN_SECONDS else None)


def _segment(start: float, end: float, tokens: list[int], decode: Callable[[list[int]], str]) -> DecodedSegment:
    start, end = round(start, 2), round(end, 2)
    return DecodedSegment(start=min(start, end), end=end, text=decode(tokens), tokens=tuple(tokens))


def _spoken(segments: list[DecodedSegment]) -> tuple[DecodedSegment, ...]:
    return tuple(segment for segment in segments if segment.text.strip())
