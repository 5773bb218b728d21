"""Whether a term is in a text, spelled right. In: term and text. Out: yes or no, or how often. Pure; any thread."""

import unicodedata
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
