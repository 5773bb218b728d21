"""What operators see of prompts: sizes, what is left out and why, refusals, and never an estimate below the count."""

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from app.glossary.term import GlossarySnapshot, Placement, Term
from app.prompt.headroom import FORGET_SECONDS
from app.prompt.metrics import PromptMetrics
from app.prompt.plan import Block, KeptTerm, PromptPlan
from app.prompt.planner import PromptPlanner
from app.prompt.tokens import WhisperTokens


def plan_of(tokens: int, *, budget: int = 223, estimated: int | None = None, block: Block = Block.RANKED) -> PromptPlan:
    kept = (KeptTerm("x", block, 0, tokens),)
    return PromptPlan("x", tuple(range(tokens)), tokens if estimated is None else estimated, budget, kept, ())


def headrooms(registry: CollectorRegistry) -> dict[str, float]:
    return {
        sample.labels["glossary"]: sample.value
        for family in registry.collect()
        if family.name == "lexicue_glossary_headroom_tokens"
        for sample in family.samples
    }


def test_planning_counts_nothing_and_every_sent_plan_is_counted(multilingual: WhisperTokens) -> None:
    registry = CollectorRegistry()
    planner = PromptPlanner(multilingual, default_budget=223, metrics=PromptMetrics(registry))
    terms = (Term("Sonalift", Placement.PINNED), Term("Grafana"), Term("Nguyen"))
    snapshot = GlossarySnapshot("clinic", 1, token_budget=7, terms=terms)
    value = registry.get_sample_value
    plan = planner.plan(snapshot)
    assert value("lexicue_prompt_tokens_count") == 0
    for _ in range(3):
        planner.metrics.sent(plan, glossary="clinic", revision=1)
    assert value("lexicue_prompt_tokens_count") == 3
    assert value("lexicue_prompt_tokens_sum") == 21
    assert value("lexicue_prompt_estimated_tokens_sum") == 21
    assert value("lexicue_prompt_headroom_tokens_sum") == 0
    assert value("lexicue_prompt_terms_dropped_total", {"reason": "over_budget"}) == 3
    assert value("lexicue_prompt_terms_dropped_total", {"reason": "duplicate"}) == 0
    assert value("lexicue_prompt_over_budget_total") == 0
    assert value("lexicue_prompt_estimator_underestimates_total") == 0
    assert value("lexicue_glossary_headroom_tokens", {"glossary": "clinic"}) == 0


def test_a_request_without_words_has_no_prompt_to_count() -> None:
    registry = CollectorRegistry()
    PromptMetrics(registry).sent(plan_of(0))
    assert registry.get_sample_value("lexicue_prompt_tokens_count") == 0


def test_a_tail_over_the_budget_and_a_refused_request_are_counted_apart(multilingual: WhisperTokens) -> None:
    registry = CollectorRegistry()
    planner = PromptPlanner(multilingual, default_budget=5, metrics=PromptMetrics(registry))
    terms = (Term("Sonalift", Placement.PINNED), Term("Grafana", Placement.SEED))
    planner.metrics.sent(planner.plan(GlossarySnapshot("g", 1, terms=terms)))
    planner.metrics.refused()
    planner.metrics.refused()
    assert registry.get_sample_value("lexicue_prompt_over_budget_total") == 1
    assert registry.get_sample_value("lexicue_prompt_refused_total") == 2


def test_an_estimate_below_the_count_is_an_incident() -> None:
    registry = CollectorRegistry()
    PromptMetrics(registry).sent(plan_of(2, estimated=1))
    assert registry.get_sample_value("lexicue_prompt_estimator_underestimates_total") == 1


@pytest.mark.parametrize(("budget", "under", "over"), [(223, 218, 219), (100, 98, 99), (50, 49, 50)])
def test_token_buckets_tell_a_prompt_near_its_budget_from_one_at_it(budget: int, under: int, over: int) -> None:
    """Edges at 98 % and 100 % of the budget that is set, and at 223 whatever is set."""
    registry = CollectorRegistry()
    metrics = PromptMetrics(registry, budget=budget)
    metrics.sent(plan_of(under))
    metrics.sent(plan_of(over))

    def at_most(edge: float) -> float | None:
        return registry.get_sample_value("lexicue_prompt_estimated_tokens_bucket", {"le": str(float(edge))})

    assert at_most(round(0.98 * budget, 1)) == 1
    assert at_most(budget) == 2
    assert at_most(223) == 2
    assert registry.get_sample_value("lexicue_prompt_budget_tokens") == budget


