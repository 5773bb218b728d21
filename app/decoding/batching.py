"""Which windows go to the model next. In: the queues of all requests, in turn order. Out: a batch. Pure; the
dispatcher calls it on the event loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.decoding.request import WindowRequest


@dataclass(frozen=True, slots=True)
class BatchPolicy:
    """`max_windows`: most windows in one batch, >= 1. `scope` request: only windows of one request share a batch, so
    that what shares it is a function of the request alone; shared: windows of several requests may."""

    max_windows: int = 1
    scope: Literal["request", "shared"] = "request"


@dataclass(frozen=True, slots=True)
class BatchKey:
    """Windows may share a `generate` call only if these are equal: the control tokens must stand at the same index
    in all rows (DESIGN fact 5)."""

    prompt_tokens: int
    task: str
    word_timestamps: bool
    detects_language: bool
    again: bool


def batch_key(window: WindowRequest) -> BatchKey:
    options = window.options
    return BatchKey(
        prompt_tokens=len(window.prompts.ids(options.language or "")),
        task=options.task.value,
        word_timestamps=options.word_timestamps,
        detects_language=options.language is None,
        again=window.again,
    )


def next_batch(queues: Sequence[Sequence[WindowRequest]], policy: BatchPolicy) -> list[tuple[int, int]]:
    """Positions (queue, window) of the next batch; empty when nothing is queued.

    `queues` are in turn order: the first that is not empty gives the first window, and only windows from the front of
    a queue are taken, so nobody is overtaken within a request.
    """
    first = next((index for index, queue in enumerate(queues) if queue), None)
    if first is None:
        return []
    key = batch_key(queues[first][0])
    batch: list[tuple[int, int]] = []
    for index in range(first, len(queues) if policy.scope == "shared" else first + 1):
        for position, window in enumerate(queues[index]):
            if len(batch) == policy.max_windows or batch_key(window) != key:
                break
            batch.append((index, position))
    return batch
