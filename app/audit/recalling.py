"""A recall audit as it runs. In: samples, conditions, how a condition is asked. Out: figures and answers by condition.
Blocking; one request after the other, since it is about words and not about load."""

from collections.abc import Callable, Sequence
from pathlib import Path

from app.audit.asking import Asking
from app.audit.probe import Answer, Ask
from app.audit.recall import Condition, Figures, Placement, Position, Sample, Taken, score, terms_for

Prepare = Callable[[Ask], Ask]
AskFor = Callable[[Condition, Sample, tuple[str, ...]], tuple[Ask, Prepare | None]]


def hear_under(
    asking: Asking,
    folder: Path,
    samples: Sequence[Sample],
    conditions: Sequence[Condition],
    listed: Sequence[str],
    ask_for: AskFor,
) -> tuple[dict[Condition, list[Figures]], dict[Condition, dict[str, Answer]]]:
    """`folder`: where the manifest's files lie; `listed`: the terms to take from and to raise false alarms with."""
    known = tuple(dict.fromkeys([*listed, *(term for sample in samples for term in sample.terms)]))
    results: dict[Condition, list[Figures]] = {}
    heard: dict[Condition, dict[str, Answer]] = {}
    for condition in conditions:
        heard[condition] = {}
        for sample in samples:
            ask, prepare = ask_for(condition, sample, terms_for(condition, sample, listed))
            answer = asking(folder / sample.file, ask, prepare=prepare, condition=condition.label)
            heard[condition][sample.file] = answer
            results.setdefault(condition, []).append(score(sample, answer, known))
    return results, heard


def conditions_of(
    numbers: Sequence[int],
    taken: Sequence[Taken],
    positions: Sequence[Position],
    placements: Sequence[Placement],
    *,
    stored: bool,
) -> tuple[Condition, ...]:
    """No terms first, then each number of terms in each way; `stored`: a glossary of the server's, too."""
    found = [Condition()]
    for number in sorted({number for number in numbers if number > 0}):
        for placement in placements:
            if Taken.HEAD in taken:
                found.append(Condition(Taken.HEAD, number, placement=placement))
            if Taken.SPOKEN in taken:
                found += [Condition(Taken.SPOKEN, number, position, placement) for position in positions]
    if stored:
        found.append(Condition(Taken.GLOSSARY))
    return tuple(found)
