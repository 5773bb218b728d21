"""Plans: the exact ids, precedence of all channels, limits, and the same plan for the same data."""

import hashlib
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from app.errors import Conflict, InvalidRequest, InvalidText, PromptOverBudget
from app.glossary.term import GlossarySnapshot, Placement, Term
from app.prompt.metrics import PromptMetrics
from app.prompt.plan import Block, DropReason, KeptTerm
from app.prompt.planner import PromptPlanner, RequestWords
from app.prompt.tokens import WhisperTokens

PINNED, SEED = Placement.PINNED, Placement.SEED


def glossary(*terms: Term, token_budget: int | None = None, max_terms: int | None = None) -> GlossarySnapshot:
    return GlossarySnapshot("clinic", 1, token_budget=token_budget, max_terms=max_terms, terms=terms)


def fresh(counter: WhisperTokens) -> PromptPlanner:
    return PromptPlanner(counter, default_budget=223, metrics=PromptMetrics(CollectorRegistry()))


def test_ids_are_those_of_the_text_with_its_leading_space(planner: PromptPlanner) -> None:
    plan = planner.plan(glossary(Term("Kubernetes"), Term("Grafana", PINNED)))
    assert plan.text == "Kubernetes, Grafana"
    assert plan.ids == (23145, 11, 8985, 69, 2095)
    assert plan.sha256 == hashlib.sha256(b"23145,11,8985,69,2095").hexdigest()
    assert (plan.tokens, plan.estimated_tokens, plan.budget, plan.headroom) == (5, 5, 223, 218)


def test_all_channels_stand_in_order_of_importance(planner: PromptPlanner) -> None:
    plan = planner.plan(
        glossary(Term("ranked one", priority=9), Term("ranked two"), Term("a pin", PINNED), Term("a seed", SEED)),
        words=RequestWords(prompt="The talk.", keywords=("first", "second")),
    )
    assert plan.text == "ranked two, ranked one, The talk. second, first, a seed, a pin"
    assert [term.block for term in plan.kept] == [
        Block.RANKED,
        Block.RANKED,
        Block.REQUEST,
        Block.REQUEST,
        Block.REQUEST,
        Block.SEED,
        Block.PINNED,
    ]


def test_request_words_push_ranked_terms_out_and_pins_stay(planner: PromptPlanner) -> None:
    snapshot = glossary(Term("Sonalift", PINNED), Term("Kubernetes", priority=5), token_budget=8)
    plan = planner.plan(snapshot, words=RequestWords(keywords=("Grafana",)))
    assert plan.text == "Grafana, Sonalift"
    assert [(term.text, term.reason) for term in plan.dropped] == [("Kubernetes", DropReason.OVER_BUDGET)]


def test_words_that_do_not_fit_are_refused_with_the_numbers(planner: PromptPlanner) -> None:
    snapshot = glossary(Term("Sonalift", PINNED), Term("Kubernetes"), token_budget=20)
    with pytest.raises(PromptOverBudget) as refusal:
        planner.plan(snapshot, words=RequestWords(prompt="x " * 30))
    assert refusal.value.status == 400
    assert refusal.value.details == {"tokens": 31, "available": 17, "budget": 20, "tail": 3}
    assert "31" in refusal.value.message
    assert "17 of 20" in refusal.value.message


def test_two_long_channels_share_one_budget(planner: PromptPlanner) -> None:
    terms = tuple(Term(f"Terminologie{number}", priority=-number) for number in range(200))
    with pytest.raises(PromptOverBudget):
        planner.plan(glossary(*terms), words=RequestWords(prompt=" ".join(term.text for term in terms)))
    plan = planner.plan(glossary(*terms), words=RequestWords(prompt=" ".join(term.text for term in terms[:20])))
    assert 200 <= plan.tokens <= 223


@pytest.mark.parametrize("prompt", ["", "  ", " \n\t ", "\u200b \ufeff"])
def test_a_prompt_of_spaces_is_no_prompt(prompt: str, planner: PromptPlanner) -> None:
    plan = planner.plan(None, words=RequestWords(prompt=prompt, keywords=(" ",)))
    assert (plan.text, plan.ids, plan.estimated_tokens, plan.headroom) == ("", (), 0, 223)


