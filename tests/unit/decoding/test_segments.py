"""Whisper's token stream to segments; the figures are those of the multilingual vocabulary."""

from hypothesis import given
from hypothesis import strategies as st

from app.decoding.segments import MAX_UNWRITTEN_SECONDS, SplitTokens, split_tokens

BEGIN, EOT = 50_364, 50_257


def at(seconds: float) -> int:
    return BEGIN + round(seconds / 0.02)


def split(tokens: list[int], seconds: float, *, hit_cap: bool = False) -> SplitTokens:
    return split_tokens(
        tokens,
        timestamp_begin=BEGIN,
        end_of_text=EOT,
        seconds=seconds,
        hit_cap=hit_cap,
        decode=lambda ids: "".join(f" w{token}" for token in ids),
    )


def times(made: SplitTokens) -> list[tuple[float, float]]:
    return [(segment.start, segment.end) for segment in made.segments]


def test_pairs_of_timestamps_separate_segments() -> None:
    made = split([at(0), 1, 2, at(3.6), at(3.6), 3, at(8.2), at(8.2), 4, at(12.2)], 12.35)
    assert times(made) == [(0.0, 3.6), (3.6, 8.2), (8.2, 12.2)]
    assert [segment.text for segment in made.segments] == [" w1 w2", " w3", " w4"]
    assert made.resume is None


def test_a_window_that_stopped_early_is_to_be_decoded_on() -> None:
    """Seen on real speech: 8.0 of 29.8 s written, closed by one timestamp; the rest was lost without a sign."""
    made = split([at(0), 1, 2, at(8.0)], 29.8)
    assert times(made) == [(0.0, 8.0)]
    assert made.resume == 8.0


def test_a_pause_at_the_end_is_no_loss() -> None:
    assert split([at(0), 1, at(8.0)], 8.0 + MAX_UNWRITTEN_SECONDS).resume is None


def test_text_without_an_end_reaches_to_the_end_of_the_window() -> None:
    made = split([at(0), 1, at(4), at(4), 2, 3], 9.0)
    assert times(made) == [(0.0, 4.0), (4.0, 9.0)]
    assert made.resume is None


def test_text_cut_by_the_output_limit_is_decoded_again_from_the_last_timestamp() -> None:
    made = split([at(0), 1, at(4), at(4), 2, 3], 20.0, hit_cap=True)
    assert times(made) == [(0.0, 4.0)]
    assert made.resume == 4.0


def test_times_after_the_end_are_brought_back() -> None:
    """A 3.30 s clip ended at 4.00 elsewhere (public report g01)."""
    assert times(split([at(0), 1, at(4.0)], 3.3)) == [(0.0, 3.3)]


def test_no_text_gives_no_segment() -> None:
    assert split([at(0), at(0)], 5.0) == SplitTokens((), None)
    assert split([], 5.0) == SplitTokens((), None)


@given(
    st.lists(st.one_of(st.integers(0, EOT + 100), st.integers(BEGIN, BEGIN + 1500)), max_size=60),
    st.floats(0.1, 30.0),
    st.booleans(),
)
def test_no_text_is_lost_and_every_time_is_inside(tokens: list[int], seconds: float, hit_cap: bool) -> None:
    made = split(tokens, seconds, hit_cap=hit_cap)
    for segment in made.segments:
        assert 0 <= segment.start <= segment.end <= round(seconds, 2)
    if not hit_cap:
        kept = [token for segment in made.segments for token in segment.tokens]
        assert kept == [token for token in tokens if token < EOT]
    assert made.resume is None or 0 < made.resume < seconds
