"""A transcript laid out as subtitles. In: a Transcript. Out: cues of at most two short lines with whole milliseconds,
in order, never overlapping. Pure; any thread."""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from app.transcript.transcript import Segment, Transcript

# Two lines of 42 columns: what subtitle guidelines for broadcast agree on. A wide letter (Han, kana, Hangul) takes two.
LINE_COLUMNS = 42
CUE_LINES = 2
_MIN_CUE_MS = 1
_NO_LINE_START = frozenset("。、，．！？：；）」』】〉》”’…ー・々ぁぃぅぇぉっゃゅょァィゥェォッャュョ")
_NO_LINE_END = frozenset("（「『【〈《“‘")


@dataclass(frozen=True, slots=True)
class Cue:
    """Whole milliseconds, `end > start`; `lines`: one or two of at most 42 columns, none empty."""

    start: int
    end: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Atom:
    """What no line break may cut, and whether a space stands before it."""

    text: str
    spaced: bool


def cues(transcript: Transcript) -> list[Cue]:
    """The cues of all segments: one a segment if it fits two lines, else as many as it takes.

    A long segment is divided in time where its words are, or in proportion to its letters without word times. Cues of
    no length get a millisecond; none ends after the recording (unless that has fewer milliseconds than cues).
    """
    forward: list[Cue] = []
    floor = 0
    for cue in (cue for segment in transcript.segments for cue in _of_segment(segment)):
        start = max(floor, cue.start)
        floor = max(start + _MIN_CUE_MS, cue.end)
        forward.append(replace(cue, start=start, end=floor))
    placed: list[Cue] = []
    ceiling = max(round(transcript.duration * 1000), len(forward) * _MIN_CUE_MS)
    for cue in reversed(forward):
        end = min(cue.end, ceiling)
        ceiling = min(cue.start, end - _MIN_CUE_MS)
        placed.append(replace(cue, start=ceiling, end=end))
    return placed[::-1]


def columns(text: str) -> int:
    """Width of a line as a terminal or a player counts it: wide letters 2, marks on a letter 0, others 1."""
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _of_segment(segment: Segment) -> Iterator[Cue]:
    lines = _wrapped(" ".join(segment.text.split()).replace("-->", "->"))
    groups = [lines[at : at + CUE_LINES] for at in range(0, len(lines), CUE_LINES)]
    letters = [sum(map(_letters, group)) for group in groups]
    edges = _edges(segment, letters)
    for group, (start, end) in zip(groups, edges, strict=True):
        yield Cue(round(start * 1000), round(end * 1000), tuple(group))


def _edges(segment: Segment, letters: Sequence[int]) -> list[tuple[float, float]]:
    """Start and end in seconds of each group of `letters`, which count from the segment's first letter on."""
    passed = [0, *accumulate(letters)]
    total = passed[-1]
    starts = [0, *accumulate(_letters(word.word) for word in segment.words or ())]
    if len(letters) > 1 and segment.words and starts[-1] == total:
        first = [bisect_right(starts, at) - 1 for at in passed[:-1]]
        cuts = [segment.words[at].start for at in first[1:]]
        ends = [segment.words[max(at - 1, 0)].end for at in first[1:]]
        return list(zip([segment.start, *cuts], [*ends, segment.end], strict=True))
    length = segment.end - segment.start
    at = [segment.start + length * count / max(total, 1) for count in passed]
    at[-1] = segment.end
    return list(pairwise(at))


def _letters(text: str) -> int:
    return sum(not character.isspace() for character in text)


def _wrapped(text: str) -> list[str]:
    """As few lines as 42 columns allow, as even as they can be; empty for no text."""
    atoms = list(_atoms(text))
    fewest = len(_packed(atoms, LINE_COLUMNS))
    low, high = 1, LINE_COLUMNS
    while low < high:
        middle = (low + high) // 2
        fits = all(columns(atom.text) <= middle for atom in atoms) and len(_packed(atoms, middle)) <= fewest
        low, high = (low, middle) if fits else (middle + 1, high)
    return _packed(atoms, high)


def _packed(atoms: Sequence[_Atom], width: int) -> list[str]:
    lines: list[str] = []
    for atom in atoms:
        joined = f"{lines[-1]}{' ' if atom.spaced else ''}{atom.text}" if lines else atom.text
        if lines and columns(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(atom.text)
    return lines


def _atoms(text: str) -> Iterator[_Atom]:
    """Words; in scripts without spaces letters, with the marks that may not begin or end a line beside their letter."""
    for word in text.split():
        parts: list[str] = []
        for character in word:
            if parts and _inseparable(parts[-1][-1], character) and columns(parts[-1] + character) <= LINE_COLUMNS:
                parts[-1] += character
            else:
                parts.append(character)
        for place, part in enumerate(parts):
            yield _Atom(part, spaced=place == 0)


def _inseparable(before: str, after: str) -> bool:
    if unicodedata.combining(after) or after in _NO_LINE_START or before in _NO_LINE_END:
        return True
    return (_width(before) < 2 and _width(after) < 2) or (_is_hangul(before) and _is_hangul(after))


def _is_hangul(character: str) -> bool:
    return "가" <= character <= "힣"
