"""What of a second decoding is taken. In: both transcripts of a window with the decoder's log-probabilities, the terms
that were offered. Out: replacements of spans of the first transcript, nothing else of the second. Pure; any thread.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rapidfuzz.distance import Levenshtein, Opcode

from app.prompt.relevance import Candidate, Piece
from app.prompt.sound import likeness, units

# A term is not taken where what was heard sounds less like it than this, whatever the second decoding says.
LEAST_SIMILAR = 0.55
# Nor where the decoder itself is in more doubt about it than this (mean negative log-probability of its tokens).
MOST_DOUBT = 1.5
# What the second decoding wrote otherwise is the term all the same if it sounds so; a little less will do if it came
# nearer to the term than the first.
SAME_SOUND = 0.9
NEARLY_SAME = 0.85


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


@dataclass(frozen=True, slots=True)
class WindowSelection:
    """What was offered for one window and why, with which prompt it was decoded again, and what changed."""

    window: int
    offered: tuple[Candidate, ...]
    prompt_sha256: str
    prompt_tokens: int
    changes: tuple[Change, ...] = ()


def accepted(
    first: Sequence[Piece], second: Sequence[Piece], offers: Sequence[Candidate], language: str | None = None
) -> tuple[Change, ...]:
    """Replacements in the order of the text, none overlapping another. A term is taken where the second transcript
    spells it, or writes at the span of the offer something new that sounds the same."""
    before, after = _joined(first), _joined(second)
    bridge = _Bridge(before, after, language)
    changes: list[Change] = []
    spelled = [(offer, place, after[slice(*place)]) for offer in offers for place in _occurrences(offer.term, after)]
    sounded = [(offer, place, offer.term) for offer, place in _homophones(offers, before, after, bridge)]
    for offer, place, text in (*spelled, *sounded):
        span = bridge.back(*place, offer.term)
        change = _change(offer, before, span, text, doubt_of(second, *place), language)
        if change is not None and not any(c.start < change.end and change.start < c.end for c in changes):
            changes.append(change)
    return tuple(sorted(changes, key=lambda change: change.start))


def folded(text: str) -> str:
    """Letters and digits only, in one case and width: how two spellings are compared."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _change(
    offer: Candidate, before: str, span: tuple[int, int], text: str, doubt: float, language: str | None
) -> Change | None:
    heard = before[span[0] : span[1]]
    if not heard or heard == text:
        return None
    similarity = likeness(offer.term, heard, language)
    if similarity < LEAST_SIMILAR or doubt > MOST_DOUBT:
        return None
    return Change(offer.term, *span, heard, text, round(similarity, 4), round(doubt, 4))


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


def _homophones(
    offers: Sequence[Candidate], before: str, after: str, bridge: "_Bridge"
) -> list[tuple[Candidate, tuple[int, int]]]:
    """Offers with the place in the second transcript of what was heard, where that is written anew and nearer to the
    term: the likest first, among equals the one that it is spelled most like."""
    found: list[tuple[float, float, int, Candidate, tuple[int, int]]] = []
    for offer in offers:
        heard = before[offer.start : offer.end]
        place = bridge.forth(offer.start, offer.end)
        written = after[slice(*place)]
        if not written or folded(written) in (folded(offer.term), folded(heard)):
            continue
        similarity = bridge.likeness(offer.term, written)
        if similarity >= SAME_SOUND or NEARLY_SAME <= similarity > bridge.likeness(offer.term, heard):
            spelling = Levenshtein.normalized_similarity(folded(offer.term), folded(written))
            found.append((-similarity, -spelling, len(found), offer, place))
    return [(offer, place) for _, _, _, offer, place in sorted(found, key=lambda item: item[:3])]


@dataclass(frozen=True, slots=True)
class _Region:
    """Units of the first and of the second transcript that correspond; `same`: one for one."""

    same: bool
    before: tuple[int, int]
    after: tuple[int, int]


def _regions(steps: Iterable[Opcode]) -> Iterator[_Region]:
    """Neighbouring edits are one region: which of them wrote what is arbitrary."""
    for same, group in groupby(steps, key=lambda step: step.tag == "equal"):
        run = list(group)
        first, last = run[0], run[-1]
        yield _Region(same, (first.src_start, last.src_end), (first.dest_start, last.dest_end))


class _Bridge:
    """From spans of the second transcript back to the first: over the units that both have."""

    def __init__(self, before: str, after: str, language: str | None) -> None:
        self._text = before
        self._language = language
        self._before, self._after = units(before, language), units(after, language)
        sides = (
            [folded(text[unit.start : unit.end]) for unit in parts]
            for text, parts in ((before, self._before), (after, self._after))
        )
        self._blocks = list(_regions(Levenshtein.opcodes(*sides)))

    def back(self, start: int, end: int, term: str) -> tuple[int, int]:
        """The span of the first transcript that the term at `start` to `end` of the second stands for; empty when it
        stands for nothing. Where more than the term was written anew, it is the part that sounds most like `term`."""
        owned: list[int] = []
        alone = True
        for block in self._blocks:
            written = range(block.after[0], block.after[1])
            own = [n for n in written if start <= self._after[n].start < end]
            if own and block.same:
                owned += [block.before[0] + n - block.after[0] for n in own]
            elif own:
                owned += range(*block.before)
                alone = alone and len(own) == len(written)
        if not owned:
            return 0, 0
        first, last = min(owned), max(owned)
        if not alone:
            spans = [(i, j) for i in range(first, last + 1) for j in range(i, last + 1)]
            first, last = max(spans, key=lambda span: self.likeness(term, self._heard(*span)))
        return self._before[first].start, self._before[last].end

    def forth(self, start: int, end: int) -> tuple[int, int]:
        """The span of the second transcript for units `start` to `end` of the first."""
        owned: list[int] = []
        for block in self._blocks:
            own = [n for n in range(*block.before) if start <= self._before[n].start < end]
            if own and block.same:
                owned += [block.after[0] + n - block.before[0] for n in own]
            elif own:
                owned += range(*block.after)
        return (self._after[min(owned)].start, self._after[max(owned)].end) if owned else (0, 0)

    def likeness(self, one: str, other: str) -> float:
        return likeness(one, other, self._language)

    def _heard(self, first: int, last: int) -> str:
        return self._text[self._before[first].start : self._before[last].end]


def _joined(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces)
