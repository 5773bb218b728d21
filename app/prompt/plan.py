"""The shape of a planned prompt: what is sent, what it costs, what was left out and why. Pure; any thread."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class Block(StrEnum):
    """The parts of a prompt, least important first, which is also the order in which they are sent."""

    RANKED = "ranked"
    REQUEST = "request"
    SEED = "seed"
    PINNED = "pinned"


class DropReason(StrEnum):
    """Why a term is not in the prompt."""

    OVER_BUDGET = "over_budget"
    MAX_TERMS = "max_terms"
    TAIL_OVER_BUDGET = "tail_over_budget"
    OVER_CHARACTERS = "over_characters"
    INVALID_TEXT = "invalid_text"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class KeptTerm:
    """A term in the prompt. `position`: 0 is sent first. `tokens`: its exact cost, joiner included."""

    text: str
    block: Block
    position: int
    tokens: int


@dataclass(slots=True, unsafe_hash=True)
class DroppedTerm:
    """A term left out. `tokens`: what it would have cost in front of what was kept so far; 0 when it is unusable.

    Not to be changed either; not `frozen` because a plan may have 100,000 of these and freezing triples their cost.
    """

    text: str
    block: Block
    tokens: int
    reason: DropReason


@dataclass(frozen=True)
class PromptPlan:
    """A finished prompt. `ids` are exactly the ids sent between `<|startofprev|>` and `<|startoftranscript|>`;
    `tokens == len(ids) <= budget`; `estimated_tokens >= tokens`; `headroom == budget - tokens`; the tokens of the kept
    terms add up to `tokens`. `profile`: whose limits it keeps."""

    text: str
    ids: tuple[int, ...]
    estimated_tokens: int
    budget: int
    kept: tuple[KeptTerm, ...]
    dropped: tuple[DroppedTerm, ...]
    profile: str = "whisper"

    @property
    def tokens(self) -> int:
        return len(self.ids)

    @property
    def headroom(self) -> int:
        return self.budget - self.tokens

    @property
    def characters(self) -> int:
        return len(self.text)

    @cached_property
    def sha256(self) -> str:
        return prompt_sha256(self.ids)

    @cached_property
    def dropped_by_reason(self) -> Mapping[DropReason, int]:
        return Counter(term.reason for term in self.dropped)


def prompt_sha256(ids: Sequence[int]) -> str:
    """Name of a prompt: sha256 of its ids in decimal, joined by commas, so that anybody can recompute it."""
    return hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest()
