"""What prompts cost and what they leave out, as numbers. In: plans. Out: metrics with bounded labels. Event loop
thread."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from app.prompt.plan import PromptPlan

_TOKENS = (0, 25, 50, 100, 150, 180, 200, 215, 223, 300, 448)


class PromptMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._tokens = Histogram(
            "lexicue_prompt_tokens", "Exact tokens of a planned prompt.", buckets=_TOKENS, registry=registry
        )
        self._estimated = Histogram(
            "lexicue_prompt_estimated_tokens", "Upper bound without a tokenizer.", buckets=_TOKENS, registry=registry
        )
        self._headroom = Histogram(
            "lexicue_prompt_headroom_tokens", "Budget less exact tokens.", buckets=_TOKENS, registry=registry
        )
        self._dropped = Counter(
            "lexicue_prompt_terms_dropped", "Terms left out of planned prompts.", ["reason"], registry=registry
        )
        self._over = Counter("lexicue_prompt_over_budget", "Plans that left a term out.", registry=registry)
        self._under = Counter(
            "lexicue_prompt_estimator_underestimates", "Estimates below the exact count: never.", registry=registry
        )

    def observe(self, plan: PromptPlan) -> None:
        self._tokens.observe(plan.tokens)
        self._estimated.observe(plan.estimated_tokens)
        self._headroom.observe(plan.headroom)
        for term in plan.dropped:
            self._dropped.labels(term.reason.value).inc()
        if plan.dropped:
            self._over.inc()
        if plan.estimated_tokens < plan.tokens:
            self._under.inc()
