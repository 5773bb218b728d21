"""Language names as clients write them (public report: names, case and regions failed where codes worked)."""

import pytest

from app.decoding.languages import LANGUAGES, parse_language
from app.errors import InvalidRequest


@pytest.mark.parametrize("text", ["en", "EN", "english", "English", "en-US", "en_GB", " en"])
def test_spellings_of_english(text: str) -> None:
    assert parse_language(text) == "en"


@pytest.mark.parametrize("text", [None, "", "auto", " AUTO ", "  "])
def test_empty_and_auto_mean_detect(text: str | None) -> None:
    assert parse_language(text) is None


@pytest.mark.parametrize(("text", "code"), [("zh-TW", "zh"), ("Mandarin", "zh"), ("haitian", "ht"), ("yue", "yue")])
def test_names_regions_and_three_letter_codes(text: str, code: str) -> None:
    assert parse_language(text) == code


@pytest.mark.parametrize("text", ["zz", "x" * 12_000, "e n", "englisch"])
def test_the_rest_is_refused_with_the_list_and_without_the_input(text: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_language(text)
    assert caught.value.param == "language"
    assert "en, es" in caught.value.message
    assert text not in caught.value.message


def test_table_is_the_vocabulary_of_the_multilingual_model() -> None:
    assert len(LANGUAGES) == 100
