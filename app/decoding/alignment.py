"""When each word was said. In: a window's segments and its encoding. Out: the same segments with words. The text is
not touched: it is the same with and without word times. Runs on the worker process's threads."""

from collections.abc import Sequence
from dataclasses import replace

import ctranslate2
from faster_whisper import WhisperModel
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.transcribe import merge_punctuations

from app.decoding.request import DecodedSegment, DecodedWord

_PREPENDED = "\"'“¿([{-"
_APPENDED = "\"'.。,，!！?？:：”)]}、"
_FRAMES_PER_SECOND = 100


def with_words(
    model: WhisperModel,
    tokenizer: Tokenizer,
    encoded: ctranslate2.StorageView,
    segments: Sequence[DecodedSegment],
    seconds: float,
) -> tuple[DecodedSegment, ...]:
    """Words by cross-attention alignment over the whole window, dealt out to its segments by token count.

    Word times are seconds in the window, kept inside their segment and in order.
    """
    tokens = [token for segment in segments for token in segment.tokens]
    if not tokens:
        return tuple(segments)
    found = model.find_alignment(tokenizer, [tokens], encoded, round(seconds * _FRAMES_PER_SECOND))[0]
    merge_punctuations(found, _PREPENDED, _APPENDED)
    words = iter(found)
    timed: list[DecodedSegment] = []
    for segment in segments:
        mine: list[DecodedWord] = []
        left = len(segment.tokens)
        while left > 0 and (word := next(words, None)) is not None:
            left -= len(word["tokens"])
            if word["word"]:
                mine.append(_word(word["word"], word["start"], word["end"], word["probability"], segment, mine))
        timed.append(replace(segment, words=tuple(mine)))
    return tuple(timed)


def _word(
    text: str, start: float, end: float, probability: float, segment: DecodedSegment, before: Sequence[DecodedWord]
) -> DecodedWord:
    floor = before[-1].end if before else segment.start
    placed = min(max(floor, round(float(start), 2)), segment.end)
    return DecodedWord(
        start=placed,
        end=min(max(placed, round(float(end), 2)), segment.end),
        text=text,
        probability=float(probability),
    )
