"""A recall audit as it runs. In: samples, conditions, how a condition is asked. Out: figures and answers by condition.
Blocking; one request after the other, since it is about words and not about load."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.audit.asking import Asking, Prepare
from app.audit.hearing import TermIndex
from app.audit.placing import GlossaryOnServer
from app.audit.probe import Answer, Ask
from app.audit.recall import (
    Condition,
    Figures,
    Placement,
    Position,
    Sample,
    Taken,
    offered,
    score,
    terms_for,
)
from app.errors import InvalidRequest
from app.glossary.term import TermSelection


@dataclass(frozen=True, slots=True)
class Questions:
    """What is sent under a condition. `glossary`: one that is on the server. `fillings`: the terms of glossaries made
    for the audit, by size. `on_server`: where they are made, None when no condition needs one."""

    glossary: str | None = None
    fillings: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    on_server: GlossaryOnServer | None = None

    def ask(self, condition: Condition, sample: Sample, terms: tuple[str, ...]) -> tuple[Ask, Prepare | None]:
        """The question, and what has to be done on the server before it is sent."""
        question = Ask(language=sample.language, selection=condition.selection)
        if condition.taken is Taken.GLOSSARY:
            if not condition.terms:
                return replace(question, glossary=self.glossary), None
            return question, lambda ask: self._server.filled(ask, self.fillings[condition.terms])
        match condition.placement:
            case Placement.PROMPT:
                return replace(question, prompt=", ".join(terms)), None
            case Placement.KEYWORDS:
                # Keywords come most important first, and the most important ends up last in a prompt.
                return replace(question, keywords=terms[::-1]), None
            case placement:
                said = frozenset(sample.terms)
                return replace(question, keywords=terms), lambda ask: self._server.placed(ask, said, placement)

    @property
    def _server(self) -> GlossaryOnServer:
        assert self.on_server is not None  # noqa: S101 - opened for just these conditions
        return self.on_server


@dataclass(frozen=True, slots=True)
class Heard:
    """`figures` and `answers` by condition; `unheard`: files that are refused also without terms, with the reason. They
    are part of no figure."""

    figures: dict[Condition, list[Figures]]
    answers: dict[Condition, dict[str, Answer]]
    unheard: dict[str, str]


def hear_under(
    asking: Asking,
    folder: Path,
    samples: Sequence[Sample],
    conditions: Sequence[Condition],
    listed: Sequence[str],
    questions: Questions,
) -> Heard:
    """`folder`: where the manifest's files lie; `listed`: the terms to take from and to raise false alarms with. The
    first condition is the one without terms. Raises InvalidRequest when no recording with a term is left."""
    known = TermIndex([*listed, *(term for sample in samples for term in sample.terms)])
    heard = Heard({}, {}, {})
    for condition in conditions:
        answers = heard.answers.setdefault(condition, {})
        figures = heard.figures.setdefault(condition, [])
        for sample in samples:
            if sample.file in heard.unheard:
                continue
            ask, prepare = questions.ask(condition, sample, terms_for(condition, sample, listed))
            answer = asking(folder / sample.file, ask, prepare=prepare, condition=condition.label)
            if answer.refused is not None and condition.taken is Taken.NONE:
                heard.unheard[sample.file] = answer.refused
                continue
            answers[sample.file] = answer
            count = offered(answer) if condition.taken is Taken.GLOSSARY else None
            figures.append(score(sample, answer, known, offered=count))
        if not any(each.said for each in figures):
            reason = next(iter(heard.unheard.values()))
            raise InvalidRequest(f"No recording with a term could be heard; the first was refused: {reason}")
    return heard


def conditions_of(
    numbers: Sequence[int],
    taken: Sequence[Taken],
    positions: Sequence[Position],
    placements: Sequence[Placement],
    *,
    sizes: Sequence[int],
    selections: Sequence[TermSelection],
    stored: bool,
) -> tuple[Condition, ...]:
    """No terms first, then each number of terms in each way, then glossaries of each size and, if `stored`, the one on
    the server, by each selection. The first of the list, which need not be said, has no place in a block for what is
    said. Raises InvalidRequest when nothing is left to hold against no terms."""
    series = []
    for placement in placements:
        if Taken.HEAD in taken and placement not in (Placement.PINNED, Placement.SEED):
            series.append(Condition(Taken.HEAD, placement=placement))
        if Taken.SPOKEN in taken:
            series += [Condition(Taken.SPOKEN, position=position, placement=placement) for position in positions]
    found = [replace(each, terms=number) for each in series for number in sorted(set(numbers))]
    glossaries = [*sorted(set(sizes)), *([0] if stored else [])]
    ways = selections or (None,)
    found += [Condition(Taken.GLOSSARY, size, selection=way) for size in glossaries for way in ways]
    if not found:
        raise InvalidRequest("Nothing is left to hold against no terms: take --taken spoken, or another --placement.")
    return tuple(dict.fromkeys([Condition(), *found]))
