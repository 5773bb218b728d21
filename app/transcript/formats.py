"""A transcript as text or subtitles. In: a Transcript. Out: plain text, SubRip or WebVTT. Pure; any thread."""

from enum import StrEnum

from app.transcript.cues import Cue, cues
from app.transcript.transcript import Transcript


class ResponseFormat(StrEnum):
    JSON = "json"
    VERBOSE_JSON = "verbose_json"
    TEXT = "text"
    SRT = "srt"
    VTT = "vtt"


def as_text(transcript: Transcript) -> str:
    return f"{transcript.text}\n" if transcript.text else ""


def as_srt(transcript: Transcript) -> str:
    """SubRip: numbered cues, comma before the milliseconds, hours always written."""
    return "".join(
        f"{number}\n{_times(cue, ',')}\n{_text(cue)}\n\n" for number, cue in enumerate(cues(transcript), start=1)
    )


def as_vtt(transcript: Transcript) -> str:
    """WebVTT: one header also without cues, dot before the milliseconds, hours always written; what begins an entity or
    a tag there is escaped."""
    return "WEBVTT\n\n" + "".join(
        f"{_times(cue, '.')}\n{_text(cue).replace('&', '&amp;').replace('<', '&lt;')}\n\n" for cue in cues(transcript)
    )


def _text(cue: Cue) -> str:
    return "\n".join(cue.lines)


def _times(cue: Cue, mark: str) -> str:
    return f"{_clock(cue.start, mark)} --> {_clock(cue.end, mark)}"


def _clock(milliseconds: int, mark: str) -> str:
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}{mark}{milliseconds:03}"
