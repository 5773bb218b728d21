"""Whether a term is in a text, spelled right. In: term and text. Out: yes or no, or how often. Pure; any thread."""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

# Scripts that are written without spaces between words: a term is found in the middle of a run there.
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


def count(term: str, text: str) -> int:
    """How often `term` stands in `text` as whole words, whatever the case and punctuation."""
    wanted, heard = words(term), words(text)
    if not wanted:
        return 0
    if any(_is_unspaced(character) for character in term):
        return "".join(heard).count("".join(wanted))
    return sum(heard[at : at + len(wanted)] == wanted for at in range(len(heard) - len(wanted) + 1))


class TermIndex:
    """Many terms, looked up in a text at one go; those that are the same words are one."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._spaced: set[tuple[str, ...]] = set()
        self._unspaced: dict[tuple[str, ...], str] = {}
        for term in terms:
            wanted = words(term)
            if any(map(_is_unspaced, term)):
                self._unspaced[wanted] = "".join(wanted)
            elif wanted:
                self._spaced.add(wanted)
        self._lengths = sorted({len(wanted) for wanted in self._spaced})

    def counts(self, text: str) -> Counter[tuple[str, ...]]:
        """How often each term that is in the text stands there, as `count` has it; by the words of the term."""
        heard = words(text)
        runs = (heard[at : at + n] for n in self._lengths for at in range(len(heard) - n + 1))
        found = Counter(run for run in runs if run in self._spaced)
        joined = "".join(heard)
        found.update({wanted: joined.count(run) for wanted, run in self._unspaced.items() if run in joined})
        return found


def found(term: str, text: str) -> bool:
    return count(term, text) > 0


@lru_cache(4096)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, in the form in which spellings and transcripts are compared."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = (c if c.isalnum() or unicodedata.category(c).startswith("M") else " " for c in folded if c not in "'’")
    return tuple("".join(kept).split())


def plain(text: str) -> str:
    return " ".join(words(text))


def _is_unspaced(character: str) -> bool:
    return unicodedata.name(character, "").startswith(_UNSPACED)
