"""What operators see of prompts: sizes, what is left out and why, refusals, and never an estimate below the count."""

import pytest
from prometheus_client import CollectorRegistry

from app.errors import PromptOverBudget
from app.glossary.term import GlossarySnapshot, Placement, Term
from app.prompt.metrics import PromptMetrics
from app.prompt.plan import PromptPlan
from app.prompt.planner import PromptPlanner, RequestWords
from app.prompt.tokens import WhisperTokens


def test_every_use_of_a_plan_is_observed(multilingual: WhisperTokens) -> None:
    registry = CollectorRegistry()
    planner = PromptPlanner(multilingual, default_budget=223, metrics=PromptMetrics(registry))
    terms = (Term("Sonalift", Placement.PINNED), Term("Grafana"), Term("Nguyen"))
    snapshot = GlossarySnapshot("clinic", 1, token_budget=7, terms=terms)
    for _ in range(3):
        planner.plan(snapshot)
    value = registry.get_sample_value
    assert value("lexicue_prompt_tokens_count") == 3
    assert value("lexicue_prompt_tokens_sum") == 21
    assert value("lexicue_prompt_estimated_tokens_sum") == 21
    assert value("lexicue_prompt_headroom_tokens_sum") == 0
    assert value("lexicue_prompt_terms_dropped_total", {"reason": "over_budget"}) == 3
    assert value("lexicue_prompt_terms_dropped_total", {"reason": "duplicate"}) == 0
    assert value("lexicue_prompt_over_budget_total") == 0
    assert value("lexicue_prompt_estimator_underestimates_total") == 0


def test_a_tail_or_a_request_over_the_budget_is_counted(multilingual: WhisperTokens) -> None:
    registry = CollectorRegistry()
    planner = PromptPlanner(multilingual, default_budget=5, metrics=PromptMetrics(registry))
    planner.plan(GlossarySnapshot("g", 1, terms=(Term("Sonalift", Placement.PINNED), Term("Grafana", Placement.SEED))))
    with pytest.raises(PromptOverBudget):
        planner.plan(None, words=RequestWords(prompt="one two three four five six"))
    assert registry.get_sample_value("lexicue_prompt_over_budget_total") == 2


def test_an_estimate_below_the_count_is_an_incident() -> None:
    registry = CollectorRegistry()
    PromptMetrics(registry).observe(PromptPlan("x", (1, 2), 1, 223, (), ()))
    assert registry.get_sample_value("lexicue_prompt_estimator_underestimates_total") == 1