@pytest.mark.parametrize(
    "text",
    ["a\0b", "a\x1bb", "\ud800", "<|endoftext|>", "x<|0.00|>", "<|end\u200boftext|>", "＜｜ko｜＞", "<\u00ad|ko|>"],
    ids=["NUL", "escape", "half a pair", "control token", "timestamp", "zero width", "full width", "soft hyphen"],
)
def test_words_that_are_not_plain_text_are_refused(text: str, planner: PromptPlanner) -> None:
    for words in (RequestWords(prompt=text), RequestWords(keywords=("fine", text))):
        with pytest.raises(InvalidText) as refusal:
            planner.plan(None, words=words)
        assert refusal.value.status == 400
        assert text not in refusal.value.message


def test_line_breaks_in_a_prompt_are_spaces(planner: PromptPlanner) -> None:
    assert planner.plan(None, words=RequestWords("one\r\n two\tthree")).text == "one two three"


def test_a_stored_term_that_is_not_plain_text_is_left_out_and_said(planner: PromptPlanner) -> None:
    plan = planner.plan(glossary(Term("Grafana"), Term("<|endoftext|>"), Term("a\0b"), Term("＜｜ko｜＞"), Term(" ")))
    assert plan.text == "Grafana"
    assert {term.reason for term in plan.dropped} == {DropReason.INVALID_TEXT}
    assert len(plan.dropped) == 4


def test_terms_of_other_languages_do_not_come_along(planner: PromptPlanner) -> None:
    snapshot = glossary(Term("Grafana"), Term("그라파나", language="ko"), Term("グラファナ", language="ja"))
    texts = {language: planner.plan(snapshot, language=language).text for language in (None, "ko", "ja", "en")}
    assert texts == {None: "Grafana", "ko": "그라파나, Grafana", "ja": "グラファナ, Grafana", "en": "Grafana"}


def test_japanese_terms_are_joined_by_the_cheaper_comma(planner: PromptPlanner) -> None:
    snapshot = glossary(Term("ソナリフト", priority=2), Term("グラファナ", priority=1), Term("Grafana"))
    japanese, korean = planner.plan(snapshot, language="ja"), planner.plan(snapshot, language="ko")
    assert japanese.text == "Grafana、グラファナ、ソナリフト"
    assert korean.text == "Grafana, グラファナ, ソナリフト"
    assert japanese.tokens < korean.tokens


def test_the_groq_profile_counts_characters(planner: PromptPlanner) -> None:
    long = ("international", "communication", "environment", "understanding", "responsibility", "infrastructure")
    terms = [Term(f"{first} {second} {third}") for first in long for second in long for third in long]
    whisper, groq = (planner.plan(glossary(*terms), profile=name) for name in ("whisper", "groq"))
    assert whisper.characters > 896 >= groq.characters > 850
    assert DropReason.OVER_CHARACTERS in groq.dropped_by_reason
    assert {term.text for term in groq.kept} < {term.text for term in whisper.kept}


def test_an_unknown_profile_is_refused_with_the_names(planner: PromptPlanner) -> None:
    with pytest.raises(InvalidRequest, match="groq, whisper") as refusal:
        planner.plan(None, profile="nope")
    assert (refusal.value.code, refusal.value.param) == ("unknown_profile", "profile")


def test_a_glossary_may_want_less_but_not_more_than_whisper_reads(planner: PromptPlanner) -> None:
    assert planner.plan(glossary(token_budget=50)).budget == 50
    assert planner.plan(glossary(token_budget=999)).budget == 223


def test_max_terms_bounds_the_glossary_and_not_the_request(planner: PromptPlanner) -> None:
    snapshot = glossary(Term("Sonalift", PINNED), Term("Grafana", priority=2), Term("Nguyen"), max_terms=2)
    plan = planner.plan(snapshot, words=RequestWords(keywords=("Kubernetes",)))
    assert plan.text == "Grafana, Kubernetes, Sonalift"
    assert [(term.text, term.reason) for term in plan.dropped] == [("Nguyen", DropReason.MAX_TERMS)]


