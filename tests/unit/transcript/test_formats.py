"""Subtitles that players accept: read back by an independent parser, and the cases that broke others."""

import pysubs2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.transcript.cues import columns, cues
from app.transcript.formats import as_srt, as_text, as_vtt
from app.transcript.transcript import DecodingReceipt, PromptReceipt, Receipt, Segment, Transcript, Word

RECEIPT = Receipt(
    PromptReceipt("", None, None, 0, 0, 223, 223, (), {}, (), {}, False), DecodingReceipt("", 0, {}, 0.0, 0.0, 0), ()
)


def transcript(*segments: tuple[float, float, str], duration: float = 4000.0) -> Transcript:
    made = tuple(Segment(i, start, end, text, -0.1, 0.0, 1.0, "first") for i, (start, end, text) in enumerate(segments))
    return Transcript("".join(s.text for s in made).strip(), "en", duration, made, RECEIPT)


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


SPEECH = (
    " The patient asked about a Sonalift treatment for her face and neck, and the doctor told her that Taminol would be"
    " the better choice in her case, because the effect sets in earlier and lasts for a good while longer."
)


def test_a_long_segment_becomes_several_cues_in_proportion_to_its_letters() -> None:
    made = list(cues(transcript((100.0, 112.0, SPEECH), duration=112.0)))
    assert [line for cue in made for line in cue.lines] == [
        "The patient asked about a Sonalift",
        "treatment for her face and neck, and",
        "the doctor told her that Taminol would",
        "be the better choice in her case,",
        "because the effect sets in earlier and",
        "lasts for a good while longer.",
    ]
    assert [(cue.start, cue.end) for cue in made] == [(100_000, 104_046), (104_046, 108_091), (108_091, 112_000)]


def test_a_long_segment_is_divided_where_its_words_are() -> None:
    """A pause of four seconds in mid-sentence belongs to no cue."""
    texts = [f" {text}" for text in SPEECH.split()]
    words, at = [], 0.0
    for text in texts:
        at += 4.0 if len(words) == 13 else 0.0
        words.append(Word(at, at + 0.4, text, 0.9))
        at += 0.5
    segment = Segment(0, 0.0, words[-1].end, SPEECH, -0.1, 0.0, 1.0, "first", words=tuple(words))
    made = list(cues(Transcript(SPEECH.strip(), "en", 60.0, (segment,), RECEIPT)))
    assert [cue.lines[0].split()[0] for cue in made] == ["The", "the", "because"]
    assert [(cue.start, cue.end) for cue in made] == [(0, 6400), (10_500, 17_400), (17_500, 23_900)]


def test_scripts_without_spaces_are_wrapped_at_their_width() -> None:
    text = "本日は新しい治療薬についてご説明いたします。副作用はほとんど報告されておりませんが、"
    text += "念のため医師にご相談ください。"
    made = [line for cue in cues(transcript((0.0, 9.0, text))) for line in cue.lines]
    assert "".join(made) == text
    assert len(made) == 3
    assert all(columns(line) <= 42 for line in made)
    assert not any(line[0] in "。、" for line in made)


def test_a_word_longer_than_a_line_is_cut() -> None:
    made = [line for cue in cues(transcript((0.0, 9.0, " " + "x" * 100))) for line in cue.lines]
    assert "".join(made) == "x" * 100
    assert len(made) == 3


def test_cues_never_end_after_the_recording() -> None:
    """Also those that had no length of their own (public reports g01, g09)."""
    made = list(cues(transcript((2.0, 3.3, " a"), (3.3, 3.3, " b"), (3.3, 3.3, " c"), duration=3.3)))
    assert [(cue.start, cue.end) for cue in made] == [(2000, 3298), (3298, 3299), (3299, 3300)]


def test_markup_in_the_text_is_text_in_webvtt() -> None:
    made = as_vtt(transcript((0.0, 1.0, " R&D <v Roger>")))
    assert "R&amp;D &lt;v Roger>" in made


@given(
    st.lists(
        st.tuples(
            st.floats(0, 4000), st.floats(0, 30), st.text(alphabet="ab cé가나 。中,.-", min_size=1, max_size=300)
        ),
        max_size=8,
    )
)
def test_an_independent_parser_reads_the_same_cues(rows: list[tuple[float, float, str]]) -> None:
    at, segments = 0.0, []
    for start, length, text in sorted(rows):
        at = max(at, start)
        segments.append((at, at + length, text))
        at += length
    made = transcript(*segments, duration=at)
    shown = cues(made)
    edges = [edge for cue in shown for edge in (cue.start, cue.end)]
    assert edges == sorted(edges)
    assert all(cue.start < cue.end for cue in shown)
    assert not edges or edges[0] >= 0
    assert not edges or edges[-1] <= max(round(at * 1000), len(shown))
    assert all(1 <= len(cue.lines) <= 2 and all(0 < columns(line) <= 42 for line in cue.lines) for cue in shown)
    spoken = "".join(text for _, _, text in segments)
    assert "".join("".join(cue.lines) for cue in shown).replace(" ", "") == "".join(spoken.split())
    for written, kind in ((as_srt(made), "srt"), (as_vtt(made), "vtt")):
        read = pysubs2.SSAFile.from_string(written, format_=kind)
        assert [(event.start, event.end) for event in read] == [(cue.start, cue.end) for cue in shown]
        assert [event.text.split(r"\N") for event in read] == [list(cue.lines) for cue in shown]