def test_headroom_is_shown_for_the_glossaries_that_have_the_least_of_it() -> None:
    registry = CollectorRegistry()
    metrics = PromptMetrics(registry, glossaries=2)
    for number in range(1000):
        metrics.sent(plan_of(223 - number % 200), glossary=f"g{number}", revision=1)
    assert headrooms(registry) == {"g0": 0, "g200": 0, "other": 0}
    metrics.sent(plan_of(23), glossary="g0", revision=2)
    assert headrooms(registry) == {"g200": 0, "g400": 0, "other": 0}


def test_a_scrape_has_no_more_series_with_a_thousand_glossaries_than_with_thirty() -> None:
    sizes = []
    for glossaries in (30, 1000):
        registry = CollectorRegistry()
        metrics = PromptMetrics(registry)
        for number in range(glossaries):
            metrics.sent(plan_of(number % 220), glossary=f"glossary-{number}", revision=1)
        sizes.append(len(generate_latest(registry).splitlines()))
    assert sizes[0] == sizes[1]


def test_a_glossary_named_like_the_rest_belongs_to_it() -> None:
    registry = CollectorRegistry()
    metrics = PromptMetrics(registry)
    metrics.sent(plan_of(200), glossary="other", revision=1)
    metrics.sent(plan_of(100), glossary="clinic", revision=1)
    assert headrooms(registry) == {"clinic": 123, "other": 23}


def test_headroom_follows_the_newest_revision_and_its_fullest_prompt() -> None:
    registry = CollectorRegistry()
    metrics = PromptMetrics(registry)
    metrics.sent(plan_of(223), glossary="clinic", revision=1)
    metrics.sent(plan_of(100), glossary="clinic", revision=2)
    metrics.sent(plan_of(150), glossary="clinic", revision=2)
    metrics.sent(plan_of(120), glossary="clinic", revision=2)
    metrics.sent(plan_of(223), glossary="clinic", revision=1)
    assert headrooms(registry) == {"clinic": 73}


def test_the_words_of_a_request_say_nothing_about_the_glossary() -> None:
    registry = CollectorRegistry()
    metrics = PromptMetrics(registry)
    metrics.sent(plan_of(223, block=Block.REQUEST), glossary="clinic", revision=1)
    assert headrooms(registry) == {}
    assert registry.get_sample_value("lexicue_prompt_tokens_count") == 1


def test_a_glossary_that_is_not_in_use_any_more_is_forgotten() -> None:
    now = 0.0
    registry = CollectorRegistry()
    metrics = PromptMetrics(registry, clock=lambda: now)
    metrics.sent(plan_of(223), glossary="old", revision=9)
    now = FORGET_SECONDS
    metrics.sent(plan_of(100), glossary="new", revision=1)
    assert headrooms(registry) == {"old": 0, "new": 123}
    now += 1
    assert headrooms(registry) == {"new": 123}
    metrics.sent(plan_of(200), glossary="old", revision=1)
    assert headrooms(registry)["old"] == 23, "known anew, whatever its revision"


def test_a_full_prompt_is_forgotten_after_an_hour_though_its_glossary_stays_in_use() -> None:
    """A language that nobody speaks any more must not look like a glossary without room."""
    now = 0.0
    registry = CollectorRegistry()
    metrics = PromptMetrics(registry, clock=lambda: now)
    metrics.sent(plan_of(223), glossary="clinic", revision=1)
    for now in (600.0, 1800.0, FORGET_SECONDS):
        metrics.sent(plan_of(100 + int(now) // 600), glossary="clinic", revision=1)
        assert headrooms(registry) == {"clinic": 0}
    now = FORGET_SECONDS + 1
    assert headrooms(registry) == {"clinic": 117}, "the fullest prompt of the past hour"
    now = 2 * FORGET_SECONDS + 1
    assert headrooms(registry) == {}
