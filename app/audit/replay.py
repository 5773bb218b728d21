"""A request once more. In: a stored answer and a fresh one, or answers under two revisions of a glossary. Out: whether
they are the same, where they part, and which terms came and went. Pure; any thread."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.audit.divergence import Divergence, divergence
from app.audit.hearing import count
from app.audit.probe import Answer, Ask
from app.audit.verdict import Verdict
from app.errors import InvalidRequest, NotFound


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """What a receipt says about its request. `glossary`, `revision`: None for one without a glossary. `selection`: how
    terms were taken from it."""

    file: str
    answer: Answer
    glossary: str | None
    revision: int | None
    selection: str | None

    def asks(self, language: str | None) -> tuple[Ask, ...]:
        """What the request may have been: `language` if it is known; else the one that was heard, which may have been
        named or detected, since a receipt does not tell."""
        plain = Ask(glossary=self.glossary, revision=self.revision, selection=self.selection if self.glossary else None)
        languages = (language,) if language else dict.fromkeys((self.answer.language, None))
        return tuple(replace(plain, language=each) for each in languages)


def stored_request(file: str, answer: Answer) -> StoredRequest:
    """Raises InvalidRequest for a prompt that came with the request: only its sha256 is known, its words are not."""
    prompt: dict[str, Any] = (answer.receipt or {}).get("prompt", {})
    if prompt.get("blocks", {}).get("request"):
        raise InvalidRequest(f"{file}: its prompt had words of the request, which a receipt does not hold.")
    return StoredRequest(file, answer, prompt.get("glossary"), prompt.get("revision"), prompt.get("selection"))


@dataclass(frozen=True, slots=True)
class Replayed:
    """`parted`: None when every text and time is the same."""

    file: str
    stored: Answer
    fresh: Answer
    parted: Divergence | None

    @property
    def same_prompt(self) -> bool:
        return self.stored.prompt == self.fresh.prompt

    @property
    def same_system(self) -> bool:
        return self.stored.fingerprint == self.fresh.fingerprint


def replayed(request: StoredRequest, answers: Iterable[Answer]) -> Replayed:
    """The first of the `answers` that is the stored one, else the first with its prompt, else the first. One that is
    the same ends the asking."""
    results = []
    for answer in answers:
        result = Replayed(request.file, request.answer, answer, divergence(request.answer, answer, 2))
        if result.same_prompt and result.parted is None:
            return result
        results.append(result)
    return next((result for result in results if result.same_prompt), results[0])


def judge_replay(results: Sequence[Replayed]) -> tuple[Verdict, tuple[str, ...]]:
    """Broken: another answer to the same prompt on the same system, another prompt for the same revision, a refusal.
    Inconclusive: another answer where the fingerprint changed, which nobody promised; a glossary that is gone."""
    verdicts = [_one(each) for each in results]
    for wanted in (Verdict.BROKEN, Verdict.INCONCLUSIVE):
        if any(verdict is wanted for verdict, _ in verdicts):
            return wanted, tuple(line for _, line in verdicts)
    return Verdict.KEPT, tuple(line for _, line in verdicts)


def _one(each: Replayed) -> tuple[Verdict, str]:
    if each.fresh.status == NotFound.status:
        return Verdict.INCONCLUSIVE, f"{each.file}: cannot be asked again. {each.fresh.refused}"
    if each.fresh.refused is not None:
        return Verdict.BROKEN, f"{each.file}: refused this time: {each.fresh.refused}"
    if not each.same_prompt:
        return Verdict.BROKEN, f"{each.file}: the same revision of the glossary gave another prompt."
    if each.parted is None:
        note = "" if each.same_system else ", although the fingerprint changed"
        return Verdict.KEPT, f"{each.file}: identical{note}."
    where = f"{each.file}: differs from {each.parted.at:.1f} s on, {each.parted.cer:.1%} of the characters"
    if each.same_system:
        return Verdict.BROKEN, f"{where}, with the same prompt and fingerprint."
    return (
        Verdict.INCONCLUSIVE,
        f"{where}; the fingerprint changed from {each.stored.fingerprint} to {each.fresh.fingerprint}.",
    )


@dataclass(frozen=True, slots=True)
class Compared:
    """One recording under two revisions. `won`, `lost`: terms of either prompt heard more, or less, often than before;
    `lost_though_kept`: lost terms that both prompts hold."""

    file: str
    before: Answer
    after: Answer
    won: tuple[str, ...]
    lost: tuple[str, ...]
    lost_though_kept: tuple[str, ...]


def compared(file: str, before: Answer, after: Answer) -> Compared:
    old, new = kept_terms(before), kept_terms(after)
    change = {term: count(term, after.text) - count(term, before.text) for term in dict.fromkeys([*old, *new])}
    lost = tuple(term for term, more in change.items() if more < 0)
    return Compared(
        file=file,
        before=before,
        after=after,
        won=tuple(term for term, more in change.items() if more > 0),
        lost=lost,
        lost_though_kept=tuple(term for term in lost if term in old and term in new),
    )


def judge_revisions(results: Sequence[Compared], before: int, after: int) -> tuple[Verdict, tuple[str, ...]]:
    """Broken: a term that both prompts hold is no longer heard, or a request was refused."""
    refused = [each for each in results if each.before.refused or each.after.refused]
    lost = [each for each in results if each.lost_though_kept]
    won_terms, lost_terms = (sorted({t for each in results for t in side(each)}) for side in (_won, _lost))
    lines = [
        f"Revision {after} against {before} over {len(results)} files: "
        f"won {', '.join(won_terms) or 'none'}; lost {', '.join(lost_terms) or 'none'}.",
        *(f"{each.file}: lost {', '.join(each.lost_though_kept)}, though both prompts hold it." for each in lost),
        *(f"{each.file}: refused: {each.before.refused or each.after.refused}" for each in refused),
    ]
    return Verdict.BROKEN if lost or refused else Verdict.KEPT, tuple(lines)


def kept_terms(answer: Answer) -> tuple[str, ...]:
    prompt: dict[str, Any] = (answer.receipt or {}).get("prompt", {})
    return tuple(prompt.get("kept", ()))


def _won(each: Compared) -> tuple[str, ...]:
    return each.won


def _lost(each: Compared) -> tuple[str, ...]:
    return each.lost
