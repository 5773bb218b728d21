"""Where somebody speaks. In: a waveform. Out: spans of speech. Silero VAD on ONNX Runtime, one thread; blocking, runs
on the audio threads."""

from collections.abc import Callable

from faster_whisper.vad import VadOptions, get_speech_timestamps

from app.audio.waveform import MIN_SECONDS, SAMPLE_RATE, Samples, Span

# The library copies what it hears three times over; a long recording is heard in blocks, so that the copies stay small.
_BLOCK_SECONDS = 600
# What ends this near to a block's end may go on behind it: 2 s of silence, 0.4 s of surroundings, and a margin.
_EDGE_SECONDS = 3

_OPTIONS = VadOptions(threshold=0.5, min_silence_duration_ms=2000, speech_pad_ms=400, max_speech_duration_s=15)
# Which windows are cut depends on these as much as on the model; part of the fingerprint.
VOICE_DETECTION = (
    f"silero_v6 {_OPTIONS.threshold}/{_OPTIONS.min_silence_duration_ms}"
    f"/{_OPTIONS.speech_pad_ms}/{_OPTIONS.max_speech_duration_s}"
)


def speech_spans(samples: Samples, *, carry_on: Callable[[], None] = lambda: None) -> tuple[Span, ...]:
    """Spans of speech in order, none overlapping, each at most 15 s; empty for silence, noise and clips under 0.1 s.

    Speech without a pause is cut at its longest hesitation within 15 s, so that windows packed from spans fill up
    without leaving a sliver at the end (docs/adr/0032-spans-of-15-seconds.md). Each span has up to 0.4 s of its
    surroundings on either side; pauses under 2 s stay inside (faster-whisper's own figures, vad.py). Over 10 minutes
    are heard in blocks, the last unfinished span of each once more at the start of the next; before each,
    `carry_on` may raise to end the work.
    """
    if len(samples) < MIN_SECONDS * SAMPLE_RATE:
        return ()
    spans: list[Span] = []
    start = 0
    while True:
        carry_on()
        end = min(len(samples), start + _BLOCK_SECONDS * SAMPLE_RATE)
        found = _heard(samples[start:end], start)
        if end == len(samples):
            return (*spans, *found)
        edge = end - _EDGE_SECONDS * SAMPLE_RATE
        whole = [span for span in found if span.end <= edge]
        spans += whole
        start = found[len(whole)].start if len(whole) < len(found) else edge


def _heard(samples: Samples, offset: int) -> list[Span]:
    found = get_speech_timestamps(samples, _OPTIONS)
    return [
        Span(offset + int(speech["start"]), offset + int(speech["end"]))
        for speech in found
        if speech["end"] > speech["start"]
    ]
