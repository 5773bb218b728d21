"""A transcript as text or subtitles. In: a Transcript. Out: plain text, SubRip or WebVTT. Pure; any thread."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from app.transcript.transcript import Segment, Transcript

# Two lines of 42 characters: what subtitle guidelines for broadcast agree on.
_LINE_CHARACTERS = 42
_MIN_CUE_MS = 1


class ResponseFormat(StrEnum):
    JSON = "json"
    VERBOSE_JSON = "verbose_json"
    TEXT = "text"
    SRT = "srt"
    VTT = "vtt"


@dataclass(frozen=True, slots=True)
class Cue:
    """Whole milliseconds, `end > start`, never overlapping the next cue."""

    start: int
    end: int
    text: str


def as_text(transcript: Transcript) -> str:
    return f"{transcript.text}\n" if transcript.text else ""


def as_srt(transcript: Transcript) -> str:
    """SubRip: numbered cues, comma before the milliseconds, hours always written."""
    return "".join(
        f"{number}\n{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}\n{cue.text}\n\n"
        for number, cue in enumerate(cues(transcript), start=1)
    )


def as_vtt(transcript: Transcript) -> str:
    """WebVTT: one header also without cues, dot before the milliseconds, hours always written."""
    return "WEBVTT\n\n" + "".join(
        f"{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{cue.text}\n\n" for cue in cues(transcript)
    )


def cues(transcript: Transcript) -> Iterator[Cue]:
    """One cue a segment: rounded to whole milliseconds first, then kept apart and at least 1 ms long."""
    floor = 0
    for segment in transcript.segments:
        text = _wrapped(segment)
        if not text:
            continue
        start = max(floor, round(segment.start * 1000))
        end = max(start + _MIN_CUE_MS, round(segment.end * 1000))
        yield Cue(start, end, text)
        floor = end


def _wrapped(segment: Segment) -> str:
    """Lines of at most 42 characters where the script has spaces to break at; an arrow cannot end a cue."""
    text = " ".join(segment.text.split()).replace("-->", "->")
    return "\n".join(textwrap.wrap(text, _LINE_CHARACTERS, break_long_words=False, break_on_hyphens=False))


def _clock(milliseconds: int, mark: str) -> str:
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}{mark}{milliseconds:03}"
