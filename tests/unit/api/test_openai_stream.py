"""A stream whose client leaves: before the first window, and between it and the first event. The work ends with it."""

import asyncio
import contextlib
import io
from typing import Any

import pytest
from fastapi import Request, UploadFile

from app.api.clients import ClientClosed
from app.api.openai_stream import streamed
from app.decoding.request import Outcome, WindowResult
from app.pipeline import TranscriptionJob

_WINDOW = WindowResult(index=0, language="en", language_probability=1.0, outcome=Outcome.DECODED, rung="greedy")


class Pipeline:
    """Gives `windows` and then works on until it is ended."""

    def __init__(self, windows: int) -> None:
        self._windows = windows
        self.started = asyncio.Event()
        self.ended = asyncio.Event()

    async def transcribe(self, _job: TranscriptionJob, *, on_window: Any) -> None:
        self.started.set()
        for _ in range(self._windows):
            on_window(_WINDOW)
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()


class Client:
    """Stays until `gone` is set."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.request = Request({"type": "http", "headers": []}, receive=self.receive)

    async def receive(self) -> dict[str, str]:
        await self.gone.wait()
        return {"type": "http.disconnect"}


def _stream(client: Client, pipeline: Pipeline) -> Any:
    upload = UploadFile(io.BytesIO(b"RIFF"), filename="a.wav")
    return streamed(client.request, pipeline, TranscriptionJob("r"), upload)  # type: ignore[arg-type]


async def test_who_leaves_before_the_first_window_ends_the_work() -> None:
    client, pipeline = Client(), Pipeline(windows=0)
    answer = asyncio.create_task(_stream(client, pipeline))
    await pipeline.started.wait()
    client.gone.set()
    with pytest.raises(ClientClosed):
        await asyncio.wait_for(answer, 5)
    await asyncio.wait_for(pipeline.ended.wait(), 5)


async def test_who_leaves_before_the_first_event_ends_the_work() -> None:
    client, pipeline = Client(), Pipeline(windows=1)
    answer = await _stream(client, pipeline)
    client.gone.set()

    async def send(_message: Any) -> None:
        await asyncio.Event().wait()  # nobody reads

    with contextlib.suppress(asyncio.CancelledError):
        await answer({"type": "http", "asgi": {}}, client.receive, send)
    await asyncio.wait_for(pipeline.ended.wait(), 5)
