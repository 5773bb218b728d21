"""Subtitles that players accept: read back by an independent parser, and the cases that broke others."""

import pysubs2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.transcript.formats import as_srt, as_text, as_vtt, cues
from app.transcript.transcript import DecodingReceipt, PromptReceipt, Receipt, Segment, Transcript

RECEIPT = Receipt(
    PromptReceipt("", None, None, 0, 0, 223, 223, (), {}, (), {}, False), DecodingReceipt("", 0, {}, 0.0, 0.0, 0), ()
)


def transcript(*segments: tuple[float, float, str]) -> Transcript:
    made = tuple(Segment(i, start, end, text, -0.1, 0.0, 1.0, "first") for i, (start, end, text) in enumerate(segments))
    return Transcript("".join(s.text for s in made).strip(), "en", 4000.0, made, RECEIPT)


@pytest.mark.parametrize(
    ("end", "written"),
    [(0.9996, "00:00:01,000"), (59.9996, "00:01:00,000"), (3599.9996, "01:00:00,000"), (3661.5, "01:01:01,500")],
)
def test_times_are_rounded_before_they_are_split(end: float, written: str) -> None:
    """Rounding the fraction alone gives ',1000' (public report g05)."""
    assert as_srt(transcript((0.0, end, " x"))).splitlines()[1] == f"00:00:00,000 --> {written}"


def test_hours_are_always_written() -> None:
    """A player refused hours that appear only part of the way (public report g07)."""
    made = transcript((3599.5, 3600.0, " a"), (3600.5, 3601.0, " b"))
    assert "00:59:59,500 --> 01:00:00,000" in as_srt(made)
    assert "01:00:00.500 --> 01:00:01.000" in as_vtt(made)


@pytest.mark.parametrize("segments", [(), ((0.0, 1.0, " a"),), ((0.0, 1.0, " a"), (1.0, 2.0, " b"))])
def test_vtt_has_exactly_one_header(segments: tuple[tuple[float, float, str], ...]) -> None:
    """Also with no cues (public report g09)."""
    made = as_vtt(transcript(*segments))
    assert made.startswith("WEBVTT\n\n")
    assert made.count("WEBVTT") == 1


def test_an_arrow_in_the_text_does_not_end_a_cue() -> None:
    made = as_vtt(transcript((0.0, 1.0, " a --> b")))
    assert made.count("-->") == 1
    assert "a -> b" in made


def test_zero_length_cues_get_a_length_and_do_not_overlap() -> None:
    made = list(cues(transcript((1.0, 1.0, " a"), (1.0, 1.0, " b"), (1.0, 2.0, " c"))))
    assert [(cue.start, cue.end) for cue in made] == [(1000, 1001), (1001, 1002), (1002, 2000)]


def test_lines_are_wrapped_as_subtitles_are() -> None:
    made = as_srt(transcript((0.0, 9.0, " The patient asked about a Sonalift treatment for her face and neck.")))
    lines = made.splitlines()[2:4]
    assert lines == ["The patient asked about a Sonalift", "treatment for her face and neck."]


def test_text_of_nothing_is_empty() -> None:
    assert as_text(transcript()) == ""
    assert as_text(transcript((0.0, 1.0, " Hello."))) == "Hello.\n"


@given(
    st.lists(
        st.tuples(st.floats(0, 4000), st.floats(0, 30), st.text(alphabet="ab c,.-", min_size=1, max_size=90)),
        max_size=8,
    )
)
def test_an_independent_parser_reads_the_same_cues(rows: list[tuple[float, float, str]]) -> None:
    at, segments = 0.0, []
    for start, length, text in sorted(rows):
        at = max(at, start)
        segments.append((at, at + length, text))
        at += length
    made = transcript(*segments)
    expected = [(cue.start, cue.end) for cue in cues(made)]
    assert all(start < end for start, end in expected)
    for written, kind in ((as_srt(made), "srt"), (as_vtt(made), "vtt")):
        read = pysubs2.SSAFile.from_string(written, format_=kind)
        assert [(event.start, event.end) for event in read] == expected
