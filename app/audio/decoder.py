"""Any audio file to the one waveform. In: a file on disk. Out: 16 kHz mono float32 and what could not be decoded.
Blocking; runs on the audio threads."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from av.audio.fifo import AudioFifo
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer

from app.audio.endings import cut_short
from app.audio.mixing import Mix
from app.audio.waveform import MIN_SECONDS, SAMPLE_RATE, Waveform
from app.errors import InvalidAudio, TooLarge

# Containers of sound, and of film with sound, that name nothing outside themselves: no playlist, no list of other
# files, no device, no picture. What is not listed is not even tried (FFmpeg, `format_whitelist`).
_CONTAINERS = (
    "aac ac3 aiff amr ape asf au avi caf dsf dts eac3 flac flv loas matroska mov mp3 mpc mpc8 mpeg mpegts nistsphere "
    "ogg shn tak tta voc w64 wav wv"
)
# Nested files would be opened through a protocol; the upload itself needs this one.
_OPTIONS = {"format_whitelist": ",".join(_CONTAINERS.split()), "protocol_whitelist": "file"}
# Samples resampled at a time: one call a frame of 20 ms would cost more than the decoding itself.
_GROUP = 480_000
_RATES = range(1_000, 1_000_001)
# Headers round and encoders pad: less than this missing is no loss (seconds, share) or not worth a figure (seconds).
_MISSED, _MISSED_SHARE, _TOLD = 1.0, 0.05, 0.1


@dataclass(frozen=True, slots=True)
class _Decoded:
    """`damaged`: packets passed over; `promised`: seconds by the header, None where it says nothing; `cut`: bytes are
    missing at the end; `streams`: of sound, of which one was decoded."""

    mix: Mix
    damaged: int
    promised: float | None
    cut: bool
    streams: int


def decode_audio(path: Path, *, max_seconds: float, carry_on: Callable[[], None] = lambda: None) -> Waveform:
    """Decode the first audio stream of the file, mixed down to mono.

    What is damaged or missing is told in `warnings`. Two channels that cancel each other out are not mixed: the first
    one is used. Raises InvalidAudio (codes `invalid_audio`, `no_audio_stream`) for what is no audio, TooLarge
    (`audio_too_long`) as soon as `max_seconds` are passed: memory stays bounded by the limit whatever the header says.
    `carry_on` is called at every frame and may raise to end the work.
    """
    decoded = _read(path, max_seconds, carry_on)
    missing = _missing(decoded)
    warnings = [*missing, *_oddities(decoded)]
    if decoded.mix.cancels:
        decoded = _read(path, max_seconds, carry_on, channel=0)
        warnings.append("the two channels cancel each other out; the first one was used")
    if decoded.damaged and not decoded.mix.length:
        raise _unreadable()
    return Waveform(decoded.mix.finish(), tuple(warnings), complete=not missing)


def _missing(decoded: _Decoded) -> list[str]:
    seconds, promised = decoded.mix.length / SAMPLE_RATE, decoded.promised
    got = f"got {seconds:.1f} s" + (f" of {promised:.1f} s" if promised and promised - seconds > _TOLD else "")
    if decoded.damaged:
        return [f"the file is damaged: {decoded.damaged} packet(s) could not be decoded; {got}"]
    if decoded.cut or (promised and promised - seconds > max(_MISSED, _MISSED_SHARE * promised)):
        return [f"the file ends early: {got}"]
    return []


def _oddities(decoded: _Decoded) -> list[str]:
    found = []
    if decoded.streams > 1:
        found.append(f"the file has {decoded.streams} audio streams; the first one was used")
    if decoded.mix.length < MIN_SECONDS * SAMPLE_RATE:
        found.append(f"the recording is shorter than {MIN_SECONDS} s: too short for speech")
    return found


def _unreadable() -> InvalidAudio:
    return InvalidAudio(
        "The file is not audio that can be decoded, or so much of it is missing that nothing is left to decode; send "
        "a whole wav, flac, mp3, m4a, ogg, opus, webm or the like.",
        param="file",
    )


def _audio_stream(container: InputContainer) -> AudioStream:
    if not container.streams.audio:
        raise InvalidAudio("The file has no audio stream.", param="file", code="no_audio_stream")
    stream = container.streams.audio[0]
    if stream.codec_context is None:  # a codec that nobody knows, or damage that looks like one
        raise _unreadable()
    if stream.codec_context.sample_rate not in _RATES or not 1 <= stream.codec_context.channels <= 64:
        raise _unreadable()
    # Windows already use every core; a decoder's own threads would only compete.
    stream.codec_context.thread_type = "NONE"
    return stream


def _read(path: Path, max_seconds: float, carry_on: Callable[[], None], *, channel: int | None = None) -> _Decoded:
    try:
        with av.open(str(path), options=_OPTIONS, metadata_errors="ignore") as container:
            stream = _audio_stream(container)
            frames = _Frames(container, stream)
            mix = _mix(frames, max_seconds, carry_on, channel)
            cut = cut_short(path) or (frames.cut and container.format.name != "wav")
            return _Decoded(
                mix, frames.damaged, _promised_seconds(container, stream), cut, len(container.streams.audio)
            )
    except av.error.FFmpegError:
        raise _unreadable() from None


def _promised_seconds(container: InputContainer, stream: AudioStream) -> float | None:
    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    if container.duration and not container.streams.video:  # a film may be longer than its sound
        return container.duration / av.time_base
    return None


def _mix(frames: Iterable[AudioFrame], max_seconds: float, carry_on: Callable[[], None], channel: int | None) -> Mix:
    mix = Mix(channel=channel)
    shape: tuple[object, ...] | None = None
    fifo = resampler = None
    for frame in frames:
        carry_on()
        arrived = (frame.format.name, frame.layout.name, frame.sample_rate)
        if fifo is None or resampler is None or arrived != shape:  # chained streams may change their shape midway
            _flush(fifo, resampler, mix)
            layout = "mono" if frame.layout.nb_channels == 1 else "stereo"
            fifo, resampler = AudioFifo(), AudioResampler(format="flt", layout=layout, rate=SAMPLE_RATE)
            shape = arrived
        frame.pts = None
        fifo.write(frame)
        if fifo.samples >= _GROUP:
            _resample(fifo, resampler, mix)
        _require_within(mix, max_seconds)
    _flush(fifo, resampler, mix)
    _require_within(mix, max_seconds)
    return mix


def _require_within(mix: Mix, max_seconds: float) -> None:
    if mix.length > max_seconds * SAMPLE_RATE:
        raise TooLarge(
            f"The recording is longer than the limit of {max_seconds:.0f} s; split it.",
            param="file",
            code="audio_too_long",
        )


def _flush(fifo: AudioFifo | None, resampler: AudioResampler | None, mix: Mix) -> None:
    if fifo is not None and resampler is not None:
        _resample(fifo, resampler, mix)
        for resampled in resampler.resample(None):
            _add(resampled, mix)


def _resample(fifo: AudioFifo, resampler: AudioResampler, mix: Mix) -> None:
    if fifo.samples and (frame := fifo.read()) is not None:
        for resampled in resampler.resample(frame):
            _add(resampled, mix)


def _add(resampled: AudioFrame, mix: Mix) -> None:
    mix.add(resampled.to_ndarray().astype(np.float32, copy=False).reshape(-1, resampled.layout.nb_channels))


class _Frames:
    """Audio frames of one stream; packets that cannot be decoded are counted in `damaged` and passed over. `cut`: the
    last packet is shorter than it says (a WAV without a length ends so, too)."""

    def __init__(self, container: InputContainer, stream: AudioStream) -> None:
        self._container = container
        self._stream = stream
        self.damaged = 0
        self.cut = False

    def __iter__(self) -> Iterator[AudioFrame]:
        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets)
            except StopIteration:
                return
            except IndexError:  # PyAV 18 at the end of a file in which streams began midway; a new demuxer knows them
                packets = self._container.demux(self._stream)
                continue
            except av.error.FFmpegError:
                self.damaged += 1
                return
            self.cut = packet.is_corrupt if packet.size else self.cut
            try:
                yield from packet.decode()
            except av.error.EOFError:
                continue
            except av.error.FFmpegError:
                self.damaged += 1
