"""A window that the model writes in pieces, because it stops before the end."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app.audio.waveform import SAMPLE_RATE
from app.decoding.request import DecodedSegment, DecodeOptions, Outcome, PromptSet, WindowRequest, WindowResult
from app.decoding.whisper import WhisperEngine


def decoded(seconds: float, *, step: float) -> WindowResult:
    """A window of `seconds` decoded by a model that stops `step` seconds after where it was set to go on."""

    def decode_piece(*call: Any) -> tuple[WindowResult, float | None]:
        left = call[3]
        written = min(step, left)
        segment = DecodedSegment(0.0, written, " word")
        result = WindowResult(0, "en", 1.0, Outcome.DECODED, "first", (segment,))
        return result, written if written < left else None

    engine: Any = SimpleNamespace(_encoder=SimpleNamespace(encode=len), _decode_piece=decode_piece)
    samples = np.zeros(round(seconds * SAMPLE_RATE), dtype=np.float32)
    return WhisperEngine._decode_window(
        engine, WindowRequest("r", 0, samples, PromptSet(), DecodeOptions(language="en"))
    )


def test_the_rest_of_a_window_is_decoded_on_from_where_the_model_stopped() -> None:
    result = decoded(30, step=8)
    assert [(segment.start, segment.end) for segment in result.segments] == [(0, 8), (8, 16), (16, 24), (24, 30)]
    assert not result.hit_output_cap


@pytest.mark.parametrize(("step", "lost"), [(3.75, False), (3.0, True)])
def test_a_rest_that_is_given_up_is_told(step: float, lost: bool) -> None:
    result = decoded(30, step=step)
    assert (result.segments[-1].end < 30) == lost
    assert result.hit_output_cap == lost
