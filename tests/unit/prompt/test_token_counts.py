"""The exact counter: the model's own tokenizer on both vocabularies, never a control token."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from token_strings import BY_CLASS, FIXTURES
from tokenizer_files import tokenizer_json

from app.errors import InvalidText, NotReady
from app.prompt.merges import BYTE_ALPHABET, Vocabulary
from app.prompt.tokens import WhisperTokens

_BYTES = {byte: number for number, byte in enumerate(BYTE_ALPHABET)}
_SMALL: dict[str, object] = {
    "normalizer": None,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
    "model": {"type": "BPE", "vocab": _BYTES, "merges": []},
}
FIRST_CONTROL_ID = 256 + 50_000  # after the bytes and the merges
COUNTED = [fixture for fixture in FIXTURES if fixture["class"] != "special_token_text"]


@pytest.mark.parametrize("column", ["tokens_multilingual", "tokens_en"])
def test_every_fixture_costs_what_was_counted(column: str, multilingual: WhisperTokens, english: WhisperTokens) -> None:
    counter = multilingual if column == "tokens_multilingual" else english
    wrong = {
        fixture["text"]: (fixture[column], count)
        for fixture in COUNTED
        if (count := len(counter.encode(f" {fixture['text'].strip()}"))) != fixture[column]
    }
    assert len(COUNTED) == 418
    assert wrong == {}


@settings(max_examples=50)
@given(text=BY_CLASS["control tokens"])
def test_text_never_becomes_a_control_token(text: str, counters: tuple[WhisperTokens, WhisperTokens]) -> None:
    for counter in counters:
        assert all(token < FIRST_CONTROL_ID for token in counter.encode(text))


def test_a_spelled_control_token_costs_its_letters(multilingual: WhisperTokens) -> None:
    assert len(multilingual.encode("<|endoftext|>")) == 7


def test_half_a_surrogate_pair_is_refused(counters: tuple[WhisperTokens, WhisperTokens]) -> None:
    for counter in counters:
        with pytest.raises(InvalidText, match="surrogate"):
            counter.encode("a\ud83d")


def test_the_vocabulary_is_recognised_by_its_merges(
    counters: tuple[WhisperTokens, WhisperTokens], tmp_path: Path
) -> None:
    data = tokenizer_json(Vocabulary.ENGLISH)
    data["model"]["merges"].pop()
    trained_further = tmp_path / "tokenizer.json"
    trained_further.write_text(json.dumps(data), encoding="utf-8")
    found = [counter.vocabulary for counter in (*counters, WhisperTokens.from_file(trained_further))]
    assert found == [Vocabulary.MULTILINGUAL, Vocabulary.ENGLISH, Vocabulary.OTHER]


@pytest.mark.parametrize(
    "change",
    [
        {"normalizer": {"type": "NFC"}},
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True}},
        {"model": {"type": "Unigram", "vocab": {}, "merges": []}},
        {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}},
        {"model": {"type": "BPE", "vocab": {**_BYTES, "ab": 300}, "merges": [["a", "b"]]}},
    ],
    ids=[
        "normaliser",
        "another cutting rule",
        "a space of its own",
        "another algorithm",
        "bytes elsewhere",
        "merge order",
    ],
)
def test_a_tokenizer_whose_costs_would_not_add_up_is_refused(change: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**_SMALL, **change}), encoding="utf-8")
    with pytest.raises(NotReady, match="not a Whisper tokenizer"):
        WhisperTokens.from_file(path)


@pytest.mark.parametrize("content", [None, "{", "[]", "{}"], ids=["missing", "cut off", "a list", "empty"])
def test_a_file_that_is_no_tokenizer_is_refused(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(NotReady) as refusal:
        WhisperTokens.from_file(path)
    assert refusal.value.code == "bad_tokenizer"
