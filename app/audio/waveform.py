"""The one form in which sound travels: 16 kHz mono float32, and the windows cut from it. Pure; any thread."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SAMPLE_RATE = 16_000
WINDOW_SECONDS = 30
# Under this nothing can be said; Whisper would invent a sentence (DESIGN fact 11).
MIN_SECONDS = 0.1

Samples = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Waveform:
    """Decoded audio: `samples` of shape (n,), in [-1, 1], at 16 kHz. `warnings` say what could not be decoded;
    `complete` is False where some of the recording is missing."""

    samples: Samples
    warnings: tuple[str, ...] = ()
    complete: bool = True

    @property
    def seconds(self) -> float:
        return len(self.samples) / SAMPLE_RATE


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of speech on the recording's clock, in samples: start included, end excluded."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Window:
    """At most 30 s of speech, cut from one or more spans and decoded alone."""

    index: int
    spans: tuple[Span, ...]

    @property
    def seconds(self) -> float:
        return sum(len(span) for span in self.spans) / SAMPLE_RATE

    def cut(self, samples: Samples) -> Samples:
        """The window's own samples, shape (m,), m <= 480,000: the spans one after another. A copy, so that the
        recording can be let go."""
        return np.concatenate([samples[span.start : span.end] for span in self.spans])

    def on_recording(self, seconds: float, *, end: bool = False) -> float:
        """A time inside the window (seconds) as a time on the recording's clock (seconds).

        A time on the seam of two spans belongs to the later one, or with `end` to the earlier one.
        """
        return _on_recording(self.spans, seconds, end=end)


def _on_recording(spans: Sequence[Span], seconds: float, *, end: bool) -> float:
    left = round(seconds * SAMPLE_RATE)
    for span in spans:
        if left < len(span) or (end and left == len(span)):
            return (span.start + left) / SAMPLE_RATE
        left -= len(span)
    return spans[-1].end / SAMPLE_RATE
