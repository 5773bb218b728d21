"""The page of a determinism audit. In: findings and verdict. Out: a report. Pure; any thread."""

from collections.abc import Sequence

from app.audit.charts import Bar, Stretch, bars, timelines
from app.audit.determinism import DeterminismVerdict, SettingFinding
from app.audit.diffing import aligned
from app.audit.divergence import FileFinding, Totals
from app.audit.probe import Answer
from app.audit.report import Comparison, Plot, Report, Table

_COMPARISONS = 8


def determinism_report(
    findings: Sequence[SettingFinding], verdict: DeterminismVerdict, target: str, runs: int
) -> Report:
    parted = [(each, file) for each in findings for file in each.files if file.divergences]
    return Report(
        title="Determinism audit",
        question="Does the same recording give the same transcript every time, whatever else goes on?",
        target=target,
        verdict=verdict.verdict,
        summary=verdict.summary,
        limits=_limits(findings, runs),
        plots=[plot for each in findings for plot in _plots(each)],
        tables=[_settings(findings), *(_files(each) for each in findings)],
        comparisons=[_comparison(each, file) for each, file in parted[:_COMPARISONS]],
    )


def _limits(findings: Sequence[SettingFinding], runs: int) -> list[str]:
    tried = min(len(each.files) for each in findings) * (runs - 1)
    fingerprints = sorted({told for each in findings for told in each.fingerprints})
    return [
        f"Runs that agree do not prove that the next one will. After {tried} comparisons without a difference, up to "
        f"{min(1, 3 / max(1, tried)):.0%} of runs may still differ (95 %, rule of three), on these recordings.",
        "A fallback beside a divergence is a coincidence that was counted, not a cause that was shown. To show it, "
        "turn the fallback off and see the divergences go.",
        "Windows without text leave no trace in an answer: fallbacks in them are not counted.",
        "It holds for this fingerprint only; another device, compute type or library version is another system: "
        + ("; ".join(fingerprints) if fingerprints else "this target tells none, so it may have changed unseen."),
    ]


def _plots(finding: SettingFinding) -> list[Plot]:
    t = finding.totals
    rows = [
        _bar("files the same", t.identical, t.files),
        _bar("divergences near a fallback", t.near_fallback, t.divergences),
        _bar("windows near a fallback", t.near, t.windows),
    ]
    caption = "If fallbacks had no part in it, the second and the third row would be alike."
    shares = Plot(f"Files that agree, and where the others part: {finding.label}", caption, bars(rows))
    return [shares, _timeline(finding)] if t.divergences else [shares]


def _bar(label: str, part: int, whole: int) -> Bar:
    share = part / whole if whole else 0.0
    return Bar(label, share, share, share, f"{part} of {whole}")


def _timeline(finding: SettingFinding) -> Plot:
    rows = [
        (
            file.file,
            finding.answers[file.file][0].seconds,
            _stretches(finding.answers[file.file][0]),
            [each.at for each in file.divergences],
        )
        for file in finding.files
    ]
    caption = "Green: windows of the first run. Ochre: with a fallback. Red: where another run begins to differ."
    return Plot(f"On the recordings' clock: {finding.label}", caption, timelines(rows))


def _stretches(answer: Answer) -> list[Stretch]:
    stretches = []
    for window in dict.fromkeys(piece.window for piece in answer.timed):
        pieces = [piece for piece in answer.timed if piece.window == window]
        fallen = any(piece.fallback for piece in pieces)
        stretches.append(Stretch(min(p.start for p in pieces), max(p.end for p in pieces), fallen))
    return stretches


def _settings(findings: Sequence[SettingFinding]) -> Table:
    head = [
        "setting",
        "files the same",
        "without fallback",
        "divergences",
        "near a fallback",
        "windows near one",
        "worst CER",
    ]
    return Table("By setting", head, [_setting(each.label, each.totals) for each in findings])


def _setting(label: str, t: Totals) -> list[str]:
    return [
        label,
        f"{t.identical} of {t.files}",
        f"{t.clean_identical} of {t.clean_files}",
        str(t.divergences),
        f"{t.near_fallback} of {t.divergences}",
        f"{t.near} of {t.windows}",
        f"{t.worst_cer:.1%}",
    ]


def _files(finding: SettingFinding) -> Table:
    head = ["file", "runs", "different texts", "windows", "with fallback", "first divergence", "CER up to"]
    return Table(f"Files: {finding.label}", head, [_file(each) for each in finding.files])


def _file(file: FileFinding) -> list[str]:
    first = min(file.divergences, key=lambda each: each.at, default=None)
    where = "none"
    if first is not None:
        where = f"run {first.run} at {first.at:.1f} s, {'near a' if first.near_fallback else 'far from any'} fallback"
    return [
        file.file,
        str(file.runs),
        str(file.texts),
        str(file.windows),
        str(file.with_fallback),
        where,
        f"{max((each.cer for each in file.divergences), default=0.0):.1%}",
    ]


def _comparison(finding: SettingFinding, file: FileFinding) -> Comparison:
    run = file.divergences[0].run
    answers = finding.answers[file.file]
    return Comparison(
        f"{file.file}, {finding.label}", "run 1", f"run {run}", aligned(answers[0].timed, answers[run - 1].timed)
    )
