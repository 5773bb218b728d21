"""How kanji are read in Japanese. In: a word and a place in it. Out: sounds, see readings. Pure after one read of a
table; any thread.

A kanji has a reading of its own (kun), which it shares with the kana after it, and one that it has in compounds (on).
"""

from functools import cache
from importlib.resources import files

from anyascii import anyascii

from app.prompt.readings import is_han, is_kana, read_han, read_romaji

# The likely reading of each kanji, and the other one.
READINGS = 2


def read_kanji(word: str, at: int, reading: int) -> str:
    """Sounds of the kanji at `at`, `reading` 0 the likely ones, 1 the others; a character that is in no table is read
    in Mandarin."""
    found = _table().get(word[at])
    if found is None:
        return read_han(word[at])
    on, *kuns = found
    compound = any(0 <= place < len(word) and is_han(word[place]) for place in (at - 1, at + 1))
    if on != "-" and (not kuns or compound is (reading == 0)):
        return read_romaji(on)
    return read_romaji(_without_kana(kuns, word[at + 1 : at + 2])) if kuns else read_han(word[at])


def _without_kana(kuns: list[str], follows: str) -> str:
    """The part of a reading that the kanji stands for: `ta` of `taberu` before the kana that spells `be`."""
    if follows and is_kana(follows):
        spelled = anyascii(follows).lower()
        for kun in kuns:
            if (end := kun.find(spelled, 1)) > 0:
                return kun[:end]
    return kuns[0]


@cache
def _table() -> dict[str, list[str]]:
    """On reading, or `-`, and kun readings by kanji."""
    lines = (files("app.prompt") / "tables" / "kanji.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split() for line in lines if not line.startswith("#"))
    return {kanji: readings for kanji, *readings in rows}
