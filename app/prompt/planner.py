"""Glossary and request words to a finished prompt. In: a snapshot, the request's own words. Out: a plan with the very
ids that are sent. Any thread; pure but for its tables of costs and of finished plans."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from app.errors import Conflict, InternalError, InvalidText, PromptOverBudget
from app.glossary.term import GlossarySnapshot, Placement, Term, order_key
from app.prompt.budget import Group, Limits, Selection, select
from app.prompt.costs import CostTable
from app.prompt.joiner import gap_for
from app.prompt.merges import Vocabulary
from app.prompt.metrics import PromptMetrics
from app.prompt.plan import Block, DropReason, PromptPlan
from app.prompt.profiles import WHISPER_PROMPT_TOKENS, Profile, profile_named
from app.prompt.recent import RecentlyUsed
from app.prompt.safety import request_text
from app.prompt.tokens import TokenCounter, WhisperTokens, estimate_tokens

_BLOCKS = ((Placement.PINNED, Block.PINNED), (Placement.SEED, Block.SEED), (Placement.RANKED, Block.RANKED))
_NO_LIMIT = Limits(tokens=1 << 60)
_NO_GROUPS = tuple(Group(block, ()) for _, block in _BLOCKS)
_REMEMBERED_TERMS = 250_000

_MOST_KEYWORD_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class RequestWords:
    """Text that came with the request: a free `prompt` and a list of `keywords`, the first the most important."""

    prompt: str = ""
    keywords: tuple[str, ...] = ()

    def groups(self) -> tuple[Group, ...]:
        """Tidied, keywords above the prompt, nothing for text of spaces only. Raises InvalidText."""
        if sum(map(len, self.keywords)) > _MOST_KEYWORD_CHARACTERS:
            raise InvalidText(
                f"All keywords together are too long; at most {_MOST_KEYWORD_CHARACTERS} characters.",
                param="keywords",
                code="text_too_long",
            )
        keywords = [request_text(text, param="keywords") for text in self.keywords]
        prompt = request_text(self.prompt, param="prompt")
        return (
            Group(Block.REQUEST, [text for text in keywords if text]),
            Group(Block.REQUEST, [prompt] if prompt else [], prose=True),
        )


class PromptPlanner:
    """`default_budget`: tokens for a glossary that sets none of its own, 1 to 223. `metrics` is for whoever sends a
    plan: planning itself counts nothing, since previews plan too."""

    def __init__(self, counter: TokenCounter, *, default_budget: int, metrics: PromptMetrics) -> None:
        self._counter = counter
        self._vocabulary = counter.vocabulary if isinstance(counter, WhisperTokens) else Vocabulary.OTHER
        self._default_budget = default_budget
        self.metrics = metrics
        self._costs = CostTable(counter)
        self._groups: RecentlyUsed[tuple[Group, ...]] = RecentlyUsed(most_terms=_REMEMBERED_TERMS)
        self._plans: RecentlyUsed[PromptPlan] = RecentlyUsed(most_terms=_REMEMBERED_TERMS)

    def plan(
        self,
        snapshot: GlossarySnapshot | None,
        *,
        language: str | None = None,
        words: RequestWords = RequestWords(),
        profile: str = "whisper",
        ranked: Sequence[str] | None = None,
    ) -> PromptPlan:
        """The prompt for one language; `language` None takes the terms of any language only. `ranked`: these texts in
        place of the snapshot's ranked terms, the most important first.

        Raises PromptOverBudget when the request's own words do not fit beside the reserved tail, InvalidText when they
        cannot be used, InvalidRequest for an unknown profile.
        """
        limits = self._limits(snapshot, profile_named(profile))
        if snapshot is None or words != RequestWords() or ranked is not None:
            plan = self._make(snapshot, language, words, profile, limits, ranked)
        else:
            key = (snapshot.slug, snapshot.revision, snapshot.language, language, profile, limits)
            known = self._plans.get(key, snapshot.terms)
            plan = known or self._make(snapshot, language, words, profile, limits)
            if known is None:
                self._plans.put(key, snapshot.terms, plan)
        return plan

    def check_tail(self, terms: Sequence[Term], token_budget: int | None) -> None:
        """Raises Conflict with the numbers when, in any language, pins and seeds together exceed the budget, or when
        one term alone exceeds what Whisper reads, so that it could never be used."""
        budget = self._budget(token_budget)
        active = [term for term in terms if term.active]
        self._check_single_terms(active)
        tail = GlossarySnapshot("", 0, terms=tuple(term for term in active if term.placement is not Placement.RANKED))
        for language in (None, *tail.languages()):
            groups = _in_groups(tail.terms_for(language))
            needed = select(groups, limits=_NO_LIMIT, gap=gap_for(language), costs=self._costs).tokens
            if needed > budget:
                raise Conflict(
                    f"Pinned and seed terms need {needed} tokens, the budget is {budget}; make some of them ranked.",
                    code="tail_over_budget",
                    details={"tokens": needed, "budget": budget, "language": language},
                )

    def _check_single_terms(self, terms: Sequence[Term]) -> None:
        for term in terms:
            if len(term.text.encode(errors="replace")) < WHISPER_PROMPT_TOKENS:
                continue  # no term has more tokens than bytes, its leading space included
            if (tokens := self._costs(" ", "")[term.text]) > WHISPER_PROMPT_TOKENS:
                raise Conflict(
                    f"A term costs {tokens} tokens, Whisper reads {WHISPER_PROMPT_TOKENS} in all; shorten it.",
                    param="text",
                    code="term_over_budget",
                    details={"tokens": tokens, "budget": WHISPER_PROMPT_TOKENS},
                )

    def _budget(self, own: int | None) -> int:
        return min(WHISPER_PROMPT_TOKENS, self._default_budget if own is None else own)

    def _limits(self, snapshot: GlossarySnapshot | None, profile: Profile) -> Limits:
        budget = self._budget(snapshot.token_budget if snapshot else None)
        return Limits(
            tokens=min(budget, profile.max_tokens),
            characters=profile.max_characters,
            terms=snapshot.max_terms if snapshot else None,
        )

    def _make(
        self,
        snapshot: GlossarySnapshot | None,
        language: str | None,
        words: RequestWords,
        profile: str,
        limits: Limits,
        ranked: Sequence[str] | None = None,
    ) -> PromptPlan:
        pinned, seeds, rest = self._grouped(snapshot, language) if snapshot else _NO_GROUPS
        if ranked is not None:
            rest = Group(Block.RANKED, list(ranked))
        groups = (pinned, seeds, *words.groups(), rest)
        gap = gap_for(language or (snapshot.language if snapshot else None))
        selection = select(groups, limits=limits, gap=gap, costs=self._costs)
        self._refuse_words_that_do_not_fit(selection, limits, words)
        ids = tuple(self._counter.encode(f" {selection.text}")) if selection.text else ()
        if len(ids) != selection.tokens:
            raise InternalError(
                "Token costs do not add up for this model's tokenizer; the prompt was not sent.",
                details={"sum": selection.tokens, "tokens": len(ids)},
            )
        return PromptPlan(
            text=selection.text,
            ids=ids,
            estimated_tokens=estimate_tokens(selection.text, self._vocabulary) if selection.text else 0,
            budget=limits.tokens,
            kept=selection.kept,
            dropped=selection.dropped,
            profile=profile,
        )

    def _grouped(self, snapshot: GlossarySnapshot, language: str | None) -> tuple[Group, ...]:
        key = (snapshot.slug, snapshot.revision, language)
        groups = self._groups.get(key, snapshot.terms)
        if groups is None:
            groups = _in_groups(snapshot.terms_for(language))
            self._groups.put(key, snapshot.terms, groups)
        return groups

    def _refuse_words_that_do_not_fit(self, selection: Selection, limits: Limits, words: RequestWords) -> None:
        request, duplicate = Block.REQUEST, DropReason.DUPLICATE
        above_ranked = takewhile(lambda term: term.block is not Block.RANKED, selection.dropped)
        refused = [term for term in above_ranked if term.block is request and term.reason is not duplicate]
        if not refused:
            return
        tail = sum(term.tokens for term in selection.kept if term.block in (Block.PINNED, Block.SEED))
        wanted = sum(term.tokens for term in selection.kept if term.block is request)
        wanted += sum(term.tokens for term in refused)
        raise PromptOverBudget(
            f"The request's prompt and keywords need {wanted} tokens; beside the pinned and seed terms "
            f"{limits.tokens - tail} of {limits.tokens} are left"
            + (f", and {limits.characters} characters in all" if limits.characters is not None else "")
            + ". Send fewer or shorter words.",
            param="prompt" if words.prompt else "keywords",
            details={"tokens": wanted, "available": limits.tokens - tail, "budget": limits.tokens, "tail": tail},
        )


def _in_groups(terms: Sequence[Term]) -> tuple[Group, ...]:
    """Pinned, seeds, ranked, each in the total order, whatever order they came in."""
    return tuple(Group(block, _in_order(terms, placement)) for placement, block in _BLOCKS)


def _in_order(terms: Sequence[Term], placement: Placement) -> list[str]:
    placed = [term for term in terms if term.placement is placement]
    if not all(map(_stand_in_order, placed, islice(placed, 1, None))):
        placed.sort(key=order_key)
    return [term.text.strip() for term in placed]


def _stand_in_order(term: Term, following: Term) -> bool:
    """Whether neighbours of one placement stand as a database returns them; several times cheaper than their sort
    keys, which counts with 100,000 terms. In doubt no, since all that follows is a sort."""
    if term.priority != following.priority:
        return term.priority > following.priority
    return term.text < following.text
