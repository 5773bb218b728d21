"""What a text sounds like, cut where a name may begin or end. In: text. Out: units with a sound key each. Pure; any
thread.

A key spells each sound by its features, so that a plain edit distance of two keys is graded: `p` and `b` differ in one
of three characters, `p` and `s` in all, and a vowel weighs less than a consonant.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from app.prompt.kanji import READINGS, read_kanji
from app.prompt.readings import is_han, is_hangul, is_kana, read_han, read_hangul, read_kana, read_latin, read_other

# Place, manner, voice; vowels are V, front or back, height; `.` is the mark of a vowel and nothing more.
_FEATURES = {
    "p": "Lo0", "b": "Lo1", "f": "Lf0", "v": "Lf1", "m": "Ln1", "w": "Lx1",
    "t": "Ao0", "d": "Ao1", "T": "Af0", "s": "As0", "z": "As1", "n": "An1", "l": "Al1", "r": "Al2",
    "S": "Ps0", "Z": "Ps1", "C": "Pc0", "J": "Pc1", "k": "Ko0", "g": "Ko1", "h": "h",
    "i": "VI3", "e": "VI4", "a": "VE5", "o": "VU6", "u": "VU7", ".": "V",
}  # fmt: skip
_FEATURE_TABLE = str.maketrans(_FEATURES)
# Classes for look-up: vowels all alike, h and weak vowels not heard, one class for each place.
_CLASS_TABLE = str.maketrans(
    dict.fromkeys("pbfvw", "P") | dict.fromkeys("tdT", "T") | dict.fromkeys("szSZCJ", "S") | dict.fromkeys("kg", "K")
    | dict.fromkeys("lr", "R") | dict.fromkeys("m", "M") | dict.fromkeys("n", "N")
    | dict.fromkeys("h.", "") | dict.fromkeys("aeiou", "V")
)  # fmt: skip
_WORD = re.compile(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of text that a name may begin or end with: a word, or a character of a script that joins its words.
    `start`, `end`: offsets in the text. `sounds`: see readings."""

    start: int
    end: int
    sounds: str


def units(text: str, language: str | None = None, reading: int = 0) -> tuple[Unit, ...]:
    """The units of a text in order; punctuation and spaces belong to none. `language`: how Han characters are read, in
    Mandarin if it is not Japanese; `reading`: which of several, see `readings_of`."""
    words = ((word.group(), word.start()) for word in _WORD.finditer(text))
    return tuple(unit for word, at in words for unit in _of_word(word, at, language, reading) if unit.sounds)


def readings_of(text: str, language: str | None) -> range:
    """The numbers of the ways to read a text: more than one only for kanji."""
    return range(READINGS if language == "ja" and any(map(is_han, text)) else 1)


def sounds_of(text: str, language: str | None = None, reading: int = 0) -> str:
    return joined(unit.sounds for unit in units(text, language, reading))


def likeness(one: str, other: str, language: str | None = None) -> float:
    """How alike two texts sound, in their likest readings: 1 is the same."""
    return max(
        Levenshtein.normalized_similarity(
            sound_key(sounds_of(one, language, reading)), sound_key(sounds_of(other, language, another))
        )
        for reading in readings_of(one, language)
        for another in readings_of(other, language)
    )


def joined(sounds: Iterable[str]) -> str:
    """Sounds of neighbouring units, with one that ends a unit and begins the next spoken once: Hangul writes an l
    between vowels as one that ends and one that begins."""
    whole = ""
    for each in sounds:
        again = whole[-1:] == each[:1] or (whole[-1:] == "l" and each[:1] == "r")
        whole += each[1:] if whole and again else each
    return whole


def sound_key(sounds: str) -> str:
    """Features of the sounds, three characters a consonant: what similarity is measured on. Place and manner of the
    first sound count twice: a name's onset is what is misheard least."""
    features = sounds.translate(_FEATURE_TABLE)
    return features[:2] + features


def sound_classes(sounds: str) -> str:
    """One character a sound, neighbours of one class once: what look-up is done by."""
    classes = sounds.translate(_CLASS_TABLE)
    return "".join(char for at, char in enumerate(classes) if not at or char != classes[at - 1])


def _of_word(word: str, offset: int, language: str | None, reading: int) -> Iterator[Unit]:
    at = 0
    while at < len(word):
        end = at + 1
        if is_kana(word[at]):
            while end < len(word) and word[end] in "ァィゥェォャュョッーぁぃぅぇぉゃゅょっ":
                end += 1
            sounds = read_kana(word[at:end])
        elif is_hangul(word[at]):
            sounds = read_hangul(word[at])
        elif is_han(word[at]):
            sounds = read_kanji(word, at, reading) if language == "ja" else read_han(word[at])
        else:
            while end < len(word) and not (is_kana(word[end]) or is_hangul(word[end]) or is_han(word[end])):
                end += 1
            part = word[at:end]
            sounds = read_latin(part) if _is_latin(part) else read_other(part)
        yield Unit(offset + at, offset + end, sounds)
        at = end


def _is_latin(part: Sequence[str]) -> bool:
    return all(ord(char) < 0x250 or 0x1E00 <= ord(char) < 0x1F00 or not char.isalpha() for char in part)
