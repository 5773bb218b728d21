"""Which split and group an entry belongs to. In: entries, a glossary's terms, shares. Out: a split by a stable hash,
and whether a term is spoken. Pure; any thread."""

import hashlib
import posixpath
from collections.abc import Iterable

from app.finetune.entries import Entry, Reason, Rejected, Split
from app.glossary.normalise import match_key

_NAMES = {split.value: split for split in Split} | {
    "dev": Split.VALIDATION,
    "valid": Split.VALIDATION,
    "val": Split.VALIDATION,
}


class TermFinder:
    """Finds a glossary's terms in text, whatever their case and width. In scripts with cases a term counts only as
    whole words; in the others, where words are joined to particles or to each other, anywhere. `keys`:
    what it looks for."""

    def __init__(self, terms: Iterable[str]) -> None:
        self.keys = sorted({match_key(term) for term in terms} - {""})

    def finds(self, text: str) -> bool:
        if not self.keys:
            return False
        key = match_key(text)
        return any(wanted in key and _as_words(wanted, key) for wanted in self.keys)


def split_of(entry: Entry, validation: float) -> Split:
    """The split that the input names, else by the hash of `source`: all parts of a recording go together, however its
    path is written, and adding or removing others moves none. `validation`: share in [0, 1). Raises Rejected for a
    name that is no split."""
    name = entry.split.strip().lower()
    if name:
        if name not in _NAMES:
            raise Rejected(Reason.BAD_SPLIT)
        return _NAMES[name]
    path = posixpath.normpath(entry.source).encode("utf-8", "surrogatepass")
    place = int.from_bytes(hashlib.sha256(path).digest()[:8], "big")
    return Split.VALIDATION if place < validation * 2**64 else Split.TRAIN


def _as_words(wanted: str, key: str) -> bool:
    at = key.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not (_joined(key[at - 1 : at], wanted[0]) or _joined(wanted[-1], key[end : end + 1])):
            return True
        at = key.find(wanted, at + 1)
    return False


def _joined(before: str, after: str) -> bool:
    return _is_cased(before) and _is_cased(after)


def _is_cased(character: str) -> bool:
    return character.isdigit() or character.lower() != character.upper()
