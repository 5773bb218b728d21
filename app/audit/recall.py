"""Term recall: which words are given, and what came of it. In: a manifest, a list of terms, a condition. Out: the words
for each file, and its figures. Pure; any thread."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.audit.hearing import count, words
from app.audit.probe import Answer
from app.audit.rates import Errors, character_errors, word_errors
from app.errors import InvalidRequest


class Taken(StrEnum):
    """Which terms are given: none; the spoken ones among others; the first of the list whether spoken or not; what a
    glossary on the server holds."""

    NONE = "none"
    SPOKEN = "spoken"
    HEAD = "head"
    GLOSSARY = "glossary"


class Position(StrEnum):
    """Where the spoken terms stand among the others."""

    FIRST = "first"
    MIDDLE = "middle"
    LAST = "last"


class Placement(StrEnum):
    """How terms are given: in the request's prompt or as its keywords, or in a glossary in one of its blocks."""

    PROMPT = "prompt"
    KEYWORDS = "keywords"
    PINNED = "pinned"
    SEED = "seed"
    RANKED = "ranked"


@dataclass(frozen=True, slots=True)
class Condition:
    """`terms`: how many are given, 0 where the server decides."""

    taken: Taken = Taken.NONE
    terms: int = 0
    position: Position = Position.LAST
    placement: Placement = Placement.PROMPT

    @property
    def label(self) -> str:
        match self.taken:
            case Taken.NONE:
                return "no terms"
            case Taken.GLOSSARY:
                return "the server's glossary"
            case Taken.HEAD:
                return f"first {self.terms} of the list, {self.placement}"
            case Taken.SPOKEN:
                return f"{self.terms} terms, spoken {self.position}, {self.placement}"


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of a manifest. `terms`: those said in it."""

    file: str
    transcript: str
    terms: tuple[str, ...]
    language: str | None


@dataclass(frozen=True, slots=True)
class Figures:
    """One file under one condition. `said`, `heard`: terms, each counted as often as it is said. `false_alarms`: terms
    in the text more often than they are said."""

    file: str
    language: str | None
    said: int
    heard: int
    false_alarms: int
    words: Errors
    characters: Errors
    refused: str | None


def read_manifest(text: str) -> tuple[Sample, ...]:
    """Tab-separated with a head line: file, transcript, terms (joined by commas), and language if there is one. Raises
    InvalidRequest naming what is missing."""
    rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")), dialect="excel-tab", quoting=csv.QUOTE_NONE)
    missing = {"file", "transcript", "terms"} - set(rows.fieldnames or ())
    if missing:
        raise InvalidRequest(f"The manifest has no column {', '.join(sorted(missing))}; its head line names them.")
    samples = tuple(
        Sample(
            file=row["file"],
            transcript=row["transcript"] or "",
            terms=tuple(filter(None, (term.strip() for term in (row["terms"] or "").split(",")))),
            language=row.get("language") or None,
        )
        for row in rows
    )
    if not any(sample.terms for sample in samples):
        raise InvalidRequest("No line of the manifest names a term; the column `terms` holds those said in the file.")
    return samples


def terms_for(condition: Condition, sample: Sample, listed: Sequence[str]) -> tuple[str, ...]:
    """The terms in the order in which a prompt would hold them; `listed` is the whole list. Fewer than wanted where
    the list is too short; never fewer than those said."""
    if condition.taken in (Taken.NONE, Taken.GLOSSARY):
        return ()
    if condition.taken is Taken.HEAD:
        return tuple(listed[: condition.terms])
    said = tuple(dict.fromkeys(sample.terms))
    known = {words(term) for term in said}
    others = [term for term in listed if words(term) not in known][: max(0, condition.terms - len(said))]
    match condition.position:
        case Position.FIRST:
            return (*said, *others)
        case Position.MIDDLE:
            half = len(others) // 2
            return (*others[:half], *said, *others[half:])
        case Position.LAST:
            return (*others, *said)


def score(sample: Sample, answer: Answer, listed: Sequence[str]) -> Figures:
    """`listed`: every term of the audit; any of them in the text that was not said is a false alarm."""
    said = {term: count(term, sample.transcript) or 1 for term in dict.fromkeys(sample.terms)}
    known = {words(term) for term in said}
    surplus = sum(max(0, count(term, answer.text) - times) for term, times in said.items())
    return Figures(
        file=sample.file,
        language=sample.language,
        said=sum(said.values()),
        heard=sum(min(times, count(term, answer.text)) for term, times in said.items()),
        false_alarms=surplus
        + sum(
            max(0, count(term, answer.text) - count(term, sample.transcript))
            for term in dict.fromkeys(listed)
            if words(term) not in known
        ),
        words=word_errors(sample.transcript, answer.text),
        characters=character_errors(sample.transcript, answer.text),
        refused=answer.refused,
    )
