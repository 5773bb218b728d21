"""How a text is read aloud, in one small alphabet of sounds for all scripts. In: a word or a character. Out: its
sounds. Pure; any thread.

Sounds: consonants p b f v m w t d T s z n l r S Z C J k g h (T as in thin, S sh, Z as in measure, C ch, J as in jam),
vowels a e i o u, and `.` for a vowel that a borrowing language puts between consonants, as the u's of `nuburisuku`.
Rules are those of spelling, not of one language's lexicon: brands are in no lexicon.
"""

import re
import unicodedata
from functools import lru_cache

from anyascii import anyascii

_SOUNDS = frozenset("aeiou.pbfvmwtdTsznlrSZCJkgh")

# Latin letters, the longest match first; `^` and `$` are the word's ends. English and what it shares with its
# neighbours: a spelling that two languages read in two ways gets the reading that lies between them.
_LATIN = {
    "tch": "C", "sch": "S", "sh": "S", "ch": "C", "ph": "f", "th": "T", "gh": "", "^wh": "w", "ck": "k", "dge": "J",
    "^kn": "n", "^wr": "r", "^ps": "s", "^x": "z", "x": "ks", "qu": "kw", "q": "k", "ce": "se", "ci": "si",
    "cy": "si", "c": "k", "tion": "Sen", "sion": "Sen", "j": "J", "eau": "o", "eigh": "e", "igh": "i", "ee": "i",
    "ea": "i", "ie": "i", "ei": "i", "ey$": "i", "ai": "e", "ay": "e", "au": "o", "aw": "o", "oo": "u", "ou": "u",
    "ow": "o", "oa": "o", "iew": "iu", "ue$": "iu", "ew": "iu", "eu": "iu", "oi": "oi", "oy": "oi", "^y": "i", "y": "i",
    "wr": "r", "wa": "wo", "way": "we", "mb$": "m", "le$": "l", "re$": "r",
}  # fmt: skip
_LONGEST_LATIN = 4
_SILENT_E = re.compile(r"(?<=[aeiouy])([bcdfghjklmnpqrstvwxz]+)e$")
_LETTER_NAMES = {
    "b": "bi", "c": "si", "d": "di", "f": "ef", "g": "Ji", "h": "eC", "j": "Je", "k": "ke", "l": "el", "m": "em",
    "n": "en", "p": "pi", "q": "kiu", "r": "ar", "s": "es", "t": "ti", "u": "iu", "v": "vi", "x": "eks", "z": "zi",
}  # fmt: skip

_DIGITS = dict(
    zip("0123456789", ("ziro", "wan", "tu", "Tri", "for", "faiv", "siks", "seven", "eit", "nain"), strict=True)
)

_HANGUL_FIRST, _HANGUL_LAST = 0xAC00, 0xD7A3
_INITIALS = ("k", "k", "n", "t", "t", "r", "m", "p", "p", "s", "s", "", "J", "J", "C", "k", "t", "p", "h")
_MEDIALS = ("a", "e", "ia", "ie", "o", "e", "io", "ie", "o", "wa", "we", "we", "io", "u", "wo", "we", "wi", "iu", ".",
            "i", "i")  # fmt: skip
_FINALS = ("", "k", "k", "k", "n", "n", "n", "t", "l", "l", "m", "l", "l", "l", "l", "l", "m", "p", "p", "t", "t", "n",
           "t", "t", "k", "t", "p", "t")  # fmt: skip

_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa\u30fc]")
_SMALL_KANA = dict(zip("ァィゥェォャュョ", "aiueoauo", strict=True))
_PINYIN = (
    ("zh", "J"),
    ("ch", "C"),
    ("sh", "S"),
    ("q", "C"),
    ("x", "S"),
    ("j", "J"),
    ("z", "z"),
    ("c", "s"),
    ("r", "r"),
)
_GLIDE = re.compile(r"u(?=[aei])")
_JAPANESE_U = re.compile(r"(?<=[^aeiou])u")
_JAPANESE_H = re.compile(r"(?<![sckgt])h")
_THAI_LEADING_VOWELS = "เแโใไ"


def is_kana(char: str) -> bool:
    return _KANA.match(char) is not None


def is_hangul(char: str) -> bool:
    return _HANGUL_FIRST <= ord(char) <= _HANGUL_LAST


def is_han(char: str) -> bool:
    code = ord(char)
    return 0x3400 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x3FFFF


