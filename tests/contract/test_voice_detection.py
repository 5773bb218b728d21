"""Voice detection on real speech: a recording heard in blocks gives the speech that it gives when heard at once."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from app.audio import vad
from app.audio.decoder import decode_audio
from app.audio.waveform import SAMPLE_RATE, Samples, Span
from app.errors import LexicueError

LATE = Path(__file__).parents[1] / "data" / "audio" / "late_63s.opus"


@pytest.fixture(scope="module")
def recording() -> Samples:
    """Over two minutes: speech, 20 s of silence in which a block ends, speech."""
    speech = decode_audio(LATE, max_seconds=100).samples
    return np.concatenate([speech, np.zeros(20 * SAMPLE_RATE, dtype=np.float32), speech])


def voiced(spans: tuple[Span, ...], length: int) -> np.ndarray:
    mask = np.zeros(length, dtype=bool)
    for span in spans:
        mask[span.start : span.end] = True
    return mask


@pytest.mark.parametrize("seconds", [25, 40, 70])
def test_blocks_lose_no_speech_and_cut_none_twice(
    recording: Samples, seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = vad.speech_spans(recording)
    monkeypatch.setattr(vad, "_BLOCK_SECONDS", seconds)
    in_blocks = vad.speech_spans(recording)
    assert all(one.end <= other.start for one, other in itertools.pairwise(in_blocks))
    assert all(0 < len(span) <= 16 * SAMPLE_RATE for span in in_blocks)
    one, other = voiced(at_once, len(recording)), voiced(in_blocks, len(recording))
    assert (one & ~other).sum() < 0.5 * SAMPLE_RATE
    assert (other & ~one).sum() < 0.5 * SAMPLE_RATE
    assert in_blocks == vad.speech_spans(recording)


def test_hearing_ends_at_the_next_step_when_nobody_waits_any_more(recording: Samples) -> None:
    def nobody_waits() -> None:
        raise LexicueError("The request was cancelled.", code="cancelled")

    with pytest.raises(LexicueError):
        vad.speech_spans(recording, carry_on=nobody_waits)
    with pytest.raises(LexicueError):
        decode_audio(LATE, max_seconds=100, carry_on=nobody_waits)


def test_very_short_clips_are_left_alone() -> None:
    """10 to 100 ms with a prompt come back as confident text unless they are kept from the model."""
    assert vad.speech_spans(np.zeros(SAMPLE_RATE // 20, dtype=np.float32)) == ()
