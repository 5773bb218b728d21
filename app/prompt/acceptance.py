"""Which of the offered terms are taken. In: the offers of a window, and how well the window's sound is explained with
each. Out: replacements of spans of the first transcript, nothing else. Pure; any thread.

The measurements behind the figures here are in docs/adr/0080-relevant-terms.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.prompt.relevance import Candidate

# Evidence is what a text with the term gains in log-probability over what was written, with the terms in the prompt
# and, for half as much, without: a prompt alone makes any of its words likely. A likeness of sound speaks for the term.
_ALONE_WEIGHT = 0.5
_SIMILARITY_WEIGHT = 20.0
_SIMILARITY_BY_CHANCE = 0.4
# Where terms may have been meant at several places, the prompt takes from what was written at the others, so that is
# measured; at one place it takes about this much.
PROMPT_COST = 2.0
# A term that explains the sound hardly better than what was written is not taken.
LEAST_EVIDENCE = 1.5


@dataclass(frozen=True, slots=True)
class Gain:
    """Natural logarithm of how many times likelier the window's text is with a term in place of what was heard than
    what was written without any: after the prompt, and alone; None where the prompt already speaks against it."""

    prompted: float
    alone: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """`start`, `end`: the span of the first transcript, `heard` its text; `text` stands in its place. `evidence`: at
    least LEAST_EVIDENCE, see `weighed`."""

    term: str
    start: int
    end: int
    heard: str
    text: str
    similarity: float
    evidence: float


@dataclass(frozen=True, slots=True)
class WindowSelection:
    """What was offered for one window and why, with which prompt it was looked at again, and what changed."""

    window: int
    offered: tuple[Candidate, ...]
    prompt_sha256: str
    prompt_tokens: int
    changes: tuple[Change, ...] = ()


def weighed(offers: Sequence[Candidate], gains: Sequence[Gain]) -> tuple[Candidate, ...]:
    """The offers with the evidence for each: over 0 and it is likelier than what was heard."""
    return tuple(replace(offer, evidence=_evidence(offer, gain)) for offer, gain in zip(offers, gains, strict=True))


def at_several_places(offers: Sequence[Candidate]) -> bool:
    """Whether different things were heard, and not one, perhaps several times."""
    first = offers[0]
    return any(offer.heard != first.heard and not first.overlaps(offer) for offer in offers)


def accepted(offers: Sequence[Candidate]) -> tuple[Change, ...]:
    """Replacements in the order of the text, none overlapping another: where offers do, the one with the most evidence
    is taken, among equals the first. An offer of what stands there already changes nothing, and nothing else is put in
    its place."""
    taken: list[Candidate] = []
    for offer in sorted(offers, key=lambda offer: -(offer.evidence or 0.0)):
        if offer.evidence is None or offer.evidence < LEAST_EVIDENCE or any(map(offer.overlaps, taken)):
            continue
        taken.append(offer)
    return tuple(
        Change(one.term, one.start, one.end, one.heard, one.term, one.similarity, one.evidence or 0.0)
        for one in sorted(taken, key=lambda offer: offer.start)
        if one.heard != one.term
    )


def _evidence(offer: Candidate, gain: Gain) -> float | None:
    if gain.alone is None:
        return None
    likeness = _SIMILARITY_WEIGHT * (offer.similarity - _SIMILARITY_BY_CHANCE)
    return round(gain.prompted + _ALONE_WEIGHT * gain.alone + likeness, 3)
