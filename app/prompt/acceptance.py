"""What of a second decoding is taken. In: both transcripts of a window with the decoder's log-probabilities, the terms
that were offered. Out: replacements of spans of the first transcript, nothing else of the second. Pure; any thread.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from app.prompt.relevance import Candidate, Piece
from app.prompt.sound import sound_key, sounds_of, units

# A term is not taken where what was heard sounds less like it than this, whatever the second decoding says.
LEAST_SIMILAR = 0.55
# Nor where the decoder itself is in more doubt about it than this (mean negative log-probability of its tokens).
MOST_DOUBT = 1.0


@dataclass(frozen=True, slots=True)
class Change:
    """`start`, `end`: the span of the first transcript, `heard` its text; `text` stands in its place. `doubt`: of the
    second decoding about the term, 0 is none."""

    term: str
    start: int
    end: int
    heard: str
    text: str
    similarity: float
    doubt: float


def accepted(first: Sequence[Piece], second: Sequence[Piece], offers: Sequence[Candidate]) -> tuple[Change, ...]:
    """Replacements in the order of the text, none overlapping another."""
    before, after = _joined(first), _joined(second)
    bridge = _Bridge(before, after)
    changes: list[Change] = []
    for offer in offers:
        for start, end in _occurrences(offer.term, after):
            change = _change(
                offer, before, after, bridge.back(start, end, sound_key(sounds_of(offer.term))), (start, end), second
            )
            if change is not None and not any(c.start < change.end and change.start < c.end for c in changes):
                changes.append(change)
    return tuple(sorted(changes, key=lambda change: change.start))


def folded(text: str) -> str:
    """Letters and digits only, in one case and width: how two spellings are compared."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _change(
    offer: Candidate,
    before: str,
    after: str,
    span: tuple[int, int],
    place: tuple[int, int],
    second: Sequence[Piece],
) -> Change | None:
    heard = before[span[0] : span[1]]
    if not heard or folded(heard) == folded(offer.term):
        return None
    similarity = Levenshtein.normalized_similarity(sound_key(sounds_of(offer.term)), sound_key(sounds_of(heard)))
    doubt = doubt_of(second, *place)
    if similarity < LEAST_SIMILAR or doubt > MOST_DOUBT:
        return None
    return Change(offer.term, *span, heard, after[place[0] : place[1]], round(similarity, 4), round(doubt, 4))


def doubt_of(pieces: Sequence[Piece], start: int, end: int) -> float:
    """Mean negative log-probability of the pieces that wrote `start` to `end`."""
    at, own = 0, []
    for piece in pieces:
        if at < end and at + len(piece.text) > start:
            own.append(-piece.logprob)
        at += len(piece.text)
    return sum(own) / len(own) if own else 0.0


def _occurrences(term: str, text: str) -> Iterator[tuple[int, int]]:
    """Spans of whole units of `text` that are spelled as the term, whatever their case, spaces and hyphens."""
    wanted, parts = folded(term), units(text)
    for first in range(len(parts)):
        spelled = ""
        for last in range(first, len(parts)):
            spelled += folded(text[parts[last].start : parts[last].end])
            if not wanted.startswith(spelled):
                break
            if spelled == wanted:
                yield parts[first].start, parts[last].end
                break


class _Bridge:
    """From spans of the second transcript back to the first: over the units that both have."""

    def __init__(self, before: str, after: str) -> None:
        self._before, self._after = units(before), units(after)
        sides = (
            [folded(text[unit.start : unit.end]) for unit in parts]
            for text, parts in ((before, self._before), (after, self._after))
        )
        self._blocks = Levenshtein.opcodes(*sides)

    def back(self, start: int, end: int, key: str) -> tuple[int, int]:
        """The span of the first transcript that the term at `start` to `end` of the second stands for; empty when it
        stands for nothing. Where more than the term was written anew, it is the part that sounds most like `key`."""
        owned: list[int] = []
        alone = True
        for block in self._blocks:
            written = range(block.dest_start, block.dest_end)
            own = [n for n in written if start <= self._after[n].start < end]
            if own and block.tag == "equal":
                owned += [block.src_start + n - block.dest_start for n in own]
            elif own:
                owned += range(block.src_start, block.src_end)
                alone = alone and len(own) == len(written)
        if not owned:
            return 0, 0
        first, last = min(owned), max(owned)
        if not alone:
            spans = [(i, j) for i in range(first, last + 1) for j in range(i, last + 1)]
            first, last = max(spans, key=lambda span: self._likeness(*span, key))
        return self._before[first].start, self._before[last].end

    def _likeness(self, first: int, last: int, key: str) -> float:
        sounds = "".join(unit.sounds for unit in self._before[first : last + 1])
        return Levenshtein.normalized_similarity(sound_key(sounds), key)


def _joined(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces)
