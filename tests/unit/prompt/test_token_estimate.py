"""The estimate without a tokenizer: never under the real count, whatever the text, on both vocabularies."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from token_strings import BY_CLASS, FIXTURES

from app.errors import InvalidText
from app.prompt.merges import Vocabulary
from app.prompt.tokens import WhisperTokens, estimate_tokens


def exact(counter: WhisperTokens, text: str) -> int:
    return len(counter.encode(f" {text.strip()}"))


def test_no_fixture_is_underestimated() -> None:
    under = [
        (fixture["class"], fixture["text"])
        for fixture in FIXTURES
        if estimate_tokens(fixture["text"], Vocabulary.MULTILINGUAL) < fixture["tokens_multilingual"]
        or estimate_tokens(fixture["text"], Vocabulary.ENGLISH) < fixture["tokens_en"]
        or estimate_tokens(fixture["text"]) < max(fixture["tokens_multilingual"], fixture["tokens_en"])
    ]
    assert len(FIXTURES) == 421
    assert under == []


def test_on_ordinary_text_the_estimate_is_the_count() -> None:
    ordinary = [fixture for fixture in FIXTURES if fixture["class"] not in ("special_token_text", "random_bmp")]
    slack = [estimate_tokens(each["text"], Vocabulary.MULTILINGUAL) - each["tokens_multilingual"] for each in ordinary]
    assert len(slack) == 415
    assert sum(slack) == 0


@pytest.mark.parametrize("name", BY_CLASS)
@settings(max_examples=30)
@given(data=st.data())
def test_no_class_of_text_is_underestimated(
    name: str, data: st.DataObject, counters: tuple[WhisperTokens, WhisperTokens]
) -> None:
    text = data.draw(BY_CLASS[name])
    for counter in counters:
        bound = estimate_tokens(text, counter.vocabulary)
        assert exact(counter, text) <= bound <= len(f" {text.strip()}".encode())


@settings(max_examples=30)
@given(
    parts=st.lists(st.one_of(*BY_CLASS.values()), min_size=5, max_size=60),
    joiner=st.sampled_from([", ", "、", " ", "\n", ""]),
)
def test_no_long_prompt_is_underestimated(
    parts: list[str], joiner: str, counters: tuple[WhisperTokens, WhisperTokens]
) -> None:
    text = joiner.join(parts)
    assert estimate_tokens(text) >= max(exact(counter, text) for counter in counters)


@pytest.mark.parametrize("text", ["x" * 5000, "가나다" * 1000, "ab " * 2000, "\t" * 3000 + "x", "𠮷" * 2000])
def test_a_long_run_costs_what_the_tokenizer_says(text: str, counters: tuple[WhisperTokens, WhisperTokens]) -> None:
    for counter in counters:
        assert estimate_tokens(text, counter.vocabulary) == exact(counter, text)


def test_a_character_of_newer_unicode_is_bounded_by_its_bytes() -> None:
    assert estimate_tokens("a\U0003ffff", Vocabulary.MULTILINGUAL) == len(" a\U0003ffff".encode())
    assert estimate_tokens("Grafana \U0003ffff", Vocabulary.MULTILINGUAL) == 3 + len(" \U0003ffff".encode())


def test_an_unknown_vocabulary_is_bounded_by_bytes() -> None:
    assert estimate_tokens("Grafana", Vocabulary.OTHER) == len(b" Grafana")


def test_without_a_vocabulary_the_dearer_counts() -> None:
    text = "쇄골골절"
    assert estimate_tokens(text) == estimate_tokens(text, Vocabulary.ENGLISH) == 12
    assert estimate_tokens(text, Vocabulary.MULTILINGUAL) == 8


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(InvalidText, match="surrogate"):
        estimate_tokens("a\udc00")