@settings(max_examples=30)
@given(random=st.randoms(use_true_random=False))
def test_terms_in_any_order_give_the_same_bytes(random: Random, multilingual: WhisperTokens) -> None:
    terms = [
        Term(text, placement, priority, id=number)
        for number, (text, placement, priority) in enumerate(
            (
                ("zebra", SEED, 0),
                ("Ofen", PINNED, 0),
                ("Öl", Placement.RANKED, 1),
                ("olive", Placement.RANKED, 1),
                ("Coop", Placement.RANKED, 1),
                ("Co op", Placement.RANKED, 1),
                ("Nguyễn", PINNED, 0),
                ("Nguyen", PINNED, 0),
            )
        )
    ]
    random.shuffle(terms)
    assert fresh(multilingual).plan(glossary(*terms)).text == "Öl, olive, Coop, Co op, zebra, Ofen, Nguyễn, Nguyen"


def test_the_same_glossary_is_planned_once(planner: PromptPlanner) -> None:
    snapshot = glossary(Term("Grafana"))
    assert planner.plan(snapshot) is planner.plan(snapshot)
    assert planner.plan(snapshot) is not planner.plan(snapshot, language="en")


def test_a_glossary_made_anew_under_its_old_name_is_planned_anew(planner: PromptPlanner) -> None:
    assert planner.plan(glossary(Term("Grafana"))).text == "Grafana"
    assert planner.plan(glossary(Term("Kubernetes"))).text == "Kubernetes"


def test_a_tail_that_is_too_long_loses_seeds_first_and_then_the_least_pins(planner: PromptPlanner) -> None:
    snapshot = glossary(
        *(Term(f"pin{number}", PINNED, priority=-number) for number in range(5)), Term("a seed", SEED), token_budget=9
    )
    plan = planner.plan(snapshot)
    assert plan.text == "pin2, pin1, pin0"
    assert {(term.text, term.reason) for term in plan.dropped} == {
        (text, DropReason.TAIL_OVER_BUDGET) for text in ("pin3", "pin4", "a seed")
    }


def test_a_tail_that_fits_may_be_written(planner: PromptPlanner) -> None:
    planner.check_tail([Term("Sonalift", PINNED), Term("Grafana", SEED), Term("x" * 190)], token_budget=7)


def test_a_tail_over_the_budget_is_refused_with_the_numbers(planner: PromptPlanner) -> None:
    tail = [Term("Sonalift", PINNED), Term("Grafana", SEED), Term("그라파나", SEED, language="ko")]
    with pytest.raises(Conflict) as refusal:
        planner.check_tail(tail, token_budget=7)
    assert refusal.value.code == "tail_over_budget"
    assert refusal.value.details == {"tokens": 13, "budget": 7, "language": "ko"}
    planner.check_tail(tail, token_budget=13)


def test_inactive_terms_are_no_part_of_the_tail(planner: PromptPlanner) -> None:
    planner.check_tail([Term("Sonalift", PINNED), Term("Grafana", SEED, active=False)], token_budget=3)


def test_a_term_that_whisper_could_never_read_is_refused(planner: PromptPlanner) -> None:
    with pytest.raises(Conflict) as refusal:
        planner.check_tail([Term("뷁" * 100)], token_budget=None)
    assert refusal.value.code == "term_over_budget"
    assert refusal.value.details == {"tokens": 300, "budget": 223}


def test_positions_and_costs_of_a_plan(planner: PromptPlanner) -> None:
    plan = planner.plan(glossary(Term("Kubernetes"), Term("Grafana", PINNED)))
    assert plan.kept == (
        KeptTerm("Kubernetes", Block.RANKED, position=0, tokens=2),
        KeptTerm("Grafana", Block.PINNED, position=1, tokens=3),
    )
