"""Features and the fitness of sound. What transformers says of the same samples is in tests/contract."""

import numpy as np
import pytest

from app.audio.waveform import SAMPLE_RATE
from app.finetune.entries import Reason, Rejected
from app.finetune.mel import FRAMES, heard_frames, log_mel
from app.finetune.picture import as_line, as_png
from app.finetune.sound import Long, fit_sound


def tone(seconds: float, *, hertz: float = 440.0, level: float = 0.3) -> np.ndarray:
    return (level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE)).astype("f4")


@pytest.mark.parametrize("mels", [80, 128])
def test_features_have_the_models_shape_and_are_silent_after_the_sound(mels: int) -> None:
    features = log_mel(tone(2), mels)
    assert features.shape == (mels, FRAMES)
    assert features.dtype == np.float16
    assert (features[:, heard_frames(2 * SAMPLE_RATE) :] == features.min()).all()
    assert features[:, 100].max() - features.min() == pytest.approx(2.0, abs=0.3)


def test_a_tone_lies_in_the_band_of_its_frequency() -> None:
    low, high = (int(log_mel(tone(1, hertz=hertz), 80)[:, 50].argmax()) for hertz in (300, 3000))
    assert low < 15 < 50 < high


def test_thirty_seconds_fill_every_frame() -> None:
    assert heard_frames(30 * SAMPLE_RATE) == FRAMES
    assert log_mel(tone(30), 80)[:, -1].max() > -0.5


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        (tone(0.09), Reason.TOO_SHORT),
        (tone(30.01), Reason.TOO_LONG),
        (np.zeros(SAMPLE_RATE, dtype="f4"), Reason.SILENT),
        (tone(1, level=1e-4), Reason.SILENT),
        (np.clip(tone(1, level=3), -1, 1), Reason.CLIPPED),
    ],
)
def test_sound_that_is_no_use_is_refused_with_its_reason(samples: np.ndarray, reason: Reason) -> None:
    with pytest.raises(Rejected) as refused:
        fit_sound(samples, Long.REJECT)
    assert refused.value.reason is reason


def test_quiet_speech_passes_and_too_much_is_cut_by_choice() -> None:
    assert len(fit_sound(tone(1, level=0.002), Long.REJECT)) == SAMPLE_RATE
    assert len(fit_sound(tone(31), Long.CUT)) == 30 * SAMPLE_RATE


def test_one_word_in_silence_is_not_silence() -> None:
    word = np.concatenate([np.zeros(20 * SAMPLE_RATE, dtype="f4"), tone(0.1)])
    assert len(fit_sound(word, Long.REJECT)) == len(word)


def test_pictures_mark_where_the_sound_ends() -> None:
    features = log_mel(tone(15), 80)
    assert as_line(features, 15).index("|") == 30
    assert as_png(features, 15).startswith(b"\x89PNG\r\n\x1a\n")
