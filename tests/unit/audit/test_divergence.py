"""Where runs part, and what is beside it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.audit.determinism import Load, SettingFinding, across, judge
from app.audit.divergence import compare, divergence, totals, windows_near_fallback
from app.audit.probe import Answer, Piece
from app.audit.verdict import Verdict


def heard(*texts: str, fallbacks: tuple[int, ...] = (), fingerprint: str = "f") -> Answer:
    """One window of 30 s for each text."""
    pieces = tuple(Piece(30.0 * n, 30.0 * n + 29, text, n, n in fallbacks) for n, text in enumerate(texts))
    return Answer(" ".join(texts), pieces, 30.0 * len(texts), "en", fingerprint=fingerprint)


def test_identical_runs_agree() -> None:
    finding = compare("a.wav", [heard("one", "two")] * 4)
    assert (finding.agrees, finding.texts, finding.windows) == (True, 1, 2)


@pytest.mark.parametrize(
    ("fallback", "near"), [(0, False), (1, True), (2, True), (3, True), (4, False)], ids=lambda value: str(value)
)
def test_a_divergence_is_near_a_fallback_in_its_window_or_the_next(fallback: int, near: bool) -> None:
    first = heard("a", "b", "c", "d", "e", fallbacks=(fallback,))
    other = heard("a", "b", "X", "d", "e", fallbacks=(fallback,))
    parted = divergence(first, other, 2)
    assert parted is not None
    assert (parted.at, parted.text_differs, parted.near_fallback) == (60.0, True, near)


def test_a_fallback_in_the_other_run_only_counts_too() -> None:
    parted = divergence(heard("a", "b"), heard("a", "c", fallbacks=(1,)), 2)
    assert parted is not None
    assert parted.near_fallback


def test_a_run_that_stops_early_parts_where_it_stops() -> None:
    parted = divergence(heard("a", "b", "c"), heard("a", "b"), 2)
    assert parted is not None
    assert parted.at == 60.0


def test_answers_without_segments_are_held_against_each_other_whole() -> None:
    parted = divergence(Answer("a b", seconds=9), Answer("a c", seconds=9), 2)
    assert parted is not None
    assert (parted.at, parted.text_differs, parted.near_fallback) == (0.0, True, False)
    assert compare("a", [Answer("a b", seconds=9)] * 2).windows == 1


def test_other_times_are_a_divergence_with_the_same_text() -> None:
    first, other = Answer("a", (Piece(0, 1, "a"),)), Answer("a", (Piece(0, 2, "a"),))
    parted = divergence(first, other, 2)
    assert parted is not None
    assert (parted.text_differs, parted.cer) == (False, 0.0)


def test_the_error_rate_between_runs_forgives_nothing() -> None:
    parted = divergence(heard("Abcd"), heard("abcd"), 2)
    assert parted is not None
    assert parted.cer == 0.25


def test_totals_hold_both_shares() -> None:
    files = [
        compare("a", [heard("a", "b", "c", fallbacks=(0,)), heard("x", "b", "c", fallbacks=(0,))]),
        compare("b", [heard("a", "b")] * 2),
    ]
    assert totals(files).divergences == 1
    assert totals(files).near_fallback == 1
    assert (totals(files).near, totals(files).with_fallback, totals(files).windows) == (2, 1, 5)
    assert (totals(files).clean_files, totals(files).clean_identical) == (1, 1)


@given(st.lists(st.booleans(), max_size=30))
def test_windows_near_a_fallback_are_those_within_one(fallen: list[bool]) -> None:
    pieces = [Piece(n, n + 1, "", n, falls) for n, falls in enumerate(fallen)]
    expected = {n for n in range(len(fallen)) if any(fallen[max(0, n - 1) : n + 2])}
    assert windows_near_fallback(pieces) == expected


def setting(load: Load, *runs: Answer, name: str = "") -> SettingFinding:
    told = tuple(sorted({run.fingerprint for run in runs if run.fingerprint}))
    return SettingFinding(name, load, (compare("a.wav", runs),), told, {"a.wav": runs})


def test_load_must_not_change_the_answer() -> None:
    findings = [setting(Load.ALONE, heard("a"), heard("a")), setting(Load.MIXED, heard("b"), heard("b"))]
    assert judge(findings, across(findings)).verdict is Verdict.BROKEN


def test_another_compute_type_may_change_it() -> None:
    findings = [
        setting(Load.ALONE, heard("a"), heard("a"), name="int8"),
        setting(Load.ALONE, heard("b"), heard("b"), name="float32"),
    ]
    verdict = judge(findings, across(findings))
    assert verdict.verdict is Verdict.KEPT
    assert "0 of 1 files are the same (nobody promises that)" in verdict.summary[-1]


def test_a_changed_system_proves_nothing() -> None:
    findings = [setting(Load.ALONE, heard("a"), heard("b", fingerprint="g"))]
    assert judge(findings, ()).verdict is Verdict.INCONCLUSIVE


def test_a_refused_file_proves_nothing() -> None:
    findings = [setting(Load.ALONE, Answer(refused="400: no audio"), Answer(refused="400: no audio"))]
    assert judge(findings, ()).verdict is Verdict.INCONCLUSIVE


def test_a_refused_file_hides_no_difference_elsewhere() -> None:
    refused = Answer(refused="400: no audio")
    parted = compare("b.wav", [Answer("one"), Answer("two")])
    one = setting(Load.ALONE, refused, refused)
    findings = [replace(one, files=(*one.files, parted))]
    assert judge(findings, ()).verdict is Verdict.BROKEN
