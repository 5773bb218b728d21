"""The same recordings again and again. In: files, settings, a load. Out: what was heard in each run. Blocking; under
mixed load it asks from several threads at once, in an order that the seed decides."""

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from app.audit.asking import Asking
from app.audit.divergence import FileFinding, Totals, compare, totals
from app.audit.probe import Answer, Ask
from app.audit.verdict import Verdict

_CLIENTS = 4
_SEED = 11


class Load(StrEnum):
    """`alone`: one request at a time. `mixed`: four at a time, files and runs shuffled."""

    ALONE = "alone"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class SettingFinding:
    """One setting under one load. `fingerprints`: all that were told; `answers`: for each file its runs."""

    setting: str
    load: Load
    files: tuple[FileFinding, ...]
    fingerprints: tuple[str, ...]
    answers: dict[str, tuple[Answer, ...]]

    @property
    def label(self) -> str:
        return f"{self.setting}, {self.load}" if self.setting else self.load.value

    @property
    def totals(self) -> Totals:
        return totals(self.files)


@dataclass(frozen=True, slots=True)
class Across:
    """The first runs under two settings held against each other. `promised`: they differ in the load only, and so must
    be the same."""

    one: str
    other: str
    identical: int
    files: int
    promised: bool


def listen(asking: Asking, files: Sequence[Path], ask: Ask, *, setting: str, load: Load, runs: int) -> SettingFinding:
    """Hear each file `runs` times. Raises what the transcriber raises."""
    tasks = [(file, run) for run in range(1, runs + 1) for file in files]
    if load is Load.MIXED:
        random.Random(_SEED).shuffle(tasks)  # noqa: S311 - an order that repeats, no secret
    with ThreadPoolExecutor(1 if load is Load.ALONE else _CLIENTS) as clients:
        heard = clients.map(lambda task: asking(task[0], ask, setting=setting, load=load, run=task[1]), tasks)
        by_task = dict(zip(tasks, heard, strict=True))
    answers = {file.name: tuple(by_task[file, run] for run in range(1, runs + 1)) for file in files}
    told = {answer.fingerprint for each in answers.values() for answer in each if answer.fingerprint}
    return SettingFinding(
        setting=setting,
        load=load,
        files=tuple(compare(name, each) for name, each in answers.items()),
        fingerprints=tuple(sorted(told)),
        answers=answers,
    )


def across(findings: Sequence[SettingFinding]) -> tuple[Across, ...]:
    """Every setting against the first one of the same kind, else against the first of all."""
    pairs = []
    for number, other in enumerate(findings[1:], start=1):
        one = next((each for each in findings[:number] if each.setting == other.setting), findings[0])
        same = sum(compare(name, (one.answers[name][0], other.answers[name][0])).agrees for name in one.answers)
        pairs.append(Across(one.label, other.label, same, len(one.answers), one.setting == other.setting))
    return tuple(pairs)


@dataclass(frozen=True, slots=True)
class DeterminismVerdict:
    verdict: Verdict
    summary: tuple[str, ...]


def judge(findings: Sequence[SettingFinding], pairs: Sequence[Across]) -> DeterminismVerdict:
    """Broken: any file that differs between runs of one setting, or between loads. Inconclusive: the fingerprint
    changed, or what was compared agrees but a file was refused."""
    summary = [_setting_line(each) for each in findings]
    summary += [_pair_line(each) for each in pairs]
    changed = [each.label for each in findings if len(each.fingerprints) > 1]
    refused = [file for each in findings for file in each.files if file.refused]
    if changed:
        summary.append(f"The fingerprint changed while it ran ({changed[0]}): these are two systems, not one.")
    if refused:
        summary.append(f"{refused[0].file} was refused: {refused[0].refused}")
    if changed:
        return DeterminismVerdict(Verdict.INCONCLUSIVE, tuple(summary))
    parted = any(file.divergences and not file.refused for each in findings for file in each.files)
    parted = parted or any(pair.promised and pair.identical < pair.files for pair in pairs)
    otherwise = Verdict.INCONCLUSIVE if refused else Verdict.KEPT
    return DeterminismVerdict(Verdict.BROKEN if parted else otherwise, tuple(summary))


def _setting_line(finding: SettingFinding) -> str:
    t = finding.totals
    line = f"{finding.label}: {t.identical} of {t.files} files are the same in every run"
    if not t.divergences:
        return f"{line}."
    return (
        f"{line}; of {t.divergences} divergences {t.near_fallback} begin in or beside a window with a fallback "
        f"({t.near_fallback / t.divergences:.0%}), which are {t.near} of all {t.windows} windows "
        f"({t.near / max(1, t.windows):.0%}; {t.with_fallback} have one themselves). Files without a fallback: "
        f"{t.clean_identical} of {t.clean_files} the same. Runs differ by up to {t.worst_cer:.1%} of the characters."
    )


def _pair_line(pair: Across) -> str:
    note = "" if pair.promised else " (nobody promises that)"
    return f"{pair.one} against {pair.other}: {pair.identical} of {pair.files} files are the same{note}."
