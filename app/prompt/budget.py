"""Which terms go into the prompt. In: terms in total order, their costs, the limits. Out: kept and dropped, each with
its reason. Pure; any thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.prompt.plan import Block, DroppedTerm, DropReason, KeptTerm

# Most important first; the prompt is sent in the reverse of this, so that the most important stands last.
IMPORTANCE: tuple[Block, ...] = (Block.PINNED, Block.SEED, Block.REQUEST, Block.RANKED)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A term that wants a place. `joined`: its cost with the joiner behind it; `last`: its cost as the last term."""

    text: str
    block: Block
    joined: int
    last: int


@dataclass(frozen=True, slots=True)
class Selection:
    """`kept` in the order in which they are sent."""

    kept: tuple[KeptTerm, ...]
    dropped: tuple[DroppedTerm, ...]
    tokens: int


def select(candidates: Sequence[Candidate], *, budget: int, max_terms: int | None = None) -> Selection:
    """Reserve the tail (pinned, then seeds, then request words), then admit ranked terms by rank, skipping what does
    not fit. `candidates` most important first within each block; `budget` in tokens.

    The first candidate kept is sent last and so carries no joiner.
    """
    kept: list[Candidate] = []
    dropped: list[DroppedTerm] = []
    spent = 0
    for block in IMPORTANCE:
        for candidate in (candidate for candidate in candidates if candidate.block is block):
            cost = candidate.joined if kept else candidate.last
            if max_terms is not None and len(kept) >= max_terms:
                reason = DropReason.MAX_TERMS
            elif spent + cost > budget:
                reason = DropReason.OVER_BUDGET if block is Block.RANKED else DropReason.TAIL_OVER_BUDGET
            else:
                kept.append(candidate)
                spent += cost
                continue
            dropped.append(DroppedTerm(candidate.text, block, cost, reason))
    sent = [
        KeptTerm(candidate.text, candidate.block, position, candidate.last if first else candidate.joined)
        for position, (candidate, first) in enumerate(reversed([(c, i == 0) for i, c in enumerate(kept)]))
    ]
    return Selection(tuple(sent), tuple(dropped), spent)


def costed(text: str, block: Block, *, joiner: str, cost: Callable[[str], int]) -> Candidate:
    """A candidate with its costs; `joiner` without its space, as in `,`."""
    return Candidate(text, block, joined=cost(f" {text}{joiner}"), last=cost(f" {text}"))
