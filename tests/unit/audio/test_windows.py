"""Speech packed into windows: everything once, in order, never over 30 s."""

from hypothesis import given
from hypothesis import strategies as st

from app.audio.waveform import SAMPLE_RATE, Span
from app.audio.windows import pack_windows


@st.composite
def speech(draw: st.DrawFn) -> list[Span]:
    spans, at = [], 0
    for gap, length in draw(st.lists(st.tuples(st.integers(0, 5 * SAMPLE_RATE), st.integers(1, 80 * SAMPLE_RATE)))):
        spans.append(Span(at + gap, at + gap + length))
        at += gap + length
    return spans


@given(speech())
def test_every_sample_of_speech_is_in_exactly_one_window_in_order(spans: list[Span]) -> None:
    pieces = [piece for window in pack_windows(spans) for piece in window.spans]
    joined: list[Span] = []
    for piece in pieces:
        if joined and joined[-1].end == piece.start:
            joined[-1] = Span(joined[-1].start, piece.end)
        else:
            joined.append(piece)
    expected: list[Span] = []
    for span in spans:
        if expected and expected[-1].end == span.start:
            expected[-1] = Span(expected[-1].start, span.end)
        else:
            expected.append(span)
    assert joined == expected


@given(speech(), st.floats(1.0, 30.0))
def test_no_window_is_over_its_bound_or_empty(spans: list[Span], max_seconds: float) -> None:
    windows = pack_windows(spans, max_seconds=max_seconds)
    assert all(0 < window.seconds <= max_seconds for window in windows)
    assert [window.index for window in windows] == list(range(len(windows)))


def test_speech_is_cut_at_its_pauses_not_in_the_middle() -> None:
    spans = [Span(s * SAMPLE_RATE, e * SAMPLE_RATE) for s, e in ((0, 20), (21, 31), (40, 60))]
    windows = pack_windows(spans)
    assert [[(span.start // SAMPLE_RATE, span.end // SAMPLE_RATE) for span in window.spans] for window in windows] == [
        [(0, 20), (21, 31)],
        [(40, 60)],
    ]


@given(speech(), st.data())
def test_a_time_in_a_window_is_the_time_of_that_sample(spans: list[Span], data: st.DataObject) -> None:
    windows = pack_windows(spans)
    if not windows:
        return
    window = data.draw(st.sampled_from(windows))
    samples = [sample for span in window.spans for sample in (span.start, span.end - 1)]
    position = data.draw(st.sampled_from(samples))
    inside = 0
    for span in window.spans:
        if span.start <= position < span.end:
            inside += position - span.start
            break
        inside += len(span)
    assert window.on_recording(inside / SAMPLE_RATE) == position / SAMPLE_RATE
