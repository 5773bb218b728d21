"""A transcript as it grows, as server-sent events. In: a job and its upload. Out: a `transcript.text.delta` a window,
then `transcript.text.done` with the whole text and the receipt. Event loop thread; a client that leaves cancels the
work."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace

from fastapi import Request, UploadFile
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.api.clients import unless_client_leaves
from app.api.error_handlers import error_body
from app.api.openai_answers import receipt, usage
from app.api.uploads import upload_on_disk
from app.decoding.request import WindowResult
from app.errors import InternalError, LexicueError
from app.pipeline import TranscriptionJob, TranscriptionPipeline
from app.transcript.transcript import Transcript, join_texts, told


class _Events(StreamingResponse):
    """Events of a task that ends with them. The generator alone cannot see to that: it is never begun for a client that
    left before the first event."""

    def __init__(self, events: AsyncIterator[str], task: "asyncio.Task[Transcript]") -> None:
        super().__init__(events, media_type="text/event-stream")
        self._task = task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._task.cancel()


async def streamed(
    request: Request,
    pipeline: TranscriptionPipeline,
    job: TranscriptionJob,
    upload: UploadFile,
    *,
    warnings: tuple[str, ...] = (),
) -> StreamingResponse:
    """Answers when the first window is there: until then a failure has its own status; later it is an event."""
    results: asyncio.Queue[WindowResult | None] = asyncio.Queue()

    async def work() -> Transcript:
        try:
            async with upload_on_disk(upload) as path:
                heard = await pipeline.transcribe(replace(job, audio=path), on_window=results.put_nowait)
                return told(heard, warnings)
        finally:
            results.put_nowait(None)

    task = asyncio.create_task(work())
    try:
        first = await unless_client_leaves(request, results.get())
        if first is None and task.done() and task.exception() is not None:
            task.result()
    except BaseException:
        task.cancel()
        raise
    return _Events(_events(first, results, task), task)


async def _events(
    first: WindowResult | None, results: "asyncio.Queue[WindowResult | None]", task: "asyncio.Task[Transcript]"
) -> AsyncIterator[str]:
    texts: list[str] = []
    sent = ""
    result = first
    while result is not None:
        texts.extend(segment.text for segment in result.segments)
        whole = join_texts(texts)
        if len(whole) > len(sent):
            yield _event({"type": "transcript.text.delta", "delta": whole[len(sent) :]})
            sent = whole
        result = await results.get()
    try:
        transcript = await task
    except LexicueError as error:
        yield _event(error_body(error))
        return
    except Exception:
        yield _event(error_body(InternalError("Something went wrong here; the request id finds it in the log.")))
        raise
    done = {"type": "transcript.text.done", "text": transcript.text}
    yield _event({**done, "usage": usage(transcript), "lexicue": receipt(transcript)})


def _event(data: dict[str, object]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"
