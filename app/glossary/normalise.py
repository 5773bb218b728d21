"""Text as typed to text as kept, and to the key by which two spellings are one term. In: any string. Out: clean text,
or InvalidText that says what to change. Pure; any thread.

The classes of code points are those of the Unicode Character Database (general category, Default_Ignorable_Code_Point),
version of the running Python."""

import re
import unicodedata
from dataclasses import replace

from app.errors import InvalidText
from app.glossary.control_tokens import spells_control_token
from app.glossary.term import Term

MAX_TEXT_CHARACTERS = 200
MAX_NOTE_CHARACTERS = 2000
MAX_ALIASES = 20
MAX_PRIORITY = 1_000_000_000
_MAX_KEY_BYTES = 1200
"""Compatibility folding can grow a text eighteenfold; a Postgres index row ends at about 2,700 bytes."""
_MAX_RAW_CHARACTERS = 20_000

# Format characters that carry meaning in a word: joiners (Persian, Indic scripts, emoji) and visible Arabic signs.
_KEPT_FORMAT = set("\u200c\u200d\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2")
_IGNORED_IN_KEY = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e0fff]"
)
_LINE_BREAKS = set("\t\n\v\f\r\x85")


def normalise_text(text: str, *, param: str = "text", limit: int = MAX_TEXT_CHARACTERS) -> str:
    """NFC, invisible marks removed, every run of white space (line breaks too) one space, trimmed; at most `limit`
    characters.

    Raises InvalidText for text that is empty, too long, or holds control characters, halves of surrogate pairs or
    control tokens of the model.
    """
    if len(text) > max(_MAX_RAW_CHARACTERS, limit):
        raise _too_long(param, limit)
    if not text.isascii():
        text = unicodedata.normalize("NFC", "".join(filter(_is_kept, text)))
    _refuse_controls(text, param)
    text = " ".join(text.split())
    if len(text) > limit:
        raise _too_long(param, limit)
    if spells_control_token(text):
        raise InvalidText(
            "Control tokens of the model (<|...|>) cannot be part of a text.", param=param, code="control_token"
        )
    return text


def match_key(text: str) -> str:
    """The key under which spellings are twins: width, case, composition, compatibility forms and invisible marks
    folded (NFKC_Casefold of the Unicode Standard, 3.13), white space single."""
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold()).casefold()
    visible = _IGNORED_IN_KEY.sub("", "".join(c for c in folded if unicodedata.category(c) != "Cf"))
    return " ".join(unicodedata.normalize("NFKC", visible).split())


def normalise_term(term: Term) -> Term:
    """The term with every field clean. Raises InvalidText naming the field."""
    text = normalise_text(term.text)
    key = match_key(text)
    if not key:
        raise InvalidText("The text is empty, or only invisible characters.", param="text", code="empty_text")
    if len(key.encode()) > _MAX_KEY_BYTES:
        raise _too_long("text", MAX_TEXT_CHARACTERS)
    if not -MAX_PRIORITY <= term.priority <= MAX_PRIORITY:
        raise InvalidText(f"The priority must lie within ±{MAX_PRIORITY}.", param="priority", code="invalid_priority")
    return replace(
        term,
        text=text,
        sounds_like=_aliases(term.sounds_like),
        note=normalise_text(term.note, param="note", limit=MAX_NOTE_CHARACTERS),
    )


def _aliases(texts: tuple[str, ...]) -> tuple[str, ...]:
    aliases = tuple(dict.fromkeys(filter(None, (normalise_text(text, param="sounds_like") for text in texts))))
    if len(aliases) > MAX_ALIASES:
        raise InvalidText(f"At most {MAX_ALIASES} aliases.", param="sounds_like", code="too_many_aliases")
    if any("|" in alias for alias in aliases):
        raise InvalidText("An alias cannot hold `|`, which separates aliases.", param="sounds_like", code="bad_alias")
    return aliases


def _is_kept(character: str) -> bool:
    return unicodedata.category(character) != "Cf" or character in _KEPT_FORMAT or character >= "\U000e0020"


def _refuse_controls(text: str, param: str) -> None:
    if text.isprintable():
        return
    for character in text:
        category = unicodedata.category(character)
        if category == "Cs":
            raise InvalidText(
                "The text holds half of a surrogate pair; send valid Unicode.", param=param, code="invalid_unicode"
            )
        if (category == "Cc" and character not in _LINE_BREAKS) or (ord(character) & 0xFFFE) == 0xFFFE:
            raise InvalidText(
                f"The text holds the control character U+{ord(character):04X}; remove it.",
                param=param,
                code="control_character",
            )


def _too_long(param: str, limit: int) -> InvalidText:
    return InvalidText(f"The text is too long; at most {limit} characters.", param=param, code="text_too_long")
