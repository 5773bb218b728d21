"""Whether a term is in a text, spelled right. In: terms and text. Out: yes or no, or how often. Pure; any thread.

A term is found as whole words. Where a script joins words (Han, kana, Thai ...) it is found within a run of it; where a
language hangs particles on its nouns (Korean) a term may be the beginning of a word.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from enum import Enum
from functools import lru_cache

_JOINED = ("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


class _Writing(Enum):
    """How words stand in a script."""

    APART = 1
    JOINED = 2
    WITH_PARTICLES = 3


def count(term: str, text: str) -> int:
    """How often `term` stands in `text`, whatever the case and punctuation."""
    return TermIndex((term,)).counts(text)[words(term)]


def found(term: str, text: str) -> bool:
    return count(term, text) > 0


class TermIndex:
    """Many terms, looked up in a text at one go; those that are the same words are one."""

    def __init__(self, terms: Iterable[str]) -> None:
        known = {wanted for term in terms if (wanted := words(term))}
        self._joined = {wanted: "".join(wanted) for wanted in known if _is(_Writing.JOINED, "".join(wanted))}
        self._apart = known - self._joined.keys()
        self._lengths = sorted({len(wanted) for wanted in self._apart})

    def counts(self, text: str) -> Counter[tuple[str, ...]]:
        """How often each term that is in the text stands there, by the words of the term."""
        heard = words(text)
        found: Counter[tuple[str, ...]] = Counter()
        for length in self._lengths:
            for at in range(len(heard) - length + 1):
                run = heard[at : at + length]
                found.update(form for form in _forms(run) if form in self._apart)
        everything = "".join(heard)
        found.update({wanted: everything.count(run) for wanted, run in self._joined.items() if run in everything})
        return found


@lru_cache(4096)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, in the form in which spellings and transcripts are compared. A name in Latin letters is a
    word of its own also where nothing stands between it and another script."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    parts: list[str] = []
    before: _Writing | None = None
    for character in folded:
        if unicodedata.category(character).startswith("M"):
            parts.append(character)
        elif character.isalnum():
            writing = _writing(character)
            parts.append(character if writing is before else f" {character}")
            before = writing
        elif character not in "'’":
            parts.append(" ")
            before = None
    return tuple("".join(parts).split())


def plain(text: str) -> str:
    return " ".join(words(text))


def _forms(run: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """The terms that a run of words may be."""
    yield run
    last = run[-1]
    if _is(_Writing.WITH_PARTICLES, last):
        yield from ((*run[:-1], last[:end]) for end in range(1, len(last)))


def _is(writing: _Writing, letters: str) -> bool:
    return any(_writing(character) is writing for character in letters)


@lru_cache(4096)
def _writing(character: str) -> _Writing:
    name = unicodedata.name(character, "")
    if name.startswith("HANGUL"):
        return _Writing.WITH_PARTICLES
    return _Writing.JOINED if name.startswith(_JOINED) else _Writing.APART
