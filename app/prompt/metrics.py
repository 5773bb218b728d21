"""What prompts cost and what they leave out, as numbers. In: plans. Out: metrics with bounded labels. Any thread."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from app.prompt.plan import DropReason, PromptPlan

_TOKENS = (0, 25, 50, 100, 150, 180, 200, 210, 215, 220, 223, 300, 448)
_HEADROOM_TOKENS = (0, 1, 2, 5, 10, 25, 50, 100, 150, 200, 223)


class PromptMetrics:
    """Every plan that was asked for is observed once, also when it came out of the cache."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._tokens = Histogram(
            "lexicue_prompt_tokens", "Exact tokens of a planned prompt.", buckets=_TOKENS, registry=registry
        )
        self._estimated = Histogram(
            "lexicue_prompt_estimated_tokens",
            "Upper bound of the tokens of a planned prompt, made without the model's tokenizer.",
            buckets=_TOKENS,
            registry=registry,
        )
        self._headroom = Histogram(
            "lexicue_prompt_headroom_tokens",
            "Prompt budget less exact tokens.",
            buckets=_HEADROOM_TOKENS,
            registry=registry,
        )
        self._dropped = Counter(
            "lexicue_prompt_terms_dropped", "Terms left out of planned prompts.", ["reason"], registry=registry
        )
        for reason in DropReason:
            self._dropped.labels(reason.value)
        self._over = Counter(
            "lexicue_prompt_over_budget",
            "Plans whose pinned or seed terms, or whose request's own words, exceed the budget.",
            registry=registry,
        )
        self._under = Counter(
            "lexicue_prompt_estimator_underestimates",
            "Plans whose estimate is below the exact count; any is a defect.",
            registry=registry,
        )

    def observe(self, plan: PromptPlan) -> None:
        self._tokens.observe(plan.tokens)
        self._estimated.observe(plan.estimated_tokens)
        self._headroom.observe(plan.headroom)
        for reason, terms in plan.dropped_by_reason.items():
            self._dropped.labels(reason.value).inc(terms)
        if DropReason.TAIL_OVER_BUDGET in plan.dropped_by_reason:
            self._over.inc()
        if plan.estimated_tokens < plan.tokens:
            self._under.inc()

    def refused(self) -> None:
        """A request whose own words did not fit."""
        self._over.inc()
