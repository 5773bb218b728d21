"""How sure the decoder was of what it wrote, and the encoder's output kept for a second look. In: tokens with the
model's scores. Out: pieces of text with log-probabilities. Runs on the worker process's threads."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

import ctranslate2
import numpy as np

from app.audio.waveform import Samples
from app.decoding.request import DecodedSegment, HeardPiece, WindowRequest

_REPLACEMENT = "\ufffd"


def token_logprobs(tokens: Sequence[int], scores: Iterable[ctranslate2.StorageView]) -> tuple[float, ...]:
    """Natural logarithm of the probability of each token. `scores`: one row of the vocabulary's size a step."""
    found = []
    for token, step in zip(tokens, scores, strict=False):  # the last step is the end of text, which is no token
        row = np.asarray(step.to_device(ctranslate2.Device.cpu), dtype=np.float32).ravel()
        top = row.max()
        found.append(float(row[token] - top - np.log(np.exp(row - top).sum())))
    return tuple(found)


def pieces_of(
    segments: Sequence[DecodedSegment],
    tokens: Sequence[int],
    logprobs: Sequence[float],
    decode: Callable[[list[int]], str],
) -> tuple[HeardPiece, ...]:
    """The segments' texts in pieces of whole characters; several tokens may write one character."""
    scored = iter(zip(tokens, logprobs, strict=True))
    pieces: list[HeardPiece] = []
    for segment in segments:
        written, own = "", list[int]()
        sure: list[float] = []
        for token in segment.tokens:
            own.append(token)
            sure.append(next(logprob for other, logprob in scored if other == token))
            text = decode(own)
            if not text.endswith(_REPLACEMENT):
                pieces.append(HeardPiece(text, sum(sure) / len(sure), len(sure)))
                written, own, sure = written + text, [], []
        if rest := segment.text[len(written) :]:
            pieces.append(HeardPiece(rest, sum(sure) / len(sure) if sure else 0.0, len(sure)))
    return tuple(pieces)


class KeptEncodings:
    """Encoder outputs by request and window until they are taken, at most `most`, the oldest given up first: whoever
    finds none encodes again, with the same result. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, int], ctranslate2.StorageView] = OrderedDict()

    def keep(self, request: WindowRequest, encoded: ctranslate2.StorageView) -> None:
        with self._lock:
            self._kept[request.serial, request.index] = encoded
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def take(
        self, request: WindowRequest, encode: Callable[[Samples], ctranslate2.StorageView]
    ) -> ctranslate2.StorageView:
        with self._lock:
            kept = self._kept.pop((request.serial, request.index), None)
        return encode(request.samples) if kept is None else kept
