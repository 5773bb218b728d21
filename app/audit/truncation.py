"""The positional A/B: where an over-long prompt is cut, or from which length on it is refused. In: a way to ask with a
prompt, and terms that are said in the recording. Out: a finding with every probe behind it. Pure but for `ask`.

A term far from the end that is kept is heard; one that was cut off is not. So its position in the prompt, moved by
bisection, finds the place of the cut from outside.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.audit.filler import Filler, filler, joined
from app.audit.hearing import found
from app.audit.probe import Answer
from app.errors import InvalidRequest

WITNESSES = 3


class Cut(StrEnum):
    """What an accepted prompt that is too long loses. `whole`: all of it. `middle`: terms far from both ends, which a
    model may also fail to heed. `unclear`: its terms are lost at either end at every length, so a cut cannot be told
    from a model that heeds no long prompt."""

    NOTHING = "nothing"
    FRONT = "front"
    BACK = "back"
    MIDDLE = "middle"
    WHOLE = "whole"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Length:
    tokens: int
    characters: int


@dataclass(frozen=True, slots=True)
class Probe:
    """One term at one place. `kept`: what would have to survive for the whole term to survive."""

    term: str
    kept: Length
    heard: bool


@dataclass(frozen=True, slots=True)
class Ends:
    """The A/B: the terms heard with all of them first, in the middle and last in a prompt of `size`, and the whole
    answers behind the first and the last."""

    size: Length
    first: tuple[str, ...]
    middle: tuple[str, ...]
    last: tuple[str, ...]
    answers: tuple[Answer, Answer]


@dataclass(frozen=True, slots=True)
class FillerFinding:
    """What one kind of filler shows. `accepted`, `refused`: the longest accepted and the shortest refused length, None
    if none was refused. `limits`: for each witness the most that survives."""

    kind: Filler
    accepted: Length
    refused: Length | None
    fault: str | None
    ends: Ends
    cut: Cut
    limits: tuple[Length, ...] = ()
    probes: tuple[Probe, ...] = ()

    @property
    def limit(self) -> Length | None:
        if not self.limits:
            return None
        return sorted(self.limits, key=lambda limit: limit.tokens)[(len(self.limits) - 1) // 2]


@dataclass(frozen=True, slots=True)
class TruncationFinding:
    """`without`, `alone`: terms heard with no prompt and with nothing but the terms; the witnesses are those that only
    the prompt brings. No fillers were tried when there is none."""

    terms: tuple[str, ...]
    without: tuple[str, ...]
    alone: tuple[str, ...]
    witnesses: tuple[str, ...]
    fillers: tuple[FillerFinding, ...] = ()


class TruncationExperiment:
    """Asks step by step. `count` gives the tokens of a prompt as it is sent; `most_tokens` is the longest one tried."""

    def __init__(
        self, ask: Callable[[str], Answer], count: Callable[[str], int], terms: Sequence[str], *, most_tokens: int
    ) -> None:
        self._ask = ask
        self._count = count
        self._terms = tuple(dict.fromkeys(terms))
        self._most_tokens = most_tokens

    def run(self) -> TruncationFinding:
        """Raises InvalidRequest when the recording, or a prompt of nothing but the terms, is refused."""
        without, alone = (
            self._heard("", "without a prompt"),
            self._heard(joined(*self._terms), "with nothing but the terms"),
        )
        witnesses = tuple(term for term in alone if term not in without)
        finding = TruncationFinding(self._terms, without, alone, witnesses)
        if not witnesses:
            return finding
        fillers = tuple(self._try(kind, witnesses) for kind in Filler)
        return TruncationFinding(self._terms, without, alone, witnesses, fillers)

    def _heard(self, prompt: str, how: str) -> tuple[str, ...]:
        answer = self._ask(prompt)
        if answer.refused is not None:
            raise InvalidRequest(f"The recording is refused even {how}: {answer.refused}")
        return _found(self._terms, answer)

    def _try(self, kind: Filler, witnesses: tuple[str, ...]) -> FillerFinding:
        accepted, refused, fault = self._refusal(kind)
        ends = self._ends(kind, accepted, witnesses)
        first, last = ends.first, ends.last
        at_front, inside, at_back = (2 * len(heard) >= len(witnesses) for heard in (first, ends.middle, last))
        if at_front and at_back:
            return FillerFinding(kind, accepted, refused, fault, ends, Cut.NOTHING if inside else Cut.MIDDLE)
        cut = Cut.FRONT if at_back else Cut.BACK if at_front else Cut.WHOLE
        chosen = (last if at_back else first if at_front else witnesses)[:WITNESSES]
        probes: list[Probe] = []
        limits = [self._bisect(kind, term, cut, ends.size.tokens, probes) for term in chosen]
        known = tuple(limit for limit in limits if limit is not None)
        return FillerFinding(kind, accepted, refused, fault, ends, cut if known else Cut.UNCLEAR, known, tuple(probes))

    def _ends(self, kind: Filler, accepted: Length, witnesses: tuple[str, ...]) -> Ends:
        """The A/B with as much filler beside the terms as is accepted, whichever comes first."""
        room = max(0, accepted.tokens - self._count(joined(*witnesses)) - 1)
        while True:
            padding = filler(kind, room)
            first, last = self._ask(joined(*witnesses, padding)), self._ask(joined(padding, *witnesses))
            if not room or first.refused is last.refused is None:
                break
            room = max(0, room - 2)
        middle = self._ask(joined(filler(kind, room // 2), *witnesses, filler(kind, room - room // 2)))
        return Ends(
            self._length(joined(padding, *witnesses)),
            first=_found(witnesses, first),
            middle=_found(witnesses, middle),
            last=_found(witnesses, last),
            answers=(first, last),
        )

    def _refusal(self, kind: Filler) -> tuple[Length, Length | None, str | None]:
        """The longest accepted prompt of filler, the shortest refused one, and how a fault read if one was met."""
        fault: str | None = None

        def is_refused(tokens: int) -> bool:
            nonlocal fault
            answer = self._ask(filler(kind, tokens))
            if answer.is_fault:
                fault = fault or answer.refused
            return answer.refused is not None

        if not is_refused(self._most_tokens):
            return self._length(filler(kind, self._most_tokens)), None, None
        low, high = bisect(is_refused, 0, self._most_tokens)
        return self._length(filler(kind, low)), self._length(filler(kind, high)), fault

    def _bisect(self, kind: Filler, term: str, cut: Cut, total: int, probes: list[Probe]) -> Length | None:
        """The most that survives, by moving `term` away from the end that is kept; None when it is never heard."""
        room = max(2, total - self._count(term) - 1)
        survived: list[Length] = []

        def is_lost(distance: int) -> bool:
            near = filler(kind, distance)
            far = "" if cut is Cut.WHOLE else filler(kind, room - distance)
            kept = joined(term, near) if cut is Cut.FRONT else joined(near, term)
            prompt = joined(far, kept) if cut is Cut.FRONT else joined(kept, far)
            heard = found(term, self._ask(prompt).text)
            probes.append(Probe(term, self._length(kept), heard))
            if heard:
                survived.append(probes[-1].kept)
            return not heard

        if not is_lost(0):
            bisect(is_lost, 0, room)
        return max(survived, key=lambda kept: kept.tokens, default=None)

    def _length(self, text: str) -> Length:
        return Length(self._count(text), len(text))


def _found(terms: Sequence[str], answer: Answer) -> tuple[str, ...]:
    return tuple(term for term in terms if found(term, answer.text))


def bisect(holds: Callable[[int], bool], low: int, high: int) -> tuple[int, int]:
    """Neighbours (n, n + 1) in [low, high], the first false and the second true, for `holds` false at `low` and true
    at `high` (neither is asked) that turns once."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high
