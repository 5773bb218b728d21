"""What text may go near a prompt. In: text as a caller sent it. Out: the same text tidied, or InvalidText. Pure; any
thread."""

import re
import unicodedata

from app.errors import InvalidText
from app.glossary.normalise import normalise_text

# Characters that show nothing and split nothing for a reader (Unicode, Default_Ignorable_Code_Point), so that
# `<|end<U+200B>oftext|>` reads as the control token and may become it in the next program that strips them.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_MOST_CHARACTERS = 20_000
_CONTROL_TOKEN = re.compile(r"<\s*\|[^<>|]*\|\s*>")
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def spells_control_token(text: str) -> bool:
    """Whether text is, or normalises into, something like `<|endoftext|>`: also with invisible characters inside, in
    full width, or with spaces around the bars. Any name counts, so that a later model's tokens are covered."""
    bare = _INVISIBLE.sub("", unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)))
    return _CONTROL_TOKEN.search(bare) is not None


def is_usable(text: str) -> bool:
    """Whether a glossary term can stand in a prompt as it is; what is refused on writing is left out on reading."""
    return not (
        text != text.strip()
        or not text
        or _CONTROL_CHARACTER.search(text)
        or _SURROGATE.search(text)
        or (("<" in text or "\uff1c" in text or "\ufe64" in text) and spells_control_token(text))
    )


def request_text(text: str, *, param: str) -> str:
    """Words of a request, tidied as a term is (`normalise_text`); empty when nothing is left. Raises InvalidText for
    control characters other than line breaks, lone surrogates, control tokens and text no prompt could hold; the
    message never repeats the text."""
    tidy = normalise_text(text, param=param, limit=_MOST_CHARACTERS)
    if spells_control_token(tidy):
        raise InvalidText(
            f"`{param}` spells a control token of the model, such as <|...|>; write it another way.",
            param=param,
            code="control_token",
        )
    return tidy
