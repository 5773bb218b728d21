"""What unit a limit is in. In: what each kind of filler found. Out: the limit of a cut and of a refusal, in tokens, in
characters, or both; the verdict in words. Pure; any thread.

The rule: under a limit in tokens both fillers stop at the same number of tokens and far apart in characters; under one
in characters it is the other way round. Where neither agrees, both limits hold and each filler meets the nearer one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.audit.truncation import Cut, FillerFinding, Length, TruncationFinding
from app.audit.verdict import Verdict

_TOKENS_APART = 4
_CHARACTERS_APART = 40


class Unit(StrEnum):
    TOKENS = "tokens"
    CHARACTERS = "characters"
    BOTH = "both"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that passes; None where no such limit was met. `unit` unknown: only one filler met it, and the other
    reached neither its tokens nor its characters; both figures are given then and one of them is chance."""

    unit: Unit
    tokens: int | None
    characters: int | None

    def __str__(self) -> str:
        known = [f"{n} {unit}" for n, unit in ((self.tokens, "tokens"), (self.characters, "characters")) if n]
        return (" or " if self.unit is Unit.UNKNOWN else " and ").join(known)


@dataclass(frozen=True, slots=True)
class Met:
    """One filler: the most that passed, and whether more did not."""

    most: Length
    limited: bool


def limit_of(short: Met, long: Met) -> Limit | None:
    """None when neither met a limit."""
    if not (short.limited or long.limited):
        return None
    if short.limited and long.limited:
        return _both(short.most, long.most)
    one, other = (short.most, long.most) if short.limited else (long.most, short.most)
    if other.tokens > one.tokens + _TOKENS_APART:
        return Limit(Unit.CHARACTERS, None, one.characters)
    if other.characters > one.characters + _CHARACTERS_APART:
        return Limit(Unit.TOKENS, one.tokens, None)
    return Limit(Unit.UNKNOWN, one.tokens, one.characters)


def _both(short: Length, long: Length) -> Limit:
    if abs(short.tokens - long.tokens) <= _TOKENS_APART:
        return Limit(Unit.TOKENS, round((short.tokens + long.tokens) / 2), None)
    if abs(short.characters - long.characters) <= _CHARACTERS_APART:
        # The characters of a short word are the finer measure.
        return Limit(Unit.CHARACTERS, None, short.characters)
    return Limit(Unit.BOTH, short.tokens, long.characters)


def cut_limit(fillers: Sequence[FillerFinding]) -> Limit | None:
    short, long = (Met(each.limit or each.ends.size, each.limit is not None) for each in fillers)
    return limit_of(short, long)


def refusal_limit(fillers: Sequence[FillerFinding]) -> Limit | None:
    short, long = (Met(each.accepted, each.refused is not None) for each in fillers)
    return limit_of(short, long)


def first_refused(fillers: Sequence[FillerFinding]) -> Limit | None:
    """As `refusal_limit`, but the least that is refused."""
    short, long = (Met(each.refused or each.accepted, each.refused is not None) for each in fillers)
    return limit_of(short, long)


@dataclass(frozen=True, slots=True)
class TruncationVerdict:
    """`summary`: for people, one sentence each."""

    verdict: Verdict
    cut: Cut
    limit: Limit | None
    refused_at: Limit | None
    summary: tuple[str, ...]


_WHAT_IS_CUT = {
    Cut.FRONT: "The front is cut: of an over-long prompt only the last {limit} arrive, and nobody is told.",
    Cut.BACK: "The back is cut: of an over-long prompt only the first {limit} arrive, and nobody is told.",
    Cut.WHOLE: "A prompt of more than {limit} is ignored as a whole, and nobody is told.",
}


def judge(finding: TruncationFinding) -> TruncationVerdict:
    if not finding.fillers:
        reason = (
            "No term shows whether it arrived: each is heard without a prompt already, or not even with it alone. "
            "Choose terms that this model misspells until it is told."
        )
        return TruncationVerdict(Verdict.INCONCLUSIVE, Cut.UNCLEAR, None, None, (reason,))
    cuts = {each.cut for each in finding.fillers} - {Cut.NOTHING}
    cut = cuts.pop() if len(cuts) == 1 else Cut.UNCLEAR if cuts else Cut.NOTHING
    limit, refused = cut_limit(finding.fillers), first_refused(finding.fillers)
    summary = [_cut_sentence(cut, limit, finding.fillers)]
    if refused is not None:
        summary.append(f"Refused at {refused}, with a reason that the caller can see: it refuses by length.")
    faults = [each.fault for each in finding.fillers if each.fault]
    if faults:
        summary.append(f"A long prompt is answered with a fault of the server: {faults[0]}")
    if faults or cut in _WHAT_IS_CUT:
        verdict = Verdict.BROKEN
    else:
        verdict = Verdict.KEPT if cut is Cut.NOTHING else Verdict.INCONCLUSIVE
    return TruncationVerdict(verdict, cut, limit, refused, tuple(summary))


def _cut_sentence(cut: Cut, limit: Limit | None, fillers: Sequence[FillerFinding]) -> str:
    reach = max(each.ends.size.tokens for each in fillers)
    if cut is Cut.NOTHING:
        return f"Nothing is cut: the terms are heard from both ends and the middle of a prompt of {reach} tokens."
    if cut is Cut.MIDDLE:
        return (
            f"The terms are heard from both ends of a prompt of {reach} tokens and not from its middle: that is "
            "dropped, or the model does not heed it."
        )
    if cut is Cut.UNCLEAR:
        return "The terms are lost in a long prompt, at no one place: the model may heed no prompt of that length."
    return _WHAT_IS_CUT[cut].format(limit=limit)
