"""Segments on the recording's clock and a receipt that accounts for every window."""

from hypothesis import given
from hypothesis import strategies as st

from app.audio.waveform import SAMPLE_RATE, Span, Window
from app.decoding.request import DecodedSegment, DecodedWord, Fallback, Outcome, WindowResult
from app.glossary.term import GlossarySnapshot, Term
from app.prompt.plan import Block, DroppedTerm, DropReason, KeptTerm, PromptPlan
from app.transcript.transcript import PromptReceipt, Transcript, assemble, covered_seconds, prompt_receipt

PLAN = PromptPlan(
    text="Taminol, Sonalift",
    ids=(1, 2, 3, 4),
    estimated_tokens=9,
    budget=223,
    kept=(KeptTerm("Taminol", Block.RANKED, 0, 2), KeptTerm("Sonalift", Block.PINNED, 1, 2)),
    dropped=(DroppedTerm("Oculina", Block.RANKED, 3, DropReason.OVER_BUDGET),),
)
PROMPT = prompt_receipt(PLAN, GlossarySnapshot("clinic", 7, terms=(Term("Sonalift"),)))


def window(index: int, *spans: tuple[float, float]) -> Window:
    return Window(index, tuple(Span(round(a * SAMPLE_RATE), round(b * SAMPLE_RATE)) for a, b in spans))


def result(index: int, *segments: DecodedSegment, outcome: Outcome = Outcome.DECODED, **more: object) -> WindowResult:
    return WindowResult(index, "en", 0.9, outcome, "first", segments=segments, **more)  # type: ignore[arg-type]


def transcript(windows: list[Window], results: list[WindowResult], duration: float) -> Transcript:
    return assemble(windows, results, duration=duration, prompt=PROMPT, fingerprint="abc")


def test_times_are_on_the_recordings_clock() -> None:
    """Speech at 40 s after a silence is reported at 40 s (public report b07)."""
    made = transcript([window(0, (40.0, 45.0))], [result(0, DecodedSegment(0.5, 4.0, " Hello."))], 47.0)
    assert [(segment.start, segment.end) for segment in made.segments] == [(40.5, 44.0)]


def test_a_segment_over_a_cut_pause_spans_it() -> None:
    spans = window(0, (1.0, 3.0), (8.0, 10.0))
    made = transcript([spans], [result(0, DecodedSegment(1.0, 3.0, " one two"))], 12.0)
    assert (made.segments[0].start, made.segments[0].end) == (2.0, 9.0)


def test_no_time_lies_after_the_end_of_the_recording() -> None:
    """A 3.30 s clip whose segment ends at 4.00 (public report g01)."""
    words = (DecodedWord(2.9, 4.0, " end.", 0.5),)
    made = transcript([window(0, (0.0, 3.3))], [result(0, DecodedSegment(0.0, 4.0, " The end.", words=words))], 3.3)
    assert made.segments[0].end == 3.3
    assert made.segments[0].words is not None
    assert made.segments[0].words[0].end == 3.3


def test_text_is_the_segments_joined() -> None:
    made = transcript(
        [window(0, (0.0, 5.0)), window(1, (5.0, 9.0))],
        [result(0, DecodedSegment(0.0, 4.0, " First one.")), result(1, DecodedSegment(0.0, 4.0, "Second one."))],
        9.0,
    )
    assert made.text == "First one. Second one."


def test_scripts_without_spaces_stay_without() -> None:
    made = transcript(
        [window(0, (0.0, 5.0)), window(1, (5.0, 9.0))],
        [result(0, DecodedSegment(0.0, 4.0, "今日の会議")), result(1, DecodedSegment(0.0, 4.0, "を紹介します"))],
        9.0,
    )
    assert made.text == "今日の会議を紹介します"


def test_silence_gives_empty_text_and_no_language() -> None:
    made = transcript([], [], 35.0)
    assert (made.text, made.language, made.segments, made.duration) == ("", None, (), 35.0)
    assert made.receipt.decoding.speech_seconds == 0


def test_receipt_counts_rungs_windows_and_seconds() -> None:
    made = transcript(
        [window(0, (0.0, 10.0)), window(1, (10.0, 14.0)), window(2, (20.0, 25.0))],
        [
            result(0, DecodedSegment(0.0, 8.0, " a"), fallbacks=(Fallback("first", "avg_logprob"),)),
            result(1, outcome=Outcome.NO_SPEECH),
            result(2, DecodedSegment(0.0, 5.0, " b"), outcome=Outcome.GIVEN_UP, fallbacks=(Fallback("first", "x"),)),
        ],
        25.0,
    )
    decoding = made.receipt.decoding
    assert (decoding.windows, decoding.skipped_windows, decoding.fallbacks) == (3, 1, {"first": 2})
    assert (decoding.speech_seconds, decoding.covered_seconds) == (19.0, 13.0)
    assert any(
        "window 2 (at 20.0 s)" in warning and "every rung failed" in warning for warning in made.receipt.warnings
    )


def test_speech_without_text_is_said() -> None:
    made = transcript([window(0, (0.0, 10.0))], [result(0)], 10.0)
    assert made.receipt.warnings == ("window 0 (at 0.0 s): speech was found but no text came out",)


def test_prompt_receipt_says_what_was_sent_and_what_was_not() -> None:
    expected = PromptReceipt(
        sha256="37db36876b9ccaaa88394679f019c3435af9320dea117e867003840317870e25",
        glossary="clinic",
        revision=7,
        tokens=4,
        estimated_tokens=9,
        budget=223,
        headroom=219,
        kept=("Taminol", "Sonalift"),
        blocks={"pinned": 1, "seed": 0, "request": 0, "ranked": 1},
        dropped=({"text": "Oculina", "reason": "over_budget"},),
        dropped_by_reason={"over_budget": 1},
        stale=False,
    )
    assert prompt_receipt(PLAN, GlossarySnapshot("clinic", 7)) == expected


@given(
    st.lists(
        st.tuples(st.floats(0, 12, allow_nan=False), st.floats(0, 12, allow_nan=False)).map(
            lambda t: DecodedSegment(*t, text="x")
        ),
        max_size=8,
    )
)
def test_segments_are_always_ordered_and_inside(decoded: list[DecodedSegment]) -> None:
    made = transcript([window(0, (2.0, 6.0), (7.0, 11.0))], [result(0, *decoded)], 11.5)
    edges = [edge for segment in made.segments for edge in (segment.start, segment.end)]
    assert edges == sorted(edges)
    assert all(0 <= edge <= 11.5 for edge in edges)
    assert made.receipt.decoding.covered_seconds <= made.receipt.decoding.speech_seconds


def test_overlapping_segments_cover_once() -> None:
    assert covered_seconds(result(0, DecodedSegment(0, 4, "a"), DecodedSegment(2, 5, "b"))) == 5
