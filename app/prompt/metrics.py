"""What sent prompts cost and what they leave out, as numbers. In: the plan that a request's windows were decoded with.
Out: metrics with bounded labels. Event loop thread."""

import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from app.prompt.headroom import GlossaryHeadroom
from app.prompt.plan import Block, DropReason, PromptPlan
from app.prompt.profiles import WHISPER_PROMPT_TOKENS

_SHARES = (0.5, 0.75, 0.9, 0.95, 0.98, 1.0)
_TOKENS = (0, 25, 50, 100, 150, WHISPER_PROMPT_TOKENS, 300, 448)
_HEADROOM_TOKENS = (0, 1, 2, 5, 10, 25, 50, 100, 150, 200, WHISPER_PROMPT_TOKENS)


class PromptMetrics:
    """One observation a transcribed request that had a prompt; previews and the prompts of languages that a recording
    turned out not to be in are not counted.

    `budget`: tokens, an edge of the token histograms beside 223. `glossaries`: how many have a headroom of their own.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        budget: int = WHISPER_PROMPT_TOKENS,
        glossaries: int = 20,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        edges = sorted({*map(float, _TOKENS), *(round(share * budget, 1) for share in _SHARES)})
        self._tokens = Histogram(
            "lexicue_prompt_tokens", "Exact tokens of a sent prompt.", buckets=edges, registry=registry
        )
        self._estimated = Histogram(
            "lexicue_prompt_estimated_tokens",
            "Upper bound of the tokens of a sent prompt, made without the model's tokenizer.",
            buckets=edges,
            registry=registry,
        )
        self._headroom = Histogram(
            "lexicue_prompt_headroom_tokens",
            "The prompt's budget less its exact tokens.",
            buckets=_HEADROOM_TOKENS,
            registry=registry,
        )
        self._dropped = Counter(
            "lexicue_prompt_terms_dropped", "Terms left out of sent prompts.", ["reason"], registry=registry
        )
        for reason in DropReason:
            self._dropped.labels(reason.value)
        self._over = Counter(
            "lexicue_prompt_over_budget",
            "Sent prompts that lack pinned or seed terms, since these alone exceed the budget.",
            registry=registry,
        )
        self._refused = Counter(
            "lexicue_prompt_refused",
            "Requests refused because their own words do not fit beside the pinned and seed terms.",
            registry=registry,
        )
        self._under = Counter(
            "lexicue_prompt_estimator_underestimates",
            "Sent prompts whose estimate is below the exact count; any is a defect.",
            registry=registry,
        )
        Gauge("lexicue_prompt_budget_tokens", "The server's prompt budget.", registry=registry).set(budget)
        self._by_glossary = GlossaryHeadroom(glossaries, clock)
        registry.register(self._by_glossary)

    def sent(self, plan: PromptPlan, *, glossary: str | None = None, revision: int | None = None) -> None:
        """Count a plan whose windows were decoded; one without any term is no prompt."""
        if not plan.ids and not plan.dropped:
            return
        self._tokens.observe(plan.tokens)
        self._estimated.observe(plan.estimated_tokens)
        self._headroom.observe(plan.headroom)
        for reason, terms in plan.dropped_by_reason.items():
            self._dropped.labels(reason.value).inc(terms)
        if DropReason.TAIL_OVER_BUDGET in plan.dropped_by_reason:
            self._over.inc()
        if plan.estimated_tokens < plan.tokens:
            self._under.inc()
        # The room that a request's own words took says nothing about the glossary.
        if glossary is not None and all(term.block is not Block.REQUEST for term in plan.kept):
            self._by_glossary.sent(glossary, revision or 0, plan.headroom)

    def refused(self) -> None:
        """A request whose own words did not fit."""
        self._refused.inc()
