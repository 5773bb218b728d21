"""What text may go near a prompt. In: text as a caller sent it. Out: the same text tidied, or InvalidText. Pure; any
thread."""

import re

from app.glossary.control_tokens import spells_control_token
from app.glossary.normalise import normalise_text

_MOST_CHARACTERS = 20_000
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def is_usable(text: str) -> bool:
    """Whether a glossary term can stand in a prompt as it is; what is refused on writing is left out on reading."""
    return not (
        text != text.strip()
        or not text
        or _CONTROL_CHARACTER.search(text)
        or _SURROGATE.search(text)
        or spells_control_token(text)
    )


def request_text(text: str, *, param: str) -> str:
    """Words of a request, tidied as a term is (`normalise_text`); empty when nothing is left. Raises InvalidText for
    control characters other than line breaks, lone surrogates, control tokens and text no prompt could hold; the
    message never repeats the text."""
    return normalise_text(text, param=param, limit=_MOST_CHARACTERS)
