"""A plan laid out for people. In: a plan and where it came from. Out: its figures as plain values, or as text with a
ruler of tokens. Pure; any thread."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.glossary.term import GlossarySnapshot, Placement
from app.prompt.budget import PRECEDENCE
from app.prompt.confusables import ConfusablePair, confusable_pairs
from app.prompt.plan import Block, PromptPlan
from app.prompt.profiles import Profile, profile_named
from app.prompt.relevance import MOST_OFFERED, Candidate

_RULER_WIDTH = 76
_TICK_TOKENS = 50
_LISTED_DROPS = 20
_MARKS = {Block.PINNED: "P", Block.SEED: "S", Block.REQUEST: "Q", Block.RANKED: "r"}
_ROOM = "."


@dataclass(frozen=True, slots=True)
class BlockTotal:
    block: Block
    terms: int
    tokens: int


@dataclass(frozen=True, slots=True)
class RelevancePreview:
    """What `selection=relevant` leaves open. `searched`: ranked terms that a window may have meant; `room`: tokens that
    the fixed part leaves to those it offers, `most_offered` at a time. `heard`: the first transcript that `offered` are
    for, None where none was given."""

    searched: int
    room: int
    most_offered: int
    heard: str | None
    offered: tuple[Candidate, ...]


def relevance_of(
    fixed: PromptPlan,
    snapshot: GlossarySnapshot,
    language: str | None,
    heard: str | None,
    offered: tuple[Candidate, ...],
) -> RelevancePreview:
    """`fixed`: the plan without any ranked term."""
    searched = sum(term.placement is Placement.RANKED for term in snapshot.terms_for(language))
    return RelevancePreview(searched, fixed.headroom, MOST_OFFERED, heard, offered)


@dataclass(frozen=True, slots=True)
class Preview:
    """`language` is what was asked for; `other_languages` counts the terms that do not apply to it, by
    their own. `blocks` are in order of precedence, the first gives way last. `relevance`: None where selection is
    static."""

    plan: PromptPlan
    profile: Profile
    glossary: str
    revision: int
    language: str | None
    max_terms: int | None
    stale: bool
    other_languages: Mapping[str, int]
    blocks: tuple[BlockTotal, ...]
    confusables: tuple[ConfusablePair, ...]
    relevance: RelevancePreview | None = None


def preview_of(
    plan: PromptPlan, snapshot: GlossarySnapshot, language: str | None, relevance: RelevancePreview | None = None
) -> Preview:
    return Preview(
        plan=plan,
        profile=profile_named(plan.profile),
        glossary=snapshot.slug,
        revision=snapshot.revision,
        language=language,
        max_terms=snapshot.max_terms,
        stale=snapshot.stale,
        other_languages=Counter(
            term.language for term in snapshot.terms if term.language is not None and term.language != language
        ),
        blocks=tuple(_total(plan, block) for block in PRECEDENCE),
        confusables=confusable_pairs([term.text for term in plan.kept]),
        relevance=relevance,
    )


def _total(plan: PromptPlan, block: Block) -> BlockTotal:
    costs = [term.tokens for term in plan.kept if term.block is block]
    return BlockTotal(block, len(costs), sum(costs))


def as_text(preview: Preview) -> str:
    """Everything about a prompt on one page of plain text, the last line ended."""
    parts = (_heading, _ruler, _kept, _dropped, _relevant, _confusable)
    sections = [part(preview) for part in parts]
    return "\n\n".join("\n".join(lines) for section in sections if (lines := list(section))) + "\n"


def _heading(preview: Preview) -> Iterator[str]:
    plan, profile = preview.plan, preview.profile
    stale = ", STALE: the database is away" if preview.stale else ""
    yield f"{preview.glossary}, revision {preview.revision}, language {preview.language or 'not known'}{stale}"
    yield (
        f"{plan.tokens} of {plan.budget} tokens, headroom {plan.headroom}; estimated without a tokenizer: at most "
        f"{plan.estimated_tokens}"
    )
    characters = f" of {profile.max_characters}" if profile.max_characters is not None else ""
    terms = f" of {preview.max_terms}" if preview.max_terms is not None else ""
    yield f"{plan.characters}{characters} characters, {len(plan.kept)}{terms} terms, {len(plan.dropped)} left out"
    if preview.other_languages:
        others = ", ".join(f"{count} {code}" for code, count in sorted(preview.other_languages.items()))
        yield f"terms for other languages, not part of this prompt: {others}; see theirs with language="
    yield f"profile {profile.name}: more than {profile.max_tokens} tokens would be {profile.overflow}"
    yield f"sha256 {plan.sha256}"


def _ruler(preview: Preview) -> Iterator[str]:
    """One column is budget / width tokens, at least one; the block that a column's first token belongs to."""
    budget = preview.plan.budget
    owners = [_MARKS[term.block] for term in preview.plan.kept for _ in range(term.tokens)]
    width = min(_RULER_WIDTH, budget)
    cells = [column * budget // width for column in range(width)]
    scale, ticks = [" "] * (width + len(str(budget))), ["-"] * width
    for tick in (*range(0, budget, _TICK_TOKENS), budget):
        column = min(tick * width // budget, width)
        scale[column : column + len(str(tick))] = str(tick)
        if column < width:
            ticks[column] = "|"
    yield "".join(scale).rstrip()
    yield f"{''.join(ticks)}|"
    yield f"{''.join(owners[cell] if cell < len(owners) else _ROOM for cell in cells)}|"
    yield "  ".join(f"{_MARKS[total.block]} {total.block} {total.tokens}" for total in preview.blocks) + (
        f"  {_ROOM} free {preview.plan.headroom}"
    )
    order = " > ".join(total.block for total in preview.blocks)
    yield f"precedence: {order}; sent in reverse, the most important last"


def _kept(preview: Preview) -> Iterator[str]:
    at = 0
    for term in preview.plan.kept:
        yield f"{at:>4} {f'+{term.tokens}':>4}  {term.block:<8} {term.text}"
        at += term.tokens


def _dropped(preview: Preview) -> Iterator[str]:
    plan = preview.plan
    if not plan.dropped:
        return
    counts = ", ".join(f"{count} {reason}" for reason, count in sorted(plan.dropped_by_reason.items()))
    yield f"left out: {counts}"
    for term in plan.dropped[:_LISTED_DROPS]:
        yield f"     {f'+{term.tokens}':>4}  {term.block:<8} {term.text}  ({term.reason})"
    if (more := len(plan.dropped) - _LISTED_DROPS) > 0:
        yield f"           ... and {more} more; the JSON form lists them all"


def _relevant(preview: Preview) -> Iterator[str]:
    relevance = preview.relevance
    if relevance is None:
        return
    yield (
        f"selection relevant: {relevance.searched} ranked terms are searched for each window; at most "
        f"{relevance.most_offered} that sound like it share {relevance.room} tokens"
    )
    if relevance.heard is None:
        yield "which they are is seen with heard=, the first transcript of a window"
    elif not relevance.offered:
        yield "what was heard sounds like no term; there is no second look at the window"
    for offer in relevance.offered:
        yield (
            f"{offer.start:>4} {f'-{offer.end}':>4}  {offer.heard} -> {offer.term}"
            f"  (similarity {offer.similarity:.2f}, relevance {offer.relevance:.2f})"
        )


def _confusable(preview: Preview) -> Iterator[str]:
    if preview.confusables:
        yield "easily taken for one another:"
    for pair in preview.confusables:
        yield f"           {pair.first} / {pair.second}  ({pair.reason}, {pair.similarity:.2f})"
