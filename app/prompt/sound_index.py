"""Terms to be found by sound. In: the texts of a glossary, then what was heard. Out: for each place of what was heard
the terms that share most sounds with it. Pure; any thread.

An index is a row of segments, like that of a text search engine: the next revision costs what changed, and what is
found does not depend on how the segments came about.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from app.prompt.sound import readings_of, sound_classes, sound_key, sounds_of

_CODES = {char: code for code, char in enumerate("VPTSKRMN")}
# Three classes in a row, three consonants with their vowels left out, two of these: measured in docs/adr/0080. Among
# consonants alone m, n, l and r, which are taken for one another, are one.
_SONORANTS = frozenset(_CODES[char] for char in "RMN")
_WITH_VOWELS, _THREE_CONSONANTS, _TWO_CONSONANTS, _GRAMS = 0, 512, 1024, 1088
# What was heard is looked at through frames of this many classes, begun anew every half frame.
_FRAME = 16
_STEP = _FRAME // 2
_BY_CHANCE = 0.25
_LEAST_SHARED = 1 / 3
_MOST_PER_FRAME = 128
# A gram that more than one row in so many has is kept as a column of ones, which is added faster than it is listed.
_LISTED = 48
_SEGMENTS_MOST = 8
_MOST_DEAD = 0.25

Numbers = npt.NDArray[np.intp]
Scores = npt.NDArray[np.float32]
_NONE: Numbers = np.empty(0, dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Spoken:
    """One way to say a term: the term, and the features of its sounds."""

    term: str
    key: str


def grams(classes: str) -> set[int]:
    """Numbers of the runs that make up a string of classes, each once, 0 to 1087."""
    codes = [_CODES[char] for char in classes]
    consonants = [_CODES["R"] if code in _SONORANTS else code for code in codes if code]
    found = {a << 6 | b << 3 | c for a, b, c in zip(codes, codes[1:], codes[2:], strict=False)}
    found.update(
        _THREE_CONSONANTS + (a << 6 | b << 3 | c)
        for a, b, c in zip(consonants, consonants[1:], consonants[2:], strict=False)
    )
    found.update(_TWO_CONSONANTS + (a << 3 | b) for a, b in pairwise(consonants))
    return found


class _Segment:
    """Postings of some spoken forms, as columns: which rows have a gram, and how many grams a row has. Rows stand
    in the order of terms and keys, so that ties are broken alike in every segment."""

    def __init__(self, terms: Mapping[str, tuple[str, ...]], language: str | None) -> None:
        self.terms = terms
        self.spoken: list[Spoken] = []
        numbers: list[int] = []
        sizes: list[int] = []
        for term, ways in sorted(terms.items()):
            spoken = {sounds_of(way, language, reading) for way in ways for reading in readings_of(way, language)}
            for sounds in sorted(spoken, key=sound_key):
                found = grams(sound_classes(sounds))
                if found:
                    numbers += found
                    sizes.append(len(found))
                    self.spoken.append(Spoken(term, sound_key(sounds)))
        column = np.asarray(numbers, dtype=np.int32)
        rows = np.repeat(np.arange(len(sizes), dtype=np.intp), sizes)
        rows = rows[np.argsort(column, kind="stable")]
        lists = np.split(rows, np.cumsum(np.bincount(column, minlength=_GRAMS))[:-1])
        self._lists: list[Numbers] = lists
        self._columns = {
            number: np.bincount(found, minlength=len(sizes)).astype(np.uint8)
            for number, found in enumerate(lists)
            if len(found) * _LISTED > len(sizes)
        }
        self._sizes: Scores = np.asarray(sizes, dtype=np.float32)
        self._least = np.minimum(255, np.ceil(_LEAST_SHARED * self._sizes)).astype(np.uint8)
        self._deviation: Scores = np.sqrt(self._sizes * _BY_CHANCE * (1 - _BY_CHANCE)).astype(np.float32)

    def likely(self, numbers: Sequence[int]) -> tuple[Numbers, Scores]:
        """Rows that share enough grams with `numbers`, and by how many standard deviations that is over chance."""
        lists = [self._lists[number] for number in numbers if number not in self._columns]
        hits = np.bincount(np.concatenate([_NONE, *lists]), minlength=len(self.spoken)).astype(np.uint8)
        for number in numbers:
            if number in self._columns:
                hits += self._columns[number]
        rows = np.flatnonzero(hits >= self._least)
        over = (hits[rows] - _BY_CHANCE * self._sizes[rows]) / self._deviation[rows]
        return rows, over.astype(np.float32)


@dataclass(frozen=True, slots=True)
class _Part:
    """A segment in an index: `alive` is False for rows whose term has changed since, None where none has."""

    segment: _Segment
    alive: npt.NDArray[np.bool_] | None = None

    def best(self, numbers: Sequence[int]) -> Iterator[tuple[float, Spoken]]:
        """At most 128 spoken forms with their scores, the best first."""
        rows, scores = self.segment.likely(numbers)
        if self.alive is not None:
            rows, scores = rows[self.alive[rows]], scores[self.alive[rows]]
        if len(rows) > _MOST_PER_FRAME:
            least = np.partition(scores, -_MOST_PER_FRAME)[-_MOST_PER_FRAME]
            rows, scores = rows[scores >= least], scores[scores >= least]
        order = np.lexsort((rows, -scores))[:_MOST_PER_FRAME]
        forms = map(self.segment.spoken.__getitem__, rows[order].tolist())
        return zip(scores[order].tolist(), forms, strict=True)


class SoundIndex:
    """`terms`: each term with all ways to say it, its own spelling among them; `language`: in which they are read.
    Immutable."""

    def __init__(
        self,
        terms: Mapping[str, tuple[str, ...]],
        *,
        language: str | None = None,
        segments: Sequence[_Segment] = (),
    ) -> None:
        self.terms = dict(terms)
        self.language = language
        largest = sorted(segments, key=lambda segment: -len(segment.terms))[: _SEGMENTS_MOST - 1]
        kept = [part for segment in largest if (part := self._part(segment)) is not None]
        known = {term for part in kept for term, ways in part.segment.terms.items() if self.terms.get(term) == ways}
        rest = {term: ways for term, ways in self.terms.items() if term not in known}
        self._parts = [*kept, *([_Part(_Segment(rest, language))] if rest else [])]

    def updated(self, terms: Mapping[str, tuple[str, ...]]) -> "SoundIndex":
        """The index of another revision of the same terms."""
        return SoundIndex(terms, language=self.language, segments=[part.segment for part in self._parts])

    def frames(self, classes: str) -> Iterator[tuple[int, int, list[Spoken]]]:
        """For each frame of what was heard its start and end in `classes` and the terms that may be in it, the
        likeliest first, at most 128."""
        for start in range(0, max(1, len(classes) - _STEP), _STEP):
            end = min(len(classes), start + _FRAME)
            if found := self._in_frame(sorted(grams(classes[start:end]))):
                yield start, end, found

    def _in_frame(self, numbers: Sequence[int]) -> list[Spoken]:
        if not numbers:
            return []
        if len(self._parts) == 1:
            return [spoken for _, spoken in self._parts[0].best(numbers)]
        ranked = [found for part in self._parts for found in part.best(numbers)]
        ranked.sort(key=lambda found: (-found[0], found[1].term, found[1].key))
        return [spoken for _, spoken in ranked[:_MOST_PER_FRAME]]

    def _part(self, segment: _Segment) -> _Part | None:
        """The segment as a part of this index; None when so much of it has changed that it is made anew."""
        dead = {term for term, ways in segment.terms.items() if self.terms.get(term) != ways}
        if len(dead) > _MOST_DEAD * len(segment.terms):
            return None
        alive = np.fromiter((spoken.term not in dead for spoken in segment.spoken), dtype=np.bool_) if dead else None
        return _Part(segment, alive)
