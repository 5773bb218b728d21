"""Terms that a listener or a reader may take for one another. In: the terms of one prompt. Out: pairs, each with the
reason. Pure; any thread."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from anyascii import anyascii
from rapidfuzz.distance import OSA

# Two letters of eight may differ: Sonalift and Sonaline are the pair that the limit is set by.
_LOOKS_ALIKE = 0.75
_SOUNDS_ALIKE = 0.85
_SHORTEST = 4
_FEWEST_CONSONANTS = 3

# Sounds that one script or language writes apart and another does not: Korean has no f, Japanese no l, both no v.
_SPELLINGS = (
    ("ph", "f"),
    ("th", "t"),
    ("sch", "s"),
    ("sh", "s"),
    ("tch", "j"),
    ("ch", "j"),
    ("ck", "k"),
    ("qu", "k"),
    ("x", "ks"),
    ("ce", "se"),
    ("ci", "si"),
    ("cy", "si"),
)
_SAME_SOUND = str.maketrans({"f": "p", "v": "b", "l": "r", "z": "s", "c": "k", "q": "k", "g": "k", "d": "t", "w": "u"})
_VOWELS = re.compile(r"[aeiouyh]+")
_REPEATED = re.compile(r"(.)\1+")


class Likeness(StrEnum):
    LOOKS_ALIKE = "looks_alike"
    SOUNDS_ALIKE = "sounds_alike"


@dataclass(frozen=True, slots=True)
class ConfusablePair:
    """`similarity`: 1 is the same, as spelled or as romanised, whichever the reason is about."""

    first: str
    second: str
    reason: Likeness
    similarity: float


@dataclass(frozen=True, slots=True)
class _Forms:
    text: str
    spelled: str
    sounded: str
    consonants: str


def confusable_pairs(texts: Sequence[str]) -> tuple[ConfusablePair, ...]:
    """Every pair of `texts` that is alike, in their order. Quadratic: meant for the terms of one prompt."""
    pairs = (_compare(first, second) for first, second in combinations(map(_forms, texts), 2))
    return tuple(pair for pair in pairs if pair is not None)


def sound_of(text: str) -> str:
    """Latin letters for how a text sounds, alike across scripts: `Sonalift`, `소나리프트` and `ソナリフト` come out
    different in vowels only. Romanised by anyascii, which reads Han characters in Mandarin."""
    latin = "".join(filter(str.isalnum, anyascii(unicodedata.normalize("NFC", text)).lower()))
    for written, sounded in _SPELLINGS:
        latin = latin.replace(written, sounded)
    return _REPEATED.sub(r"\1", latin.translate(_SAME_SOUND))


def _forms(text: str) -> _Forms:
    spelled = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))
    sounded = sound_of(text)
    return _Forms(text, spelled, sounded, _REPEATED.sub(r"\1", sounded[:1] + _VOWELS.sub("", sounded[1:])))


def _compare(first: _Forms, second: _Forms) -> ConfusablePair | None:
    if min(len(first.spelled), len(second.spelled)) >= _SHORTEST:
        looks = OSA.normalized_similarity(first.spelled, second.spelled)
        if looks >= _LOOKS_ALIKE:
            return ConfusablePair(first.text, second.text, Likeness.LOOKS_ALIKE, round(looks, 2))
    if min(len(first.sounded), len(second.sounded)) >= _SHORTEST:
        sounds = OSA.normalized_similarity(first.sounded, second.sounded)
        same_consonants = first.consonants == second.consonants and len(first.consonants) >= _FEWEST_CONSONANTS
        if sounds >= _SOUNDS_ALIKE or same_consonants:
            return ConfusablePair(first.text, second.text, Likeness.SOUNDS_ALIKE, round(sounds, 2))
    return None
