"""Which terms of a glossary a window may have meant. In: its first transcript with the decoder's doubts, an index of
sounds. Out: the few terms to decode it again with, each with the span it would stand for. Pure; any thread.

The measurements behind every figure here are in docs/adr/0080-relevant-terms.md.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from app.prompt.sound import Unit, joined, readings_of, sound_classes, sound_key, units
from app.prompt.sound_index import SoundIndex, Spoken

# Under this similarity of sounds a term is no candidate, whatever else speaks for it.
LEAST_SIMILAR = 0.6
# Relevance is similarity plus a tenth of the doubt (mean negative log-probability of the span's tokens) and of the
# logarithm of the key's length: long names are less often alike by chance. What the decoder was sure of counts less.
_WEIGHT = 0.1
_MOST_DOUBT = 3.0
_SURE = 0.2
_SURE_PENALTY = 0.15
NAMES_DOUBT = 0.7
LEAST_RELEVANT = 1.1
_LEAST_LISTED = 1.0
MOST_OFFERED = 5
MOST_PER_SPAN = 4
# A term may be meant at several places of a window.
_MOST_PLACES = 8
# A rival is offered only if it comes this near to the best term of its span.
_RIVAL_MARGIN = 0.08
_LONGEST_KEY = 72


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of the first transcript that the decoder wrote at once, and its log-probability; all pieces joined are
    the transcript."""

    text: str
    logprob: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A term that a window may have meant. `start`, `end`: the span of the first transcript that sounds like it,
    `heard`: its text. `similarity`: of sounds, 1 is the same; `doubt`: of the decoder about the span, 0 is none;
    `relevance`: what candidates are ranked by; `evidence`: what decides, see acceptance, None before it is known and
    where it is not worth knowing."""

    term: str
    start: int
    end: int
    heard: str
    similarity: float
    doubt: float
    relevance: float
    evidence: float | None = None

    def overlaps(self, other: "Candidate") -> bool:
        return self.start < other.end and other.start < self.end


def as_heard(text: str) -> tuple[Piece, ...]:
    """A text as if a decoder had written it, with the median doubt that it has about names that it does not know."""
    return (Piece(text, -NAMES_DOUBT),) if text else ()


@dataclass(frozen=True, slots=True)
class _Span:
    first: int
    last: int
    key: str


def candidates(pieces: Sequence[Piece], index: SoundIndex) -> tuple[Candidate, ...]:
    """Terms that sound like a span of the transcript, the most relevant first; ties go by the term's text and place. A
    term is listed with its best spans, none overlapping another; one that is spelled right already is listed too."""
    text = "".join(piece.text for piece in pieces)
    readings = readings_of(text, index.language)
    found = [
        candidate
        for reading in readings
        for candidate in _in_reading(text, pieces, units(text, index.language, reading), index)
    ]
    found.sort(key=lambda candidate: (-candidate.relevance, candidate.term, candidate.start))
    best: dict[str, list[Candidate]] = {}
    for candidate in found:
        own = best.setdefault(candidate.term, [])
        if not any(other.overlaps(candidate) for other in own):
            own.append(candidate)
    return tuple(candidate for candidate in found if any(candidate is own for own in best[candidate.term]))


def _in_reading(text: str, pieces: Sequence[Piece], heard: Sequence[Unit], index: SoundIndex) -> Iterator[Candidate]:
    doubts = _doubts(pieces, heard)
    for spans, spoken in _places(heard, index):
        best: dict[str, tuple[float, float, _Span]] = {}
        likeness = cdist(
            [form.key for form in spoken],
            [span.key for span in spans],
            scorer=Levenshtein.normalized_similarity,
            score_cutoff=LEAST_SIMILAR,
            dtype=np.float32,
        )
        doubt = np.asarray([_mean(doubts[span.first : span.last + 1]) for span in spans], dtype=np.float32)
        relevance = likeness + _WEIGHT * doubt - _SURE_PENALTY * np.maximum(0, 1 - doubt / _SURE)
        relevance[likeness < LEAST_SIMILAR] = -1
        nearest = relevance.argmax(axis=1)
        for row in np.flatnonzero(relevance.max(axis=1) >= 0).tolist():
            form, at = spoken[row], int(nearest[row])
            similarity = float(likeness[row, at])
            rank = float(relevance[row, at]) + _WEIGHT * math.log(len(form.key))
            if rank < _LEAST_LISTED:
                continue
            if form.term not in best or rank > best[form.term][0]:
                best[form.term] = rank, similarity, spans[at]
        for term, what in best.items():
            yield _candidate(text, heard, doubts, term, *what)


def offered(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The few to look again with, the most relevant first: the best of every span and its near rivals. Where a term is
    spelled already there is nothing to offer."""
    chosen: list[Candidate] = []
    terms: set[str] = set()
    spelled = [candidate for candidate in found if candidate.heard == candidate.term]
    for candidate in found:
        if any(other.overlaps(candidate) for other in spelled):
            continue
        if candidate.relevance < LEAST_RELEVANT or len(chosen) == _MOST_PLACES:
            break
        if len(terms) == MOST_OFFERED and candidate.term not in terms:
            continue
        rivals = [other for other in chosen if other.overlaps(candidate)]
        near = not rivals or candidate.relevance >= rivals[0].relevance - _RIVAL_MARGIN
        if near and len(rivals) < MOST_PER_SPAN:
            chosen.append(candidate)
            terms.add(candidate.term)
    return tuple(chosen)


