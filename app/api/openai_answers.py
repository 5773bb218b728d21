"""Transcripts as OpenAI's clients expect them. In: a Transcript. Out: their JSON, with what is ours under one key.
Shapes after openai-python 3.57 (types/audio). Pure; any thread."""

from app.api.schemas import ReceiptShape, finite
from app.decoding.languages import LANGUAGES
from app.decoding.request import Task
from app.transcript.transcript import Segment, Transcript, Word


def usage(transcript: Transcript) -> dict[str, object]:
    return {"type": "duration", "seconds": transcript.duration}


def plain(transcript: Transcript) -> dict[str, object]:
    """Text and usage, which every client knows; a third key only when there is something to warn of."""
    body: dict[str, object] = {"text": transcript.text, "usage": usage(transcript)}
    if transcript.receipt.warnings:
        body["lexicue"] = {"warnings": list(transcript.receipt.warnings)}
    return body


def receipt(transcript: Transcript) -> dict[str, object]:
    """What stands under the key `lexicue`."""
    return ReceiptShape.model_validate(transcript.receipt).model_dump(mode="json")


def verbose(transcript: Transcript, *, task: Task, words: bool, segments: bool) -> dict[str, object]:
    """`words`, `segments`: the timestamp granularities that were asked for."""
    body: dict[str, object] = {
        "task": task.value,
        "language": LANGUAGES.get(transcript.language or "", transcript.language or "unknown"),
        "duration": transcript.duration,
        "text": transcript.text,
        "usage": usage(transcript),
    }
    if segments:
        body["segments"] = [_segment(segment) for segment in transcript.segments]
    if words:
        body["words"] = [_word(word) for segment in transcript.segments for word in segment.words or ()]
    body["lexicue"] = receipt(transcript)
    return body


def _segment(segment: Segment) -> dict[str, object]:
    return {
        "id": segment.id,
        "seek": round(segment.start * 100),
        "start": segment.start,
        "end": segment.end,
        "text": segment.text,
        "tokens": list(segment.tokens),
        "temperature": 0.0,
        "avg_logprob": finite(segment.avg_logprob),
        "compression_ratio": finite(segment.compression_ratio),
        "no_speech_prob": finite(segment.no_speech_prob),
    }


def _word(word: Word) -> dict[str, object]:
    return {"word": word.word.strip(), "start": word.start, "end": word.end}
