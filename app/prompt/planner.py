"""Glossary and request words to a finished prompt. In: a snapshot, the request's own words. Out: a plan with the very
ids that are sent. Event loop thread; pure but for its cache of term costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.errors import Conflict, InvalidText, PromptOverBudget
from app.glossary.term import GlossarySnapshot, Placement, Term, order_key
from app.prompt.budget import Candidate, costed, select
from app.prompt.metrics import PromptMetrics
from app.prompt.plan import Block, PromptPlan
from app.prompt.tokens import TokenCounter, estimate_tokens

_JOINER = ","
_BLOCKS = {Placement.PINNED: Block.PINNED, Placement.SEED: Block.SEED, Placement.RANKED: Block.RANKED}


@dataclass(frozen=True, slots=True)
class RequestWords:
    """Text that came with the request: a free `prompt` and a list of `keywords`."""

    prompt: str = ""
    keywords: tuple[str, ...] = ()

    def texts(self) -> Iterator[str]:
        for text in (*self.keywords, self.prompt):
            if stripped := " ".join(text.split()):
                yield stripped


class PromptPlanner:
    def __init__(self, counter: TokenCounter, *, default_budget: int, metrics: PromptMetrics) -> None:
        self._counter = counter
        self._default_budget = default_budget
        self._metrics = metrics
        self._costs: dict[str, int] = {}

    def plan(
        self,
        snapshot: GlossarySnapshot | None,
        *,
        language: str | None = None,
        words: RequestWords = RequestWords(),  # noqa: B008 - frozen
        profile: str = "whisper",
    ) -> PromptPlan:
        """The prompt for one language. Raises PromptOverBudget when the request's own words do not fit beside the
        reserved tail, InvalidText when they cannot be used."""
        budget = min(self._default_budget, (snapshot.token_budget if snapshot else None) or self._default_budget)
        terms = snapshot.terms_for(language) if snapshot else ()
        candidates = [*self._from_terms(terms), *self._from_request(words)]
        selection = select(candidates, budget=budget, max_terms=snapshot.max_terms if snapshot else None)
        refused = [term for term in selection.dropped if term.block is Block.REQUEST]
        if refused:
            raise PromptOverBudget(
                f"The request's own words do not fit: {sum(term.tokens for term in refused)} tokens over what is left of "
                f"{budget}; send fewer.",
                param="prompt",
                details={"budget": budget, "tokens_over": sum(term.tokens for term in refused)},
            )
        text = f"{_JOINER} ".join(term.text for term in selection.kept)
        ids = tuple(self._counter.encode(f" {text}")) if text else ()
        plan = PromptPlan(
            text=text,
            ids=ids,
            estimated_tokens=estimate_tokens(f" {text}") if text else 0,
            budget=budget,
            kept=selection.kept,
            dropped=selection.dropped,
        )
        self._metrics.observe(plan)
        return plan

    def check_tail(self, terms: Sequence[Term], token_budget: int | None) -> None:
        """Raises Conflict with the numbers when pins and seeds together exceed the budget."""
        budget = min(self._default_budget, token_budget or self._default_budget)
        tail = [term for term in terms if term.active and term.placement is not Placement.RANKED]
        selection = select(list(self._from_terms(sorted(tail, key=order_key))), budget=budget)
        if selection.dropped:
            needed = selection.tokens + sum(term.tokens for term in selection.dropped)
            raise Conflict(
                f"Pinned and seed terms need {needed} tokens, the budget is {budget}; unpin some.",
                code="tail_over_budget",
                details={"tokens": needed, "budget": budget},
            )

    def _from_terms(self, terms: Sequence[Term]) -> Iterator[Candidate]:
        for term in terms:
            yield costed(term.text, _BLOCKS[term.placement], joiner=_JOINER, cost=self._cost)

    def _from_request(self, words: RequestWords) -> Iterator[Candidate]:
        for text in words.texts():
            if "<|" in text or not text.isprintable():
                raise InvalidText("Prompt and keywords take no control characters or control tokens.", param="prompt")
            yield costed(text, Block.REQUEST, joiner=_JOINER, cost=self._cost)

    def _cost(self, unit: str) -> int:
        if unit not in self._costs:
            self._costs[unit] = len(self._counter.encode(unit))
        return self._costs[unit]
