"""The page of a recall audit. In: results under each condition, advice. Out: a report. Pure; any thread."""

from collections.abc import Sequence

from app.audit.advice import Advice, Rates, rates
from app.audit.bootstrap import Interval
from app.audit.charts import Bar, bars
from app.audit.diffing import aligned
from app.audit.recall import Condition, Figures
from app.audit.recalling import Heard
from app.audit.report import Comparison, Plot, Report, Table
from app.glossary.term import TermSelection

_COMPARISONS = 12


def recall_report(heard: Heard, advice: Advice, target: str) -> Report:
    results = heard.figures
    overall = rates(results)
    spoken = sorted({each.language for each in results[Condition()] if each.language})
    languages = spoken if len(spoken) > 1 else []
    files = len(results[Condition()])
    return Report(
        title="Recall audit",
        question="Do the words that were given come out spelled right, and what does giving too many cost?",
        target=target,
        verdict=advice.verdict,
        summary=advice.summary,
        limits=[
            f"Intervals come from resampling {files} files: they say how far other files of the same kind may lie, "
            "and nothing about other kinds of recordings.",
            "A term counts as heard when it stands there as a whole word, whatever its case; a right word in a wrong "
            "place counts too.",
            "Where words are written without spaces, read the character error rate; the word error rate says little.",
            "Conditions with the spoken terms among others show what the model does with a prompt that has them. How "
            "often a real glossary brings the spoken ones is what the conditions without that knowledge show.",
        ],
        plots=[
            Plot(
                "Recall by condition",
                "Terms heard of those said, with the 95 % interval over files.",
                bars([_bar(each) for each in overall]),
            ),
            Plot(
                "Word error rate by condition",
                "Lower is better; a full prompt can cost words that are no terms.",
                bars([Bar(each.condition.label, *_values(each.wer), _share(each.wer)) for each in overall], top=0.05),
            ),
        ],
        tables=[
            _table("All files", overall),
            *(_table(f"Language {code}", rates(results, code)) for code in languages),
            *(
                _by_offered(condition, figures)
                for condition, figures in results.items()
                if condition.selection is TermSelection.RELEVANT
            ),
        ],
        comparisons=_comparisons(heard, overall),
    )


def _bar(each: Rates) -> Bar:
    return Bar(each.condition.label, *_values(each.recall), f"{each.heard} of {each.said}")


def _values(interval: Interval) -> tuple[float, float, float]:
    return interval.value, interval.low, interval.high


def _table(title: str, rows: Sequence[Rates]) -> Table:
    head = ["condition", "heard", "recall", "against no terms", "false alarms a file", "WER", "CER", "offered a file"]
    return Table(title, head, [_row(each) for each in rows])


def _row(each: Rates) -> list[str]:
    gain = each.gain
    return [
        each.condition.label,
        f"{each.heard} of {each.said}",
        _share(each.recall),
        f"{gain.value:+.0%} ({gain.low:+.0%} to {gain.high:+.0%})",
        f"{each.false_alarms.value:.2f} ({each.false_alarms.low:.2f} to {each.false_alarms.high:.2f})",
        _share(each.wer),
        _share(each.cer),
        "" if each.offered is None else f"{each.offered:.1f}",
    ]


def _by_offered(condition: Condition, figures: Sequence[Figures]) -> Table:
    """How it goes with the number of terms that sounded like something in the recording."""
    rows = []
    for number in sorted({each.offered for each in figures if each.offered is not None}):
        those = [each for each in figures if each.offered == number]
        heard, said = sum(each.heard for each in those), sum(each.said for each in those)
        alarms = sum(each.false_alarms for each in those)
        rows.append([str(number), str(len(those)), f"{heard} of {said}", str(alarms)])
    return Table(f"By terms offered: {condition.label}", ["offered", "files", "heard", "false alarms"], rows)


def _share(interval: Interval) -> str:
    return f"{interval.value:.1%} ({interval.low:.1%} to {interval.high:.1%})"


def _comparisons(heard: Heard, overall: Sequence[Rates]) -> list[Comparison]:
    """Without terms beside the best condition, the files that gained or lost most first."""
    without, results, answers = Condition(), heard.figures, heard.answers
    best = max(overall, key=lambda each: each.recall.value).condition
    if best == without:
        return []
    moved = [
        (abs(after.heard - before.heard), before.file)
        for before, after in zip(results[without], results[best], strict=True)
    ]
    chosen = [file for change, file in sorted(moved, key=lambda each: -each[0]) if change][:_COMPARISONS]
    return [
        Comparison(file, without.label, best.label, aligned(answers[without][file].timed, answers[best][file].timed))
        for file in chosen
    ]
