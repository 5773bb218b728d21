"""Selection by relevance for one request, without a model."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from app.decoding.request import DecodedSegment, DecodedWord, HeardPiece, Outcome, TextScore, WindowResult
from app.glossary.term import GlossarySnapshot, Placement, Term, TermSelection
from app.prompt.metrics import PromptMetrics
from app.prompt.planner import PromptPlanner, RequestWords
from app.prompt.relevance_metrics import RelevanceMetrics
from app.prompt.term_indexes import TermIndexes
from app.prompt.window_terms import WindowTermsChooser
from app.second_pass import SecondPass, SecondPasses

TERMS = (Term("Velmaris", Placement.PINNED), Term("Kirmlift"), Term("Zentgreomab"), Term("Sonalift"))
SNAPSHOT = GlossarySnapshot("clinic", 3, terms=TERMS)


class Bytes:
    def encode(self, text: str) -> list[int]:
        return list(text.encode())


def scored(prompted: float, alone: float) -> WindowResult:
    """A second look that found these log-probabilities for the text with the term."""
    scores = (TextScore(prompted, alone),)
    return WindowResult(0, "en", 1.0, Outcome.DECODED, "scored", scores=scores)


def passes(registry: CollectorRegistry) -> SecondPasses:
    planner = PromptPlanner(Bytes(), default_budget=223, metrics=PromptMetrics(registry))
    return SecondPasses(WindowTermsChooser(planner, TermIndexes()), Bytes(), RelevanceMetrics(registry))


def second_pass(registry: CollectorRegistry) -> SecondPass:
    made = passes(registry).of(SNAPSHOT, RequestWords(), TermSelection.RELEVANT)
    assert made is not None
    return made


def words(at: int, text: str) -> tuple[DecodedWord, ...]:
    return tuple(DecodedWord(at, at + 0.5, f" {word}", 0.9) for word in text.split())


def result(segments: Sequence[str], unsure: str = "", again: WindowResult | None = None) -> WindowResult:
    pieces = [HeardPiece(f" {word}", -1.2 if word in unsure.split() else -0.02) for s in segments for word in s.split()]
    made = tuple(DecodedSegment(float(n), n + 1.0, f" {text}", words=words(n, text)) for n, text in enumerate(segments))
    return WindowResult(0, "en", 1.0, Outcome.DECODED, "first", made, pieces=tuple(pieces), again=again)


async def test_the_second_prompt_holds_the_relevant_terms_and_the_pinned_last() -> None:
    look = await second_pass(CollectorRegistry()).follow_up(result(["Ask about Kermlift today."], "Kermlift"))
    assert look is not None
    assert bytes(look.prompts.ids("en")).decode().strip() == "Kirmlift, Velmaris"
    assert [bytes(text).decode() for text in look.texts] == [" Ask about Kirmlift today."]
    assert look.written == pytest.approx(-1.2 - 3 * 0.02)


async def test_where_terms_may_have_been_meant_at_two_places_the_first_text_is_scored_with_the_prompt_too() -> None:
    made = second_pass(CollectorRegistry())
    first = result(["Kermlift or Zent Gryamab", "today."], "Kermlift Zent Gryamab")
    look = await made.follow_up(first)
    assert look is not None
    texts = [bytes(text).decode() for text in look.texts]
    assert texts[0] == " Kermlift or Zent Gryamab today."
    assert set(texts[1:]) == {" Kirmlift or Zent Gryamab today.", " Kermlift or Zentgreomab today."}
    assert look.written is None
    scores = (TextScore(-20.0, None), TextScore(-14.0, -8.0), TextScore(-29.0, -30.0))
    again = WindowResult(0, "en", 1.0, Outcome.DECODED, "scored", scores=scores)
    settled = made.settle(replace(first, again=again))
    assert len(made.selections[0].changes) == 1
    assert "".join(segment.text for segment in settled.segments) == texts[1]


async def test_what_was_heard_twice_is_asked_once_and_replaced_twice() -> None:
    made = second_pass(CollectorRegistry())
    first = result(["Kermlift in the morning", "and Kermlift at night."], "Kermlift", scored(-2.0, -6.0))
    look = await made.follow_up(first)
    assert look is not None
    assert [bytes(text).decode() for text in look.texts] == [" Kirmlift in the morning and Kirmlift at night."]
    settled = made.settle(first)
    assert [segment.text for segment in settled.segments] == [" Kirmlift in the morning", " and Kirmlift at night."]


async def test_a_window_that_no_rung_was_content_with_is_looked_at_again() -> None:
    given_up = replace(result(["Ask about Kermlift today."], "Kermlift"), outcome=Outcome.GIVEN_UP)
    assert await second_pass(CollectorRegistry()).follow_up(given_up) is not None


async def test_the_first_text_stands_where_it_explains_the_sound_better() -> None:
    made = second_pass(CollectorRegistry())
    first = result(["Ask about Kermlift today."], "Kermlift", scored(-9.0, -30.0))
    assert await made.follow_up(first) is not None
    assert made.settle(first).segments == first.segments
    (selection,) = made.selections
    assert selection.changes == ()


async def test_a_window_that_sounds_like_no_term_is_not_looked_at_again() -> None:
    made = second_pass(CollectorRegistry())
    assert await made.follow_up(result(["Ask your country today."])) is None
    first = result(["Ask your country today."])
    assert made.settle(first) is first
    assert made.selections == []


async def test_the_term_stands_in_segment_and_words_and_in_the_account() -> None:
    registry = CollectorRegistry()
    made = second_pass(registry)
    first = result(["He prescribed Zent Gryamab", "and left."], "Zent Gryamab")
    assert await made.follow_up(first) is not None
    settled = made.settle(result(["He prescribed Zent Gryamab", "and left."], "Zent Gryamab", scored(-1.0, -6.0)))
    assert [segment.text for segment in settled.segments] == [" He prescribed Zentgreomab", " and left."]
    assert [word.text for word in settled.segments[0].words or ()] == [" He", " prescribed", " Zentgreomab"]
    assert bytes(settled.segments[0].tokens).decode() == " He prescribed Zentgreomab"
    (selection,) = made.selections
    assert [(change.heard, change.text) for change in selection.changes] == [("Zent Gryamab", "Zentgreomab")]
    assert [offer.heard for offer in selection.offered] == ["Zent Gryamab"]
    assert selection.offered[0].evidence == selection.changes[0].evidence >= 0
    assert registry.get_sample_value("lexicue_relevance_terms_won_total") == 1
    assert registry.get_sample_value("lexicue_relevance_windows_total", {"outcome": "changed"}) == 1


def test_the_request_goes_before_the_glossary_and_static_is_the_default() -> None:
    made = passes(CollectorRegistry())
    relevant = GlossarySnapshot("clinic", 3, selection=TermSelection.RELEVANT)
    assert made.of(SNAPSHOT, RequestWords(), None) is None
    assert made.of(relevant, RequestWords(), None) is not None
    assert made.of(relevant, RequestWords(), TermSelection.STATIC) is None
