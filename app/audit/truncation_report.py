"""The page of a truncation audit. In: finding and verdict. Out: a report. Pure; any thread."""

from collections.abc import Iterable

from app.audit.charts import Dot, dots
from app.audit.diffing import aligned
from app.audit.limits import TruncationVerdict
from app.audit.report import Comparison, Plot, Report, Table
from app.audit.truncation import Cut, FillerFinding, Length, Probe, TruncationFinding

_LIMITS = (
    "A limit is where terms stop being heard. A term that lost its first or last token only may still be heard, so the "
    "limit may be a token or two lower than shown.",
    "Tokens are counted with Whisper's multilingual vocabulary. A server with another model counts others; the "
    "characters hold either way.",
    "Filler is a list of common words. Nothing is said about how well a full prompt of real terms is heeded: that is "
    "what the recall audit measures.",
    "The prompt reaches at least the window in which the terms are said. Whether it reaches every window of a longer "
    "recording is another question: give a recording with the terms after 30 s to see.",
)


def truncation_report(finding: TruncationFinding, verdict: TruncationVerdict, target: str) -> Report:
    plots = [_plot(each) for each in finding.fillers if each.probes]
    return Report(
        title="Truncation audit",
        question="Does every term of a long prompt arrive, or is a part of it dropped in silence?",
        target=target,
        verdict=verdict.verdict,
        summary=verdict.summary,
        limits=_LIMITS,
        plots=plots,
        tables=[_terms(finding), *([_limits(finding.fillers)] if finding.fillers else [])],
        comparisons=[_sides(each) for each in finding.fillers],
    )


def _plot(each: FillerFinding) -> Plot:
    rows = [
        (term, [Dot(p.kept.tokens, p.heard, _tip(p)) for p in each.probes if p.term == term])
        for term in dict.fromkeys(probe.term for probe in each.probes)
    ]
    start = "start" if each.cut is Cut.BACK else "end"
    caption = (
        f"Each dot is one request. Across: tokens that must survive, counted from the {start} of the prompt, for the "
        "term to survive whole. Filled: heard. Hollow: lost."
    )
    line = each.limit.tokens if each.limit else None
    return Plot(f"Where it is cut: filler of {each.kind} words", caption, dots(rows, line=line, unit="tokens"))


def _sides(each: FillerFinding) -> Comparison:
    first, last = each.ends.answers
    title = f"What is heard with the terms at either end: filler of {each.kind} words"
    return Comparison(title, "terms first", "terms last", aligned(first.timed, last.timed))


def _tip(probe: Probe) -> str:
    return f"{probe.term} within {_length(probe.kept)}: {'heard' if probe.heard else 'lost'}"


def _terms(finding: TruncationFinding) -> Table:
    head = ["term", "no prompt", "only the terms"]
    for each in finding.fillers:
        head += [f"{where} of {each.ends.size.tokens} ({each.kind})" for where in ("first", "middle", "last")]
    sides = [side for each in finding.fillers for side in (each.ends.first, each.ends.middle, each.ends.last)]
    rows = [
        [
            term,
            _mark(term, finding.without),
            _mark(term, finding.alone),
            *(_mark(term, side) if term in finding.witnesses else "says nothing" for side in sides),
        ]
        for term in finding.terms
    ]
    return Table("Which terms are heard, by where they stand", head, rows)


def _limits(fillers: Iterable[FillerFinding]) -> Table:
    rows = [
        [
            f"{each.kind} words",
            each.cut,
            _length(each.limit) if each.limit else "none found",
            ", ".join(str(limit.tokens) for limit in each.limits),
            _length(each.accepted),
            _length(each.refused) if each.refused else "never refused",
        ]
        for each in fillers
    ]
    head = ["filler", "cut", "the most that arrives", "by witness, tokens", "longest accepted", "shortest refused"]
    return Table("Limits", head, rows)


def _length(length: Length) -> str:
    return f"{length.tokens} tokens, {length.characters} characters"


def _mark(term: str, heard: tuple[str, ...]) -> str:
    return "heard" if term in heard else "lost"
