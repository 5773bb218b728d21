"""Which terms go into the prompt. In: texts by block, most important first, the limits, what a unit costs. Out: kept
and dropped, each with cost and reason, and the text. Pure; any thread.

One pass from the most important term down, each put in front of those before it: so the tail (pins, then seeds) is
reserved first, a term that does not fit is skipped for the next, and the most important stands last.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.prompt.joiner import COMMA, Gap, gap_before
from app.prompt.plan import Block, DroppedTerms, DropReason, KeptTerm

# The first gives way last. The prompt is sent in the reverse of this, so that the most important stands at its end.
PRECEDENCE = (Block.PINNED, Block.SEED, Block.REQUEST, Block.RANKED)

_WIDE_STOPS = ("。", "！", "？")
_STOPS = (".", "!", "?", "…", *_WIDE_STOPS)

# (opening, closing) -> cost in tokens of opening + text + closing, by text; 0 for text that cannot be used.
UnitCosts = Callable[[str, str], Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Limits:
    """`terms` bounds the glossary's terms; None is no bound. `characters` counts the text without leading space."""

    tokens: int
    characters: int | None = None
    terms: int | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Texts of one block, most important first. `prose`: sentences rather than a term, so a full stop needs no comma
    after it."""

    block: Block
    texts: Sequence[str]
    prose: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """`kept` in the order in which they are sent; their tokens add up to `tokens`, the cost of " " + `text`."""

    text: str
    tokens: int
    kept: tuple[KeptTerm, ...]
    dropped: DroppedTerms


def select(groups: Sequence[Group], *, limits: Limits, gap: Gap, costs: UnitCosts) -> Selection:
    """Fill the budget from `groups`, most important first. Texts are trimmed; `gap` is the preferred one."""
    chain = _Chain(limits, gap, costs)
    dropped = DroppedTerms()
    seen: set[str] = set()
    for group in groups:
        block = group.block
        over = DropReason.OVER_BUDGET if block is Block.RANKED else DropReason.TAIL_OVER_BUDGET
        prices, room, reopening = chain.front_for(group)
        run: list[str] = []
        run_tokens: list[int] = []
        for text in group.texts:
            cost = prices[text]
            if cost > room and text not in seen:  # where nearly all of a long glossary ends
                run.append(text)
                run_tokens.append(cost + reopening)
                continue
            reason = DropReason.DUPLICATE if text in seen else chain.admit(text, group)
            seen.add(text)
            if reason is None:
                prices, room, reopening = chain.front_for(group)
                continue
            dropped.add(run, block, run_tokens, over)
            dropped.add([text], block, [cost + reopening if cost else 0], reason)
            run, run_tokens = [], []
        dropped.add(run, block, run_tokens, over)
    return chain.finish(dropped)


class _Front(NamedTuple):
    """What the next unit in front needs: its `costs` by text and `room` for it alone; `reopening` is what the present
    first unit costs more for no longer being first."""

    costs: Mapping[str, int]
    room: int
    reopening: int


class _Chain:
    """The prompt while it grows towards its front. A unit is opening + text + closing. What follows a unit never
    changes; the opening of the first one does when another unit comes before it."""

    def __init__(self, limits: Limits, gap: Gap, costs: UnitCosts) -> None:
        self._limits = limits
        self._gap = gap
        self._costs = costs
        self._units: list[tuple[str, Block, Gap, str]] = []  # text, block, gap before it, closing
        self._terms = self._tokens = self._characters = 0
        self._opening = self._closing = ""  # of the gap in front of the first unit
        self._reopening = 0

    def front_for(self, group: Group) -> _Front:
        room = self._limits.tokens - self._tokens - self._reopening
        return _Front(self._costs(COMMA.space, self._closing_for(group)), room, self._reopening)

    def _closing_for(self, group: Group) -> str:
        stops = _STOPS if self._opening else _WIDE_STOPS  # "end.Next" would read as one word
        ends_itself = group.prose and all(text.endswith(stops) for text in group.texts)
        return "" if ends_itself else self._closing

    def admit(self, text: str, group: Group) -> DropReason | None:
        """Put the text in front unless it is unusable or a limit other than that of tokens forbids it."""
        block, closing = group.block, self._closing_for(group)
        glossary = block is not Block.REQUEST
        cost = self._costs(COMMA.space, closing)[text]
        characters = len(text) + len(closing) + len(self._opening)
        if not cost:
            return DropReason.INVALID_TEXT
        if block is Block.RANKED and self._limits.terms is not None and self._terms >= self._limits.terms:
            return DropReason.MAX_TERMS
        if self._limits.characters is not None and self._characters + characters > self._limits.characters:
            return DropReason.OVER_CHARACTERS
        self._terms += glossary
        self._tokens += cost + self._reopening
        self._characters += characters
        gap = gap_before(text, self._gap)
        self._units.append((text, block, gap, closing))
        self._closing, self._opening = gap
        self._reopening = self._costs(gap.space, closing)[text] - cost
        return None

    def finish(self, dropped: DroppedTerms) -> Selection:
        kept: list[KeptTerm] = []
        parts: list[str] = []
        for position, (text, block, gap, closing) in enumerate(reversed(self._units)):
            opening = gap.space if position else COMMA.space
            kept.append(KeptTerm(text, block, position, self._costs(opening, closing)[text]))
            parts += (opening, text, closing)
        return Selection("".join(parts)[len(COMMA.space) :], self._tokens, tuple(kept), dropped)
