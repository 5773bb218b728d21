"""The shape of a planned prompt: what is sent, what it costs, what was left out and why. Pure; any thread."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import overload


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


@dataclass(frozen=True, slots=True)
class DroppedTerm:
    """A term left out. `tokens`: what it would have cost in front of what was kept so far; 0 when it is unusable."""

    text: str
    block: Block
    tokens: int
    reason: DropReason


class DroppedTerms(Sequence[DroppedTerm]):
    """Terms left out, the most important first, as columns: a plan may have 100,000, and as many objects would make
    every collection of the garbage collector walk them. A row is made when it is looked at."""

    __slots__ = ("_columns", "by_reason")

    def __init__(self) -> None:
        self._columns: tuple[list[str], list[Block], list[int], list[DropReason]] = ([], [], [], [])
        self.by_reason: Counter[DropReason] = Counter()

    def add(self, texts: Sequence[str], block: Block, tokens: Sequence[int], reason: DropReason) -> None:
        """A run of terms of one block, left out for one reason."""
        all_texts, blocks, all_tokens, reasons = self._columns
        all_texts += texts
        blocks += [block] * len(texts)
        all_tokens += tokens
        reasons += [reason] * len(texts)
        if texts:
            self.by_reason[reason] += len(texts)

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[DroppedTerm]:
        return map(DroppedTerm, *self._columns)

    @overload
    def __getitem__(self, at: int) -> DroppedTerm: ...
    @overload
    def __getitem__(self, at: slice) -> list[DroppedTerm]: ...
    def __getitem__(self, at: int | slice) -> DroppedTerm | list[DroppedTerm]:
        if isinstance(at, slice):
            return list(map(DroppedTerm, *(column[at] for column in self._columns)))
        return DroppedTerm(*(column[at] for column in self._columns))  # type: ignore[arg-type]


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
    dropped: Sequence[DroppedTerm]
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
        if isinstance(self.dropped, DroppedTerms):
            return self.dropped.by_reason
        return Counter(term.reason for term in self.dropped)


def prompt_sha256(ids: Sequence[int]) -> str:
    """Name of a prompt: sha256 of its ids in decimal, joined by commas, so that anybody can recompute it."""
    return hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest()