def repeated(offers: Sequence[Candidate], text: str) -> tuple[Candidate, ...]:
    """The offers, and each at the other places where the same was heard: what is said twice is misheard twice."""
    found = list(offers)
    parts = units(text)
    starts, ends = {unit.start for unit in parts}, {unit.end for unit in parts}
    for offer in offers:
        at = text.find(offer.heard)
        while at >= 0:
            again = replace(offer, start=at, end=at + len(offer.heard))
            whole = again.start in starts and again.end in ends
            if whole and not any(other.term == offer.term and other.overlaps(again) for other in found):
                found.append(again)
            at = text.find(offer.heard, again.end)
    return tuple(found)


def _places(heard: Sequence[Unit], index: SoundIndex) -> Iterator[tuple[list[_Span], list[Spoken]]]:
    classes, owners = "", list[int]()
    for number, unit in enumerate(heard):
        for char in sound_classes(unit.sounds):
            if not classes.endswith(char):
                classes += char
                owners.append(number)
    if not classes:
        return
    for start, end, spoken in index.frames(classes):
        # What begins in the second half of a frame is in the first half of the next.
        last = end - 1 if end == len(classes) else (start + end) // 2
        spans = list(_spans(heard, owners[start], owners[last]))
        yield spans, spoken


def _spans(heard: Sequence[Unit], first: int, last: int) -> Iterator[_Span]:
    """Every run of units that begins in a frame and is not longer than a name can be."""
    for begin in range(first, last + 1):
        sounds = ""
        for end in range(begin, len(heard)):
            sounds = joined((sounds, heard[end].sounds))
            key = sound_key(sounds)
            if len(key) > _LONGEST_KEY and end > begin:
                break
            yield _Span(begin, end, key)


def _candidate(
    text: str, heard: Sequence[Unit], doubts: Sequence[float], term: str, rank: float, similarity: float, span: _Span
) -> Candidate:
    start, end = heard[span.first].start, heard[span.last].end
    doubt = _mean(doubts[span.first : span.last + 1])
    return Candidate(term, start, end, text[start:end], round(similarity, 4), round(doubt, 4), round(rank, 4))


def _doubts(pieces: Sequence[Piece], heard: Sequence[Unit]) -> list[float]:
    """For each unit the mean negative log-probability of the pieces that wrote it, at most 3."""
    doubts, at, number = [], 0, 0
    bounds = []
    for piece in pieces:
        bounds.append((at, at + len(piece.text), -piece.logprob))
        at += len(piece.text)
    for unit in heard:
        while number < len(bounds) and bounds[number][1] <= unit.start:
            number += 1
        own, look = [], number
        while look < len(bounds) and bounds[look][0] < unit.end:
            own.append(bounds[look][2])
            look += 1
        doubts.append(min(_MOST_DOUBT, _mean(own)))
    return doubts


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
