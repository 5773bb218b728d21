"""Whisper's input features, as training computes them. In: samples of at most 30 s. Out: the log-mel spectrogram,
padded to 30 s. Pure numpy in double precision; any thread.

Equal, bit for bit, to `WhisperFeatureExtractor` of transformers on numpy, at a fraction of its time: all frames are
transformed in one call, and the frames of the padding, which are known, in none (docs/adr/0070).
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from app.audio.waveform import SAMPLE_RATE, WINDOW_SECONDS, Samples

FRAMES = 3000
FRAMES_PER_SECOND = 100
_FFT = 400
_HOP = SAMPLE_RATE // FRAMES_PER_SECOND
_LENGTH = SAMPLE_RATE * WINDOW_SECONDS
_FLOOR = 1e-10
# Slaney's mel scale (Auditory Toolbox, 1998): linear up to 1 kHz, 27 steps to each factor of 6.4 above.
_LINEAR_HZ = 1000.0
_LINEAR_MELS = 15.0
_LOG_STEP = 27.0 / np.log(6.4)

Features = npt.NDArray[np.float16]
_Doubles = npt.NDArray[np.float64]


def log_mel(samples: Samples, mels: int) -> Features:
    """Shape (mels, 3000), float16: `samples` (at most 480,000 of them) and silence up to 30 s, in [-1, 1.5] or so.

    `mels`: 80, or 128 for large-v3 and its kin.
    """
    half = _FFT // 2
    padded = np.zeros(_LENGTH + _FFT)
    padded[half : half + len(samples)] = samples
    padded[:half] = padded[_FFT:half:-1]
    padded[-half:] = padded[-half - 2 : -_FFT - 2 : -1]
    heard = heard_frames(len(samples))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::_HOP][:heard]
    # Single precision at this one place, as the reference stores its transform.
    spectrum = np.fft.rfft(frames * _window(), axis=1).astype(np.complex64)
    power = np.abs(spectrum, dtype=np.float64) ** 2
    logs = np.full((mels, FRAMES), np.log10(_FLOOR), dtype=np.float32)
    logs[:, :heard] = np.log10(np.maximum(_FLOOR, mel_filters(mels) @ power.T))
    features: Features = ((np.maximum(logs, logs.max() - 8.0) + 4.0) / 4.0).astype(np.float16)
    return features


def heard_frames(samples: int) -> int:
    """Frames, from the first on, that see any of so many samples; the others see silence only."""
    return min(FRAMES, (samples + _FFT // 2) // _HOP + 1)


@lru_cache
def mel_filters(mels: int) -> _Doubles:
    """Triangles of equal area over 0 to 8 kHz, shape (mels, 201)."""
    top = float(_to_mel(SAMPLE_RATE / 2))
    corners = _to_hertz(np.linspace(0.0, top, mels + 2))
    bins = np.linspace(0, SAMPLE_RATE // 2, _FFT // 2 + 1)
    slopes = corners[:, None] - bins[None, :]
    widths = np.diff(corners)[:, None]
    falling, rising = slopes[2:] / widths[1:], -slopes[:-2] / widths[:-1]
    filters: _Doubles = np.maximum(0.0, np.minimum(rising, falling))
    return filters * (2.0 / (corners[2:] - corners[:mels]))[:, None]


@lru_cache
def _window() -> _Doubles:
    return np.hanning(_FFT + 1)[:-1]


def _to_mel(hertz: float) -> float:
    return float(_LINEAR_MELS + np.log(hertz / _LINEAR_HZ) * _LOG_STEP)


def _to_hertz(mel: _Doubles) -> _Doubles:
    linear = mel * _LINEAR_HZ / _LINEAR_MELS
    return np.where(mel < _LINEAR_MELS, linear, _LINEAR_HZ * np.exp((mel - _LINEAR_MELS) / _LOG_STEP))
