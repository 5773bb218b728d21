"""Transcripts side by side, and the page that they end up on."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.audit.charts import Bar, Dot, Stretch, bars, dots, timelines
from app.audit.diffing import Run, aligned
from app.audit.probe import Piece
from app.audit.report import Comparison, Plot, Report, Table, write
from app.audit.verdict import Verdict

PIECE = st.builds(
    lambda start, length, text: Piece(start, start + length, text),
    st.floats(0, 100),
    st.floats(0.1, 30),
    st.sampled_from(["one two", "two three", "", "four"]),
)


def test_words_that_differ_are_marked_at_their_time() -> None:
    rows = aligned(
        [Piece(0, 5, "All is well."), Piece(5, 9, "Take Velna twice.")],
        [Piece(0, 5, "All is well."), Piece(5, 9, "Take Velnora twice.")],
    )
    assert [(row.start, row.end, row.differs) for row in rows] == [(0, 5, False), (5, 9, True)]
    assert rows[1].left == (Run("Take", False), Run("Velna", True), Run("twice.", False))
    assert rows[1].right == (Run("Take", False), Run("Velnora", True), Run("twice.", False))


def test_pieces_cut_elsewhere_share_a_row() -> None:
    rows = aligned([Piece(0, 10, "a b c d")], [Piece(0, 4, "a b"), Piece(4, 10, "c d")])
    assert [(row.start, row.end, row.differs) for row in rows] == [(0, 10, False)]


@given(st.lists(PIECE, max_size=8), st.lists(PIECE, max_size=8))
def test_no_word_is_lost_or_moved_between_sides(left: list[Piece], right: list[Piece]) -> None:
    rows = aligned(left, right)
    for pieces, side in ((left, "left"), (right, "right")):
        shown = sorted(word for row in rows for run in getattr(row, side) for word in run.text.split())
        assert shown == sorted(word for piece in pieces for word in piece.text.split())
    assert all(before.end <= after.start for before, after in pairwise(rows))


@given(st.lists(PIECE, max_size=8))
def test_a_transcript_is_like_itself(pieces: list[Piece]) -> None:
    assert not any(row.differs for row in aligned(pieces, pieces))


REPORT = Report(
    title="Truncation audit",
    question="Does it arrive?",
    target="stub <server>",
    verdict=Verdict.BROKEN,
    summary=["It is cut."],
    limits=["Much."],
    plots=[
        Plot(
            "Dots", "where", dots([("<b>Velnora</b>", [Dot(10, True, "in"), Dot(30, False, "out")])], line=20, unit="t")
        ),
        Plot("Bars", "how", bars([Bar("a & b", 0.5, 0.4, 0.6, "5 of 10")])),
        Plot("Times", "when", timelines([("a.wav", 60, [Stretch(0, 30, True)], [12.5])])),
    ],
    tables=[Table("Terms", ["term"], [["<script>alert(1)</script>"]])],
    comparisons=[Comparison("a.wav", "one", "two", aligned([Piece(0, 1, "x <y>")], [Piece(0, 1, "x z")]))],
)


def test_the_page_needs_nothing_else_and_echoes_no_markup(tmp_path: Path) -> None:
    write(REPORT, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert re.findall(r"(?:src|href)=|url\(|@import|<script", page) == []
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;b&gt;Velnora&lt;/b&gt;" in page
    assert "<del>&lt;y&gt;</del>" in page
    assert "<ins>z</ins>" in page
    assert page.count("<svg") == 3


@pytest.mark.parametrize("verdict", list(Verdict))
def test_exit_codes(verdict: Verdict) -> None:
    assert verdict.exit_code == {"kept": 0, "broken": 1, "inconclusive": 3}[verdict]


def test_plots_of_nothing_are_empty_not_errors() -> None:
    for plot in (dots([], line=None, unit="t"), bars([]), timelines([])):
        assert plot.startswith("<svg")
        assert "nan" not in plot
