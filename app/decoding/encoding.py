"""Sound to encoder output. In: windows of samples. Out: encoder outputs, one row a window. The encoder sees the speech
and a fixed pad, a pure function of the window. Runs on the worker process's threads."""

import math
from collections.abc import Sequence
from itertools import groupby

import ctranslate2
import numpy as np
from faster_whisper import WhisperModel

from app.audio.waveform import SAMPLE_RATE, Samples

_HOP = 160
_MAX_FRAMES = 3000
# A batch needs windows of equal length. A GPU gains more from batching than it loses by padding to whole 5 s; a CPU
# gains nothing from batching (DESIGN fact 6), so there the length is exact: the encoder halves it, hence 2.
_FRAME_STEP = {"cpu": 2, "cuda": 500}


class Encoder:
    """`pad_seconds`: silence after the speech that the model sees; 30 is Whisper's own full window."""

    def __init__(self, model: WhisperModel, *, pad_seconds: float, device: str) -> None:
        self._model = model
        self._pad = math.ceil(pad_seconds * SAMPLE_RATE / _HOP)
        self._step = _FRAME_STEP[device]

    def frames(self, samples: Samples) -> int:
        """Mel frames of 10 ms that the encoder sees of a window: 2 to 3,000, even."""
        wanted = math.ceil(len(samples) / _HOP) + self._pad
        return min(_MAX_FRAMES, math.ceil(wanted / self._step) * self._step)

    def encode(self, samples: Samples) -> ctranslate2.StorageView:
        """Encoder output of shape (1, frames / 2, d_model)."""
        return self._model.encode(self._mel(samples)[np.newaxis])

    def encode_together(self, windows: Sequence[Samples]) -> list[tuple[list[int], ctranslate2.StorageView]]:
        """Positions of the windows that have equally many frames, and their encoder output, one row each."""
        by_frames = sorted(range(len(windows)), key=lambda position: self.frames(windows[position]))
        return [
            (positions, self._model.encode(np.stack([self._mel(windows[position]) for position in positions])))
            for _, group in groupby(by_frames, key=lambda position: self.frames(windows[position]))
            for positions in (list(group),)
        ]

    def _mel(self, samples: Samples) -> Samples:
        """Shape (mels, frames)."""
        frames = self.frames(samples)
        mel = self._model.feature_extractor(samples)[..., : min(frames, math.ceil(len(samples) / _HOP))]
        return np.pad(mel, ((0, 0), (0, frames - mel.shape[-1]))).astype(np.float32, copy=False)


def row_of(encoded: ctranslate2.StorageView, row: int) -> ctranslate2.StorageView:
    """One window of an encoder output, shape (1, frames / 2, d_model)."""
    rows = np.asarray(encoded.to_device(ctranslate2.Device.cpu))
    return ctranslate2.StorageView.from_array(np.ascontiguousarray(rows[row : row + 1]))
