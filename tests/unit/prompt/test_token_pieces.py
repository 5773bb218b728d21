"""The cutting rule: the same pieces as the tokenizer's, with its own classes, at every border of a class."""

import re
from importlib.resources import files

import pytest
from hypothesis import assume, given, settings
from token_strings import ANY_TEXT
from tokenizers import pre_tokenizers

from app.prompt.pieces import chunks, has_unassigned, pieces

CUTTER = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


def of_the_tokenizer(text: str) -> list[str]:
    return [text[start:end] for _, (start, end) in CUTTER.pre_tokenize_str(text)]


@settings(max_examples=100)
@given(text=ANY_TEXT)
def test_pieces_are_those_of_the_tokenizer(text: str) -> None:
    assume(not has_unassigned(text))
    assert pieces(text) == of_the_tokenizer(text)


@settings(max_examples=60)
@given(text=ANY_TEXT)
def test_chunks_are_whole_runs_of_pieces_whatever_an_unassigned_character_is(text: str) -> None:
    parts = chunks(text)
    assert "".join(parts) == text
    assert [piece for part in parts for piece in of_the_tokenizer(part)] == of_the_tokenizer(text)


def test_every_border_of_every_class_is_where_the_tokenizer_has_it() -> None:
    table = (files("app.prompt") / "tables" / "classes.txt").read_text(encoding="ascii")
    bounds = {int(number, 16) for number in re.findall(r"\b[0-9A-F]{1,6}\b", table.split("\n", 1)[1])}
    near = {point for bound in bounds for point in (bound - 1, bound, bound + 1) if 0 <= point <= 0x10FFFF}
    assigned = [
        chr(point) for point in sorted(near) if not 0xD800 <= point <= 0xDFFF and not has_unassigned(chr(point))
    ]
    assert len(assigned) > 2000
    wrong = [
        character
        for character in assigned
        if pieces(f"a{character}1{character}!") != of_the_tokenizer(f"a{character}1{character}!")
    ]
    assert wrong == []


@pytest.mark.parametrize("text", ["it's we'll I'RE", "a  b\n\nc ", "3D x²", "가1나", "\x1ca\x85b\u2028c", "＇s"])
def test_contractions_spaces_and_numbers(text: str) -> None:
    assert pieces(text) == of_the_tokenizer(text)
