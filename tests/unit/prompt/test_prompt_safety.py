"""Control tokens in every disguise, and nothing else, are told from plain text."""

import pytest

from app.errors import InvalidText
from app.glossary.control_tokens import spells_control_token
from app.glossary.normalise import normalise_text
from app.prompt.safety import is_usable, request_text


@pytest.mark.parametrize(
    "text",
    [
        "<|endoftext|>",
        "a<|0.00|>b",
        "<|zh|>",
        "<|startofprev|>",
        "<|token_of_a_later_model|>",
        "<\u200b|endo\u200dftext|\ufeff>",
        "＜｜endoftext｜＞",
        "＜|endoftext|﹥",
        "﹤｜ko|>",
        "<\u00ad|ko|\u2060>",
        "<|k\ufe0fo|>",
        "< |endoftext| >",
        "<\u3000|ko|\u3000>",
        "<|\U000e0001ko|>",
    ],
)
def test_a_disguised_control_token_is_found(text: str) -> None:
    assert spells_control_token(text)
    assert not is_usable(text)
    for door in (lambda: normalise_text(text), lambda: request_text(text, param="prompt")):
        with pytest.raises(InvalidText) as refusal:
            door()
        assert refusal.value.code == "control_token"


@pytest.mark.parametrize(
    "text", ["a < b | c > d", "<b>", "A|B", "f(x) <| g", "x |> f", "<>", "|x|", "1 < 2", "＜強調＞", "<-|->"]
)
def test_ordinary_brackets_are_fine(text: str) -> None:
    assert not spells_control_token(text)
    assert is_usable(text)


@pytest.mark.parametrize("text", ["", " ", " x", "x\n", "a\0b", "a\tb", "\x9b", "\udc00"])
def test_text_that_would_not_add_up_or_not_encode_is_unusable(text: str) -> None:
    assert not is_usable(text)


@pytest.mark.parametrize("text", ["می\u200cخواهم", "क्\u200dष", "👩\u200d⚕️", "שָׁלוֹם"])
def test_joiners_and_marks_that_spell_words_are_usable(text: str) -> None:
    assert is_usable(text)
