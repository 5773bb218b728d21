"""Chunks of decoded sound gathered into one mono waveform. In: mono or stereo chunks at 16 kHz. Out: one array, and
whether the two channels cancel each other out. Pure; any thread."""

import numpy as np

from app.audio.waveform import SAMPLE_RATE, Samples

_BLOCK = 30 * SAMPLE_RATE
# Mixed down, less than this share of a channel's power is left: one channel is the other one inverted.
_CANCELLED = 0.01


class Mix:
    """Takes chunks of shape (n, channels), 1 or 2 channels, and mixes by the mean, which never clips; with `channel`
    it takes that one alone. Small chunks are joined into blocks, so that memory peaks at one copy of the recording."""

    def __init__(self, *, channel: int | None = None) -> None:
        self._channel = channel
        self._chunks: list[Samples] = []
        self._blocks: list[Samples] = []
        self._unjoined = 0
        self._mixed_power = 0.0
        self._channel_power = 0.0
        self.length = 0

    def add(self, chunk: Samples) -> None:
        if chunk.shape[1] == 1:
            mono = chunk[:, 0]
        elif self._channel is not None:
            mono = chunk[:, self._channel]
        else:
            mono = chunk.mean(axis=1)
            self._mixed_power += float(np.dot(mono, mono))
            self._channel_power += float(np.dot(chunk[:, 0], chunk[:, 0]))
        self._chunks.append(mono)
        self._unjoined += len(mono)
        self.length += len(mono)
        if self._unjoined >= _BLOCK:
            self._join()

    @property
    def cancels(self) -> bool:
        return self._mixed_power < _CANCELLED * self._channel_power

    def finish(self) -> Samples:
        """The waveform, shape (length,), in [-1, 1], every figure a number. Chunks are gone afterwards."""
        self._join()
        samples = np.empty(self.length, dtype=np.float32)
        end = self.length
        while self._blocks:
            block = self._blocks.pop()
            samples[end - len(block) : end] = block
            end -= len(block)
        return samples

    def _join(self) -> None:
        if self._chunks:
            block = np.nan_to_num(np.concatenate(self._chunks), copy=False)
            self._blocks.append(np.clip(block, -1.0, 1.0, out=block))
        self._chunks, self._unjoined = [], 0
