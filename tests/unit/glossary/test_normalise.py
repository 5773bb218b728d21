"""Which spellings are one term, and what is no term at all."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidText
from app.glossary.normalise import MAX_ALIASES, match_key, normalise_term, normalise_text
from app.glossary.term import Term

TWINS = [
    ("Nguyễn", unicodedata.normalize("NFD", "Nguyễn")),
    ("Nguyen", "Nguyen "),
    ("Co op", "Co\u00a0op"),
    ("Co op", "Co \t op"),
    ("Grafana", "ＧＲＡＦＡＮＡ"),
    ("Grafana", "gra\u200bfana"),
    ("Grafana", "Grafana\ufeff"),
    ("Grafana", "Gra\u00adfana"),
    ("グラフ", "ｸﾞﾗﾌ"),
    ("한국어", unicodedata.normalize("NFD", "한국어")),
    ("Straße", "STRASSE"),
    ("שלום", "\u200fשלום"),
    ("cba", "\u202ecba"),
    ("می‌خواهم", "میخواهم"),
    ("№ 5", "No 5"),
    ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
]
DIFFERENT = [("Nguyen", "Nguyễn"), ("Öl", "Ol"), ("Coop", "Co op"), ("C++", "C"), ("5", "6"), ("カ", "ガ")]


@pytest.mark.parametrize(("one", "other"), TWINS)
def test_spellings_of_one_term_share_a_key(one: str, other: str) -> None:
    assert match_key(normalise_text(one)) == match_key(normalise_text(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_terms_have_other_keys(one: str, other: str) -> None:
    assert match_key(one) != match_key(other)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (" Kubernetes\r\n", "Kubernetes"),
        ("two\r\nlines", "two lines"),
        ("\u200fשלום", "שלום"),
        ("\u202ecba", "cba"),
        ("Nguye\u0302\u0303n", "Nguyễn"),
        ("می‌خواهم", "می‌خواهم"),
        ("ＦＵＬＬ", "ＦＵＬＬ"),
        ("👩\u200d⚕️ Ward", "👩\u200d⚕️ Ward"),
        ("x" * 200, "x" * 200),
    ],
)
def test_text_is_kept_as_people_write_it(typed: str, kept: str) -> None:
    assert normalise_text(typed) == kept


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty_text"),
        (" \u200b ", "empty_text"),
        ("\u3164", "empty_text"),
        ("a\0b", "control_character"),
        ("a\x1bb", "control_character"),
        ("a\x1cb", "control_character"),
        ("a\ufffeb", "control_character"),
        ("a\ud800b", "invalid_unicode"),
        ("<|endoftext|>", "control_token"),
        ("say <|\u200bnospeech|> now", "control_token"),
        ("x" * 201, "text_too_long"),
        ("x" * 1_000_000, "text_too_long"),
        ("\ufdfa" * 200, "text_too_long"),
    ],
)
def test_what_is_no_term_is_refused_and_not_echoed(text: str, code: str) -> None:
    with pytest.raises(InvalidText) as refused:
        normalise_term(Term(text))
    assert refused.value.code == code
    assert refused.value.param == "text"
    assert not text.strip() or text not in refused.value.message


def test_the_other_fields_are_cleaned_and_named_when_they_are_bad() -> None:
    term = normalise_term(Term("x", sounds_like=(" ka\u0301 ", "", "ká"), note="two\nlines"))
    assert (term.sounds_like, term.note) == (("ká",), "two lines")
    for bad, param in [
        (Term("x", sounds_like=("a|b",)), "sounds_like"),
        (Term("x", sounds_like=tuple(map(str, range(MAX_ALIASES + 1)))), "sounds_like"),
        (Term("x", note="a\0"), "note"),
        (Term("x", priority=2**31), "priority"),
    ]:
        with pytest.raises(InvalidText) as refused:
            normalise_term(bad)
        assert refused.value.param == param


@given(st.text(max_size=60))
def test_cleaning_twice_is_cleaning_once_and_changes_no_key(text: str) -> None:
    try:
        clean = normalise_text(text)
    except InvalidText:
        return
    assert normalise_text(clean) == clean
    assert unicodedata.is_normalized("NFC", clean)
    assert match_key(match_key(clean)) == match_key(clean)
    assert match_key(unicodedata.normalize("NFD", clean)) == match_key(clean)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40))
def test_case_does_not_matter(text: str) -> None:
    assert match_key(text.casefold()) == match_key(text)
