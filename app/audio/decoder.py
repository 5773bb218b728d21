"""Any audio file to the one waveform. In: a file on disk. Out: 16 kHz mono float32 and what could not be decoded.
Blocking; runs on the audio threads."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer

from app.audio.waveform import SAMPLE_RATE, Samples, Waveform
from app.errors import InvalidAudio, TooLarge

# A demuxer opens this one file and nothing else: no nested protocol, no list of other files.
_OPTIONS = {"protocol_whitelist": "file"}
_LISTS = {"hls", "concat", "dash", "imf", "sdp", "tedcaptions", "rtsp", "lavfi"}
_RATES = range(1_000, 1_000_001)


def decode_audio(path: Path, *, max_seconds: float) -> Waveform:
    """Decode the first audio stream of the file, mixed down to mono.

    Damaged packets are skipped and told in `warnings`. Raises InvalidAudio (codes `invalid_audio`,
    `no_audio_stream`) for what is no audio, TooLarge (`audio_too_long`) as soon as `max_seconds` are passed: memory
    stays bounded by the limit whatever the header says.
    """
    try:
        with av.open(str(path), options=_OPTIONS, metadata_errors="ignore") as container:
            stream = _audio_stream(container)
            samples, damaged = _decode(container, stream, max_seconds)
            expected = float(stream.duration * stream.time_base) if stream.duration and stream.time_base else None
    except av.error.FFmpegError:
        raise _unreadable() from None
    warnings = []
    if damaged:
        seconds = len(samples) / SAMPLE_RATE
        of = f" of {expected:.1f} s" if expected else ""
        warnings.append(f"the file is damaged: {damaged} packet(s) could not be decoded; got {seconds:.1f} s{of}")
        if not len(samples):
            raise _unreadable()
    return Waveform(samples, tuple(warnings))


def _unreadable() -> InvalidAudio:
    return InvalidAudio(
        "The file is not audio that can be decoded; send wav, flac, mp3, m4a, ogg, opus, webm or the like.",
        param="file",
    )


def _audio_stream(container: InputContainer) -> AudioStream:
    if _LISTS & set(container.format.name.split(",")):
        raise _unreadable()
    if not container.streams.audio:
        raise InvalidAudio("The file has no audio stream.", param="file", code="no_audio_stream")
    stream = container.streams.audio[0]
    if stream.codec_context.sample_rate not in _RATES or not 1 <= stream.codec_context.channels <= 64:
        raise _unreadable()
    stream.codec_context.thread_type = (
        "NONE"  # windows already use every core; a decoder's own threads would only compete
    )
    return stream


def _decode(container: InputContainer, stream: AudioStream, max_seconds: float) -> tuple[Samples, int]:
    limit = int(max_seconds * SAMPLE_RATE)
    resampler: AudioResampler | None = None
    layout: tuple[object, ...] | None = None
    chunks: list[Samples] = []
    total = 0
    frames = _Frames(container, stream)
    for frame in frames:
        shape = (frame.format.name, frame.layout.name, frame.sample_rate)
        if resampler is None or shape != layout:  # chained streams may change their shape midway
            chunks.extend(_flush(resampler))
            resampler, layout = AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE), shape
        frame.pts = None
        for resampled in resampler.resample(frame):
            chunk = resampled.to_ndarray()[0]
            chunks.append(chunk)
            total += len(chunk)
        if total > limit:
            raise TooLarge(
                f"The recording is longer than the limit of {max_seconds:.0f} s; split it.",
                param="file",
                code="audio_too_long",
            )
    chunks.extend(_flush(resampler))
    if not chunks:
        return np.zeros(0, dtype=np.float32), frames.damaged
    samples = np.concatenate(chunks)
    return np.nan_to_num(np.clip(samples, -1.0, 1.0), copy=False), frames.damaged


def _flush(resampler: AudioResampler | None) -> Iterator[Samples]:
    if resampler is not None:
        for resampled in resampler.resample(None):
            yield resampled.to_ndarray()[0]


class _Frames:
    """Audio frames of one stream; packets that cannot be decoded are counted in `damaged` and passed over."""

    def __init__(self, container: InputContainer, stream: AudioStream) -> None:
        self._container = container
        self._stream = stream
        self.damaged = 0

    def __iter__(self) -> Iterator[AudioFrame]:
        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets)
            except StopIteration:
                return
            except av.error.FFmpegError:
                self.damaged += 1
                return
            with contextlib.suppress(av.error.EOFError):
                try:
                    yield from packet.decode()
                except av.error.InvalidDataError:
                    self.damaged += 1
