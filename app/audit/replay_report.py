"""The page of a replay. In: answers side by side, verdict. Out: a report. Pure; any thread."""

from collections.abc import Sequence

from app.audit.diffing import aligned
from app.audit.replay import Compared, Replayed
from app.audit.report import Comparison, Report, Table
from app.audit.verdict import Verdict

_PAGE_COMPARISONS = 20


def replay_report(results: Sequence[Replayed], verdict: Verdict, summary: Sequence[str], target: str) -> Report:
    parted = [each for each in results if each.parted is not None]
    return Report(
        title="Replay",
        question="Does a stored request still give the answer that was stored?",
        target=target,
        verdict=verdict,
        summary=summary,
        limits=[
            "A receipt does not say whether the language was named or detected; both are tried. A request that asked "
            "for a translation is not told apart from one that did not.",
            "A receipt does not name its audio: that the recording is the same as then is for you to say.",
        ],
        tables=[
            Table(
                "Requests",
                ["file", "prompt", "prompt the same", "fingerprint the same", "answer the same"],
                [
                    [
                        each.file,
                        (each.stored.prompt or "")[:16],
                        _yes(each.same_prompt),
                        _yes(each.same_system),
                        _yes(each.parted is None),
                    ]
                    for each in results
                ],
            )
        ],
        comparisons=[
            Comparison(each.file, "stored", "now", aligned(each.stored.timed, each.fresh.timed))
            for each in parted[:_PAGE_COMPARISONS]
        ],
    )


def revisions_report(
    results: Sequence[Compared], verdict: Verdict, summary: Sequence[str], target: str, revisions: tuple[int, int]
) -> Report:
    before, after = revisions
    changed = [each for each in results if each.before.text != each.after.text]
    return Report(
        title="Two revisions of a glossary",
        question="Which terms does the newer revision win on these recordings, and which does it lose?",
        target=target,
        verdict=verdict,
        summary=summary,
        limits=[
            "Won and lost say what is in the text, not what was said: a term that is heard more often may be a false "
            "alarm. The recall audit, with transcripts, tells the two apart.",
        ],
        tables=[
            Table(
                "Recordings",
                ["file", "won", "lost", "lost though in both prompts"],
                [
                    [each.file, ", ".join(each.won), ", ".join(each.lost), ", ".join(each.lost_though_kept)]
                    for each in results
                ],
            )
        ],
        comparisons=[
            Comparison(
                each.file, f"revision {before}", f"revision {after}", aligned(each.before.timed, each.after.timed)
            )
            for each in changed[:_PAGE_COMPARISONS]
        ],
    )


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
