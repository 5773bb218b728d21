"""Damaged audio by number. In: a number. Out: always the same file: a short clip in one of many containers, bits
flipped, cut, spliced, its headers rewritten. No I/O but reading the clips that are kept here."""

import functools
import io
import random
from fractions import Fraction

import av
from started_server import ROOT

AUDIO = ROOT / "tests" / "data" / "audio"
SECONDS = 2
# Container and codec, and the rate where the codec dictates one.
MADE = (
    ("wav", "pcm_s16le", 16_000),
    ("wav", "pcm_f32le", 44_100),
    ("wav", "pcm_mulaw", 8_000),
    ("wav", "adpcm_ima_wav", 16_000),
    ("flac", "flac", 16_000),
    ("mp3", "mp3", 16_000),
    ("ogg", "libopus", 48_000),
    ("ogg", "flac", 16_000),
    ("webm", "libopus", 48_000),
    ("matroska", "aac", 16_000),
    ("mp4", "aac", 16_000),
    ("ipod", "alac", 16_000),
    ("mov", "pcm_s16le", 16_000),
    ("3gp", "libopencore_amrnb", 8_000),
    ("adts", "aac", 16_000),
    ("latm", "aac", 16_000),
    ("mpegts", "mp2", 48_000),
    ("mpeg", "mp2", 48_000),
    ("ac3", "ac3", 48_000),
    ("eac3", "eac3", 48_000),
    ("aiff", "pcm_s16be", 16_000),
    ("caf", "alac", 16_000),
    ("w64", "pcm_s16le", 16_000),
    ("au", "pcm_s16be", 16_000),
    ("amr", "libopencore_amrnb", 8_000),
    ("avi", "mp3", 16_000),
    ("flv", "aac", 16_000),
    ("voc", "pcm_u8", 16_000),
    ("tta", "tta", 16_000),
)
KEPT = ("jfk_live_no_duration.webm", "jfk_chained.opus", "jfk_6kbps.opus", "video_only_no_audio.mp4")
NUMBERS = (bytes(4), b"\xff" * 4, b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\x01\x00\x00\x00", b"\x00\x00\x00\x01")


@functools.cache
def clips() -> dict[str, bytes]:
    made = {f"{container}.{codec}": _encoded(container, codec, rate) for container, codec, rate in MADE}
    return made | {name: (AUDIO / name).read_bytes() for name in KEPT}


def _encoded(container: str, codec: str, rate: int) -> bytes:
    kind = av.Codec(codec, "w").audio_formats[0].name
    resampler, fifo = av.AudioResampler(format=kind, layout="mono", rate=rate), av.AudioFifo()
    with av.open(str(AUDIO / "jfk.mp3")) as source:
        for frame in source.decode(audio=0):
            frame.pts = None
            for resampled in resampler.resample(frame):
                resampled.pts = None
                fifo.write(resampled)
            if fifo.samples > SECONDS * rate:
                break
    file = io.BytesIO()
    with av.open(file, "w", format=container) as target:
        stream = target.add_stream(codec, rate=rate, layout="mono")
        stream.codec_context.open(strict=False)
        at = 0
        while (frame := fifo.read(stream.codec_context.frame_size or 1024)) is not None:
            frame.pts, frame.time_base = at, Fraction(1, rate)
            at += frame.samples
            target.mux(stream.encode(frame))
        target.mux(stream.encode(None))
    return file.getvalue()


def mutated(number: int) -> tuple[str, bytes]:
    """The name of the clip it was made from, and the damaged file."""
    dice = random.Random(number)
    names = sorted(clips())
    name = names[number % len(names)]
    content = bytearray(clips()[name])
    for _ in range(dice.randint(1, 3)):
        _damage(content, dice, clips()[dice.choice(names)])
    return name, bytes(content)


def _damage(content: bytearray, dice: random.Random, other: bytes) -> None:
    at = dice.randrange(len(content)) if content else 0
    length = dice.randrange(min(len(content) - at, 4_000) + 1)
    match dice.choice(("bits", "bits", "header", "header", "header", "cut", "zeros", "hole", "twice", "splice")):
        case "bits":
            for _ in range(dice.choice((1, 4, 30, 300)) if content else 0):
                content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
        case "header":
            for _ in range(dice.choice((1, 2, 8))):
                start = dice.randrange(min(len(content), 600) + 1)
                content[start : start + 4] = dice.choice((*NUMBERS, dice.randbytes(4)))
        case "cut":
            del content[at:]
        case "zeros":
            content[at : at + length] = bytes(length)
        case "hole":
            del content[at : at + length]
        case "twice":
            content[at:at] = content[at : at + length]
        case "splice":
            content[at:] = other[dice.randrange(len(other)) :]
