"""Spectrograms to look at. In: features and how long the sound is. Out: a PNG, or one line of text, with the end of the
sound marked. Pure; any thread."""

import struct
import zlib

import numpy as np
import numpy.typing as npt

from app.finetune.mel import FRAMES, FRAMES_PER_SECOND, Features

_BLOCKS = " ▁▂▃▄▅▆▇█"
_SCALE = 3
# Dark to bright, in steps that stay in order for the colour-blind and in grey.
_COLOURS = np.array([(13, 8, 60), (70, 30, 130), (180, 50, 110), (245, 130, 50), (250, 240, 160)], dtype=np.float64)
_MARK = (0, 255, 120)

_Pixels = npt.NDArray[np.uint8]


def as_png(features: Features, seconds: float) -> bytes:
    """Low bands at the bottom, 30 s from left to right, a green line where the sound ends."""
    values = features[::-1, ::2].astype(np.float64)
    levels = (values - values.min()) / max(float(np.ptp(values)), 1e-6) * (len(_COLOURS) - 1)
    steps = np.arange(len(_COLOURS))
    pixels = np.stack([np.interp(levels, steps, _COLOURS[:, channel]) for channel in range(3)], axis=-1)
    picture = pixels.astype(np.uint8).repeat(_SCALE, axis=0)
    picture[:, min(round(seconds * FRAMES_PER_SECOND / 2), picture.shape[1] - 1)] = _MARK
    return _png(picture)


def as_line(features: Features, seconds: float, width: int = 60) -> str:
    """Loudness over 30 s in blocks; `|` where the sound ends."""
    loudness = features.astype(np.float64).mean(axis=0).reshape(width, FRAMES // width).max(axis=1)
    levels = (loudness - loudness.min()) / max(float(np.ptp(loudness)), 1e-6) * (len(_BLOCKS) - 1)
    blocks = [_BLOCKS[round(level)] for level in levels]
    blocks.insert(min(width, int(np.ceil(seconds * FRAMES_PER_SECOND * width / FRAMES))), "|")
    return "".join(blocks)


def _png(pixels: _Pixels) -> bytes:
    """RFC 2083: eight bits a channel, no filter."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
