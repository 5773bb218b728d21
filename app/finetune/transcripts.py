"""Transcripts as Lexicue exports them, corrected or not, to training pieces. In: its JSON, SubRip or WebVTT. Out:
stretches of at most 30 s with their text. Pure; any thread."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.audio.waveform import WINDOW_SECONDS
from app.finetune.entries import Reason, Rejected
from app.transcript.transcript import join_texts

_CLOCK = r"(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{3})"
_CUE = re.compile(rf"^\s*{_CLOCK}\s+-->\s+{_CLOCK}")
_TAG = re.compile(r"</?[a-z][^>]*>|<\d[\d:.]*>")


@dataclass(frozen=True, slots=True)
class Piece:
    """`start`, `end`: seconds; None, None: the whole recording."""

    text: str
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Spoken:
    """A transcript's pieces and its language, empty where it says none."""

    pieces: tuple[Piece, ...]
    language: str = ""


def read_json(text: str) -> Spoken:
    """A `json` or `verbose_json` answer. Raises Rejected for anything else."""
    try:
        answer = json.loads(text)
    except ValueError:
        raise Rejected(Reason.BAD_ROW, "not JSON") from None
    if not isinstance(answer, dict):
        raise Rejected(Reason.BAD_ROW, "no JSON object")
    return spoken_of(answer)


def spoken_of(answer: dict[str, Any]) -> Spoken:
    """Segments packed to at most 30 s; without segments, or where a recording of at most 30 s had only its `text`
    corrected, the whole. Raises Rejected where `text` and segments of a longer one differ: one of them was not
    corrected, and nobody can tell which."""
    text, language = answer.get("text"), answer.get("language") or ""
    if not isinstance(language, str) or not isinstance(text, str | None):
        raise Rejected(Reason.BAD_ROW, "text and language must be strings")
    segments = _segments(answer.get("segments") or [])
    if not segments:
        if not text:
            raise Rejected(Reason.NO_TEXT)
        return Spoken((Piece(text),), language)
    if text is not None and _bare(text) != _bare("".join(piece.text for piece in segments)):
        if (segments[-1].end or 0.0) > WINDOW_SECONDS:
            raise Rejected(Reason.TEXTS_DIFFER, "correct the segments too, or remove `text`")
        return Spoken((Piece(text),), language)
    return Spoken(packed(segments), language)


def read_subtitles(text: str) -> Spoken:
    """SubRip or WebVTT. Raises Rejected when there is no cue."""
    cues: list[Piece] = []
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").removeprefix("\ufeff")):
        lines = block.strip("\n").split("\n")
        for place, line in enumerate(lines[:2]):
            if match := _CUE.match(line):
                clock = match.groups()
                said = " ".join(_TAG.sub("", later).strip() for later in lines[place + 1 :]).strip()
                if said:
                    cues.append(Piece(f" {said}", _seconds(clock[:4]), _seconds(clock[4:])))
                break
    if not cues:
        raise Rejected(Reason.NO_TEXT, "no cue with text")
    return Spoken(packed(cues))


def packed(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Neighbours joined, in order, while they span at most 30 s; one that is longer alone stays alone."""
    joined: list[list[Piece]] = []
    for piece in pieces:
        if joined and (piece.end or 0.0) - (joined[-1][0].start or 0.0) <= WINDOW_SECONDS:
            joined[-1].append(piece)
        else:
            joined.append([piece])
    return tuple(Piece(join_texts([each.text for each in group]), group[0].start, group[-1].end) for group in joined)


def _segments(found: object) -> list[Piece]:
    if not isinstance(found, list):
        raise Rejected(Reason.BAD_ROW, "segments must be a list")
    pieces = []
    for segment in found:
        try:
            text, start, end = segment["text"], float(segment["start"]), float(segment["end"])
        except (KeyError, TypeError, ValueError):
            raise Rejected(Reason.BAD_ROW, "a segment needs text, start and end") from None
        if not isinstance(text, str) or not 0 <= start <= end:
            raise Rejected(Reason.BAD_TIMES, "a segment needs 0 <= start <= end")
        if text.strip():
            pieces.append(Piece(text, start, end))
    return pieces


def _bare(text: str) -> str:
    return "".join(text.split())


def _seconds(clock: Sequence[str | None]) -> float:
    hours, minutes, seconds, thousandths = (int(part or 0) for part in clock)
    return hours * 3600 + minutes * 60 + seconds + thousandths / 1000
