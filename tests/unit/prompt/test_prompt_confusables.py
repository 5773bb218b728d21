"""Pairs that a listener or reader would mix up, with the reason, and no others."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from token_strings import ANY_TEXT

from app.prompt.confusables import ConfusablePair, Likeness, confusable_pairs

LOOKS, SOUNDS = Likeness.LOOKS_ALIKE, Likeness.SOUNDS_ALIKE


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("Sonalift", "Sonaline", LOOKS),
        ("Grafana", "GRAFANA", LOOKS),
        ("Ｇｒａｆａｎａ", "Grafana", LOOKS),
        ("ｺﾗﾘｽ", "コラリス", LOOKS),
        ("클라우드", "클라우스", LOOKS),
        ("Sonalift", "소나리프트", SOUNDS),
        ("Sonalift", "ソナリフト", SOUNDS),
        ("소나리프트", "ソナリフト", SOUNDS),
        ("Solvexia", "솔벡시아", SOUNDS),
        ("Grafana", "그라파나", SOUNDS),
        ("Соналифт", "Sonalift", SOUNDS),
        ("Kathleen", "Cathlyn", SOUNDS),
        ("Phyxora", "Fiksora", SOUNDS),
    ],
)
def test_alike(first: str, second: str, reason: Likeness) -> None:
    (pair,) = confusable_pairs([first, second])
    assert (pair.first, pair.second, pair.reason) == (first, second, reason)
    assert 0.4 <= pair.similarity <= 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Kubernetes", "Grafana"),
        ("Sonalift", "Kubernetes"),
        ("그라파나", "쿠버네티스"),
        ("ソナリフト", "グラファナ"),
        ("Nguyen", "Grafana"),
        ("AB", "AC"),
        ("™", "®"),
    ],
)
def test_not_alike(first: str, second: str) -> None:
    assert confusable_pairs([first, second]) == ()


def test_pairs_come_in_the_order_of_the_terms() -> None:
    assert confusable_pairs(["Sonaline", "Grafana", "Sonalift", "그라파나"]) == (
        ConfusablePair("Sonaline", "Sonalift", LOOKS, 0.75),
        ConfusablePair("Grafana", "그라파나", SOUNDS, 0.78),
    )


@settings(max_examples=25)
@given(texts=st.lists(ANY_TEXT, max_size=6))
def test_any_text_has_an_answer_and_always_the_same(texts: list[str]) -> None:
    pairs = confusable_pairs(texts)
    assert pairs == confusable_pairs(texts)
    assert all(pair.first in texts and pair.second in texts for pair in pairs)
