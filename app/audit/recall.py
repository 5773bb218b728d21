"""Term recall: which words are given, and what came of it. In: a manifest, a list of terms, a condition. Out: the words
for each file, and its figures. Pure; any thread."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.audit.hearing import TermIndex, count, words
from app.audit.probe import Answer
from app.audit.rates import Errors, character_errors, word_errors
from app.errors import InvalidRequest
from app.glossary.term import TermSelection


class Taken(StrEnum):
    """Which terms are given: none; those said in a recording among others; the first of the list whether said or not;
    what the server takes from a glossary."""

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
    """How terms are given: in the request's prompt or as its keywords, or in a glossary, the spoken ones in that block
    and the others ranked."""

    PROMPT = "prompt"
    KEYWORDS = "keywords"
    PINNED = "pinned"
    SEED = "seed"
    RANKED = "ranked"


@dataclass(frozen=True, slots=True)
class Condition:
    """`terms`: how many are given; of a glossary, how many it has, 0 for one that is on the server already.
    `selection`: how the server takes terms from a glossary, None as the glossary says."""

    taken: Taken = Taken.NONE
    terms: int = 0
    position: Position = Position.LAST
    placement: Placement = Placement.PROMPT
    selection: TermSelection | None = None

    @property
    def label(self) -> str:
        match self.taken:
            case Taken.NONE:
                return "no terms"
            case Taken.GLOSSARY:
                glossary = f"glossary of {self.terms:,}" if self.terms else "the server's glossary"
                return f"{glossary}, {self.selection}" if self.selection else glossary
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
    in the text more often than they are said. `offered`: how many a glossary brought into prompts, None elsewhere."""

    file: str
    language: str | None
    said: int
    heard: int
    false_alarms: int
    words: Errors
    characters: Errors
    refused: str | None
    offered: int | None = None


def read_manifest(text: str) -> tuple[Sample, ...]:
    """Tab-separated with a head line: file, transcript, terms (joined by commas), and language if there is one. Raises
    InvalidRequest naming what is wrong."""
    head, *lines = [line.rstrip("\r").split("\t") for line in text.removeprefix("\ufeff").split("\n")]
    missing = {"file", "transcript", "terms"} - set(head)
    if missing:
        raise InvalidRequest(f"The manifest has no column {', '.join(sorted(missing))}; its head line names them.")
    rows = [dict(zip(head, [*line, *[""] * len(head)], strict=False)) for line in lines if any(line)]
    samples = tuple(
        Sample(
            file=row["file"],
            transcript=row["transcript"],
            terms=tuple(filter(None, (term.strip() for term in row["terms"].split(",")))),
            language=row.get("language") or None,
        )
        for row in rows
    )
    for file, times in Counter(sample.file for sample in samples).items():
        if not file or times > 1:
            raise InvalidRequest(f"{file} has {times} lines in the manifest." if file else "A line names no file.")
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


def glossary_of(size: int, samples: Sequence[Sample], listed: Sequence[str]) -> tuple[str, ...]:
    """A glossary of `size`, the most important first: every term that is said in any recording, and the first others of
    the list, in its order; what the list lacks comes last. Raises InvalidRequest where that is impossible."""
    said = {words(term): term for sample in samples for term in sample.terms}
    known = {words(term): term for term in listed}
    others = [term for key, term in known.items() if key not in said]
    if not len(said) <= size <= len(said) + len(others):
        raise InvalidRequest(
            f"A glossary of {size:,} cannot be made: {len(said):,} terms are said in the recordings, and the list has "
            f"{len(others):,} others."
        )
    taken = {words(term) for term in others[: size - len(said)]}
    return tuple(term for key, term in (known | said).items() if key in said or key in taken)


def offered(answer: Answer) -> int | None:
    """How many terms of a glossary stood in the prompts of all windows that were decoded with any."""
    if answer.receipt is None:
        return None
    prompt = answer.receipt["prompt"]
    if prompt.get("selection") == TermSelection.RELEVANT:
        return sum(len(window["offered"]) for window in answer.receipt["relevance"])
    return len(prompt["kept"])


def score(sample: Sample, answer: Answer, listed: TermIndex, *, offered: int | None = None) -> Figures:
    """`listed`: every term of the audit; any of them in the text that was not said is a false alarm."""
    said = {term: count(term, sample.transcript) or 1 for term in dict.fromkeys(sample.terms)}
    known = {words(term) for term in said}
    surplus = sum(max(0, count(term, answer.text) - times) for term, times in said.items())
    spoken = listed.counts(sample.transcript)
    return Figures(
        file=sample.file,
        language=sample.language,
        said=sum(said.values()),
        heard=sum(min(times, count(term, answer.text)) for term, times in said.items()),
        false_alarms=surplus
        + sum(max(0, n - spoken[term]) for term, n in listed.counts(answer.text).items() if term not in known),
        words=word_errors(sample.transcript, answer.text),
        characters=character_errors(sample.transcript, answer.text),
        refused=answer.refused,
        offered=offered,
    )
