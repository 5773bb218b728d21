"""When a term counts as heard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.audit.hearing import TermIndex, count, words


@pytest.mark.parametrize(
    ("term", "text", "times"),
    [
        ("Velnora", "velnora, VELNORA. Velnoras", 2),
        ("Acme Corp", "the acme corp. and Acme-Corp", 2),
        ("O'Neil", "Oneil met O’Neil", 2),
        ("富士康", "鸿海旗下的富士康在印度", 1),
        ("Nguyễn", "Nguyê\u0303n", 1),
        ("...", "...", 0),
        ("클라비오", "클라비오를 팔고 클라비오 를 사고 뉴클라비오", 2),
        ("Velnora", "我们用Velnora治疗, VelnoraはVelnora를", 3),
        ("Velnora 富士", "用velnora富士治疗", 1),
        ("Acme 제피라", "acme 제피라의", 1),
        ("佐々木", "佐々木さん", 1),
    ],
)
def test_a_term_is_heard_as_whole_words(term: str, text: str, times: int) -> None:
    assert count(term, text) == times


LETTERS = st.text("ab 富士ก'-를의\u0303", max_size=6)


@given(st.lists(LETTERS, max_size=6).map(" ".join), st.lists(LETTERS, max_size=8))
def test_many_terms_are_counted_as_each_one_is(text: str, terms: list[str]) -> None:
    counted = TermIndex(terms).counts(text)
    assert {words(term): count(term, text) for term in terms if count(term, text)} == counted
    assert all(count(term, f"{text} {term}") > count(term, text) for term in terms if words(term))
