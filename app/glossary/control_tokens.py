"""Whether text spells a control token of the model. In: text. Out: yes or no. Pure; any thread."""

import re
import unicodedata

# Characters that show nothing and split nothing for a reader (Unicode, Default_Ignorable_Code_Point), so that
# `<|end<U+200B>oftext|>` reads as the control token and becomes it in the next program that strips them.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_BRACKETS = re.compile("[<\uff1c\ufe64]")
_CONTROL_TOKEN = re.compile(r"<\s*\|[^<>|]*\|\s*>")


def spells_control_token(text: str) -> bool:
    """Whether text is, or normalises into, something like `<|endoftext|>`: also with invisible characters inside, in
    full width, or with spaces around the bars. Any name counts, so that a later model's tokens are covered."""
    if not _BRACKETS.search(text):
        return False
    bare = _INVISIBLE.sub("", unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)))
    return _CONTROL_TOKEN.search(bare) is not None