def read_latin(word: str) -> str:
    """Sounds of a word in Latin letters, accents allowed. A single letter is read by its name."""
    letters = "".join(filter(str.isalnum, anyascii(word).lower()))
    if letters in _LETTER_NAMES:
        return _LETTER_NAMES[letters]
    letters = _SILENT_E.sub(r"\1", letters)
    sounds, at = [], 0
    while at < len(letters):
        spelling, sound = _next_latin(letters, at)
        sounds.append(sound)
        at += len(spelling)
    return squeezed("".join(sound for sound in "".join(sounds) if sound in _SOUNDS))


def read_hangul(syllable: str) -> str:
    index = ord(syllable) - _HANGUL_FIRST
    initial, rest = divmod(index, 21 * 28)
    medial, final = divmod(rest, 28)
    return _INITIALS[initial] + _MEDIALS[medial] + _FINALS[final]


def read_kana(kana: str) -> str:
    """Sounds of one kana or of a kana with small ones behind it; long-vowel and gemination marks are not read."""
    katakana = "".join(chr(ord(char) + 0x60) if "ぁ" <= char <= "ゖ" else char for char in kana)
    sounds = ""
    for char in katakana:
        if char in "ッー・":
            continue
        if char in _SMALL_KANA and sounds:
            sounds = ("w" if sounds == "u" else sounds[:-1]) + _SMALL_KANA[char]
            continue
        sounds += read_romaji(anyascii(char))
    return sounds


def read_romaji(romaji: str) -> str:
    """Sounds of romanised Japanese: its h is the f of other languages, its u after a consonant hardly a vowel."""
    return _plain(_JAPANESE_U.sub(".", _JAPANESE_H.sub("f", romaji)))


@lru_cache(8192)
def read_han(char: str) -> str:
    """Sounds of one Han character in Mandarin."""
    pinyin = anyascii(char).lower()
    for spelling, sound in _PINYIN:
        if pinyin.startswith(spelling):
            pinyin = sound + pinyin[len(spelling) :]
            break
    if pinyin.endswith("ng"):
        pinyin = pinyin[:-1]
    if pinyin in ("ke", "te", "de", "si", "zi", "Si", "Ci", "Ji", "ri", "er"):  # hardly a vowel, in names least of all
        return f"{_plain(pinyin)[0]}." if pinyin != "er" else "r"
    if pinyin.endswith("e") and len(pinyin) == 2:
        pinyin = f"{pinyin[0]}o"
    return squeezed(_GLIDE.sub("w", _plain(pinyin.replace("uo", "o"))))


def read_other(text: str) -> str:
    """Sounds of any other script, letter by letter as romanised; Thai vowels written first are read after."""
    chars = list(unicodedata.normalize("NFC", text))
    for at in range(len(chars) - 1):
        if chars[at] in _THAI_LEADING_VOWELS:
            chars[at], chars[at + 1] = chars[at + 1], chars[at]
    return squeezed(_plain(anyascii("".join(chars)).lower()))


def squeezed(sounds: str) -> str:
    """Neighbours that sound the same once."""
    return "".join(sound for at, sound in enumerate(sounds) if not at or sound != sounds[at - 1])


def _next_latin(letters: str, at: int) -> tuple[str, str]:
    for length in range(_LONGEST_LATIN, 0, -1):
        spelling = letters[at : at + length]
        if len(spelling) < length:
            continue
        if at == 0 and (sound := _LATIN.get(f"^{spelling}")) is not None:
            return spelling, sound
        if at + length == len(letters) and (sound := _LATIN.get(f"{spelling}$")) is not None:
            return spelling, sound
        if (sound := _LATIN.get(spelling)) is not None:
            return spelling, sound
    return letters[at], _DIGITS.get(letters[at], letters[at])


def _plain(romanised: str) -> str:
    """Romanised letters that are read as written: what anyascii gives for scripts other than Latin."""
    sounds = romanised
    for spelling, sound in (("shch", "S"), ("sh", "S"), ("ch", "C"), ("ts", "s"), ("zh", "Z"), ("kh", "k"), ("th", "t"),
                            ("ph", "p"), ("j", "J"), ("y", "i"), ("c", "k"), ("q", "k"), ("x", "ks")):  # fmt: skip
        sounds = sounds.replace(spelling, sound)
    return "".join(_DIGITS.get(char, char if char in _SOUNDS else "") for char in sounds)
