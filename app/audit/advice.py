"""What the figures of a recall audit add up to. In: figures of each file under each condition. Out: rates with
intervals, and how many terms are too many. Pure; any thread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from app.audit.bootstrap import Interval, difference, pooled
from app.audit.recall import Condition, Figures, Taken
from app.audit.verdict import Verdict
from app.glossary.term import TermSelection

Results = Mapping[Condition, Sequence[Figures]]


@dataclass(frozen=True, slots=True)
class Rates:
    """`false_alarms`: for each file. `gain`: recall less that without terms, over the same files. `offered`: terms of a
    glossary that stood in a file's prompts, on average; None where no glossary was asked."""

    condition: Condition
    language: str | None
    files: int
    said: int
    heard: int
    recall: Interval
    gain: Interval
    false_alarms: Interval
    wer: Interval
    cer: Interval
    offered: float | None


@dataclass(frozen=True, slots=True)
class Advice:
    """`most`: the number of terms past which more hurts, None if none of those tried does. `summary`: for people."""

    verdict: Verdict
    most: int | None
    summary: tuple[str, ...]


def rates(results: Results, language: str | None = None) -> tuple[Rates, ...]:
    """One entry for each condition; `language` None: all files."""
    chosen = {
        condition: [each for each in figures if language is None or each.language == language]
        for condition, figures in results.items()
    }
    without = chosen[Condition()]
    said = [each.said for each in without]
    heard_without = [each.heard for each in without]
    return tuple(
        Rates(
            condition=condition,
            language=language,
            files=len(figures),
            said=sum(said),
            heard=sum(each.heard for each in figures),
            recall=pooled([each.heard for each in figures], said),
            gain=difference(heard_without, [each.heard for each in figures], said),
            false_alarms=pooled([each.false_alarms for each in figures], [1.0] * len(figures)),
            wer=pooled([each.words.edits for each in figures], [each.words.length for each in figures]),
            cer=pooled([each.characters.edits for each in figures], [each.characters.length for each in figures]),
            offered=_mean([each.offered for each in figures if each.offered is not None]),
        )
        for condition, figures in chosen.items()
    )


def advise(results: Results, *, at_least: float, unheard: Mapping[str, str]) -> Advice:
    """Broken: terms that make recall worse than none, a refusal or fault, or no condition with recall of `at_least`.
    Inconclusive: none of that, but files were refused without terms already (`unheard`, with the reason)."""
    overall = rates(results)
    worse = [each for each in overall if each.gain.high < 0]
    refused = [(each, figures) for each, figures in results.items() if any(f.refused for f in figures)]
    best = max(overall, key=lambda each: each.recall.value)
    series = _series(results)
    most = min((limit for limit in map(_most, series) if limit is not None), default=None)
    summary = [
        f"Best: {best.condition.label}, {best.heard} of {best.said} terms ({_percent(best.recall)}); without terms "
        f"{overall[0].heard} of {overall[0].said} ({_percent(overall[0].recall)}).",
        *(_series_advice(each) for each in series if len(each) > 1),
        *_selection_advice(results),
    ]
    summary += [f"Worse than no terms at all: {each.condition.label} ({_percent(each.recall)})." for each in worse]
    summary += [
        f"{each.label}: {sum(f.refused is not None for f in figures)} of {len(figures)} files were refused, "
        f"the first with {next(f.refused for f in figures if f.refused)}"
        for each, figures in refused
    ]
    short = best.recall.value < at_least
    if short:
        summary.append(f"No condition reaches a recall of {at_least:.0%}.")
    summary += [f"{file} is refused without terms already and left out: {reason}" for file, reason in unheard.items()]
    otherwise = Verdict.INCONCLUSIVE if unheard else Verdict.KEPT
    return Advice(Verdict.BROKEN if worse or refused or short else otherwise, most, tuple(summary))


Series = Sequence[tuple[Condition, Sequence[Figures]]]


def _series(results: Results) -> list[Series]:
    """The conditions that differ in the number of terms only, the fewest first."""
    groups: dict[tuple[str, str], list[tuple[Condition, Sequence[Figures]]]] = {}
    for condition, figures in results.items():
        if condition.taken is Taken.SPOKEN:
            groups.setdefault((condition.position, condition.placement), []).append((condition, figures))
    return [sorted(group, key=lambda entry: entry[0].terms) for group in groups.values()]


def _most(series: Series) -> int | None:
    """The largest number that is not surely worse than the best one; None when the largest tried is still good."""
    best = max(range(len(series)), key=lambda at: (_heard(series[at][1]), at))
    good = list(takewhile(lambda entry: _change(series[best], entry).high >= 0, series[best:]))
    return None if len(good) == len(series) - best else good[-1][0].terms


def _change(best: tuple[Condition, Sequence[Figures]], other: tuple[Condition, Sequence[Figures]]) -> Interval:
    return difference([f.heard for f in best[1]], [f.heard for f in other[1]], [f.said for f in best[1]])


def _series_advice(series: Series) -> str:
    where = f"spoken terms {series[0][0].position} ({series[0][0].placement})"
    most = _most(series)
    best = max(series, key=lambda entry: (_heard(entry[1]), entry[0].terms))
    if most is None and best is series[-1]:
        return f"With the {where}, none of the numbers tried hurts: up to {series[-1][0].terms} terms."
    past = series[-1] if most is None else next(entry for entry in series if entry[0].terms > most)
    advice = "no number tried is surely worse than the best" if most is None else f"give at most {most} terms"
    loss = _change(best, past)
    return (
        f"With the {where}, {advice}: {past[0].terms} find {_heard(past[1])}, {best[0].terms} find {_heard(best[1])} "
        f"({loss.value:+.0%}, 95 % interval {loss.low:+.0%} to {loss.high:+.0%})."
    )


def _selection_advice(results: Results) -> list[str]:
    """Relevant against static selection from the same glossary, where both were asked."""
    lines = []
    for relevant, figures in results.items():
        static = replace(relevant, selection=TermSelection.STATIC)
        if relevant.selection is TermSelection.RELEVANT and static in results:
            gain = _change((static, results[static]), (relevant, figures))
            lines.append(
                f"{relevant.label[0].upper()}{relevant.label[1:]} finds {_heard(figures)}, static "
                f"{_heard(results[static])} ({gain.value:+.0%}, 95 % interval {gain.low:+.0%} to {gain.high:+.0%})."
            )
    return lines


def _mean(numbers: Sequence[int]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def _heard(figures: Sequence[Figures]) -> int:
    return sum(each.heard for each in figures)


def _percent(interval: Interval) -> str:
    return f"{interval.value:.0%}, 95 % interval {interval.low:.0%} to {interval.high:.0%}"
