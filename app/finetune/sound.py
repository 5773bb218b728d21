"""Is a stretch of sound fit for training? In: samples. Out: the samples to use, or the reason against them. Pure; any
thread."""

from enum import StrEnum

import numpy as np

from app.audio.waveform import SAMPLE_RATE, WINDOW_SECONDS, Samples
from app.finetune.entries import Reason, Rejected

_SHORTEST_SECONDS = 0.1
_LIMIT = WINDOW_SECONDS * SAMPLE_RATE
# Loudness is looked at in blocks of 20 ms: a recording with one word in it is not silent.
_BLOCK = SAMPLE_RATE // 50
# -70 dBFS: under the quietest speech that can be recorded, over the noise of converters and dither.
_SILENT_RMS = 10 ** (-70 / 20)
# A sample this close to full scale was cut off; one in a hundred is audible as distortion.
_FULL_SCALE = 0.999
_CLIPPED_SHARE = 0.01


class Long(StrEnum):
    """What to do with more than 30 s: leave the entry out, or train on its first 30 s."""

    REJECT = "reject"
    CUT = "cut"


def fit_sound(samples: Samples, long: Long) -> Samples:
    """At most 480,000 samples at 16 kHz. Raises Rejected: `too_short` (under 0.1 s), `too_long`, `silent` (no 20 ms
    over -70 dBFS) or `clipped` (over 1 % of the samples at full scale)."""
    if len(samples) < _SHORTEST_SECONDS * SAMPLE_RATE:
        raise Rejected(Reason.TOO_SHORT, f"{len(samples) / SAMPLE_RATE:.3f} s")
    if len(samples) > _LIMIT and long is Long.REJECT:
        raise Rejected(Reason.TOO_LONG, f"{len(samples) / SAMPLE_RATE:.1f} s")
    kept = samples[:_LIMIT]
    if _loudest_rms(kept) < _SILENT_RMS:
        raise Rejected(Reason.SILENT)
    clipped = float(np.mean(np.abs(kept) >= _FULL_SCALE))
    if clipped > _CLIPPED_SHARE:
        raise Rejected(Reason.CLIPPED, f"{clipped:.1%} of the samples")
    return kept


def _loudest_rms(samples: Samples) -> float:
    whole = len(samples) // _BLOCK * _BLOCK
    return float(np.sqrt(np.square(samples[:whole].reshape(-1, _BLOCK)).mean(axis=1).max()))
