"""`POST /transcribe`. In: a multipart upload and its options. Out: transcript and receipt. Event loop thread; a
client that leaves cancels its work."""

import asyncio
import re
from collections.abc import Coroutine
from typing import Annotated

from fastapi import APIRouter, File, Form, Request, UploadFile

from app.api.schemas import ErrorShape, TranscriptShape
from app.api.state import State
from app.api.uploads import upload_on_disk
from app.decoding.languages import parse_language
from app.errors import InvalidRequest, LexicueError
from app.pipeline import TranscriptionJob
from app.telemetry import request_id_var
from app.transcript.transcript import Transcript

router = APIRouter(tags=["transcription"])

_FIELD_NAME = re.compile(r"[A-Za-z0-9_.\[\]-]{1,40}")
_FIELDS = {"file", "glossary", "language"}


class ClientClosed(LexicueError):
    """The client hung up; nobody reads the answer, the status is for the log."""

    status = 499
    default_code = "client_closed"


@router.post(
    "/transcribe",
    response_model=TranscriptShape,
    response_model_exclude_none=False,
    responses={status: {"model": ErrorShape} for status in (400, 404, 413, 422, 429, 503, 504)},
    summary="Transcribe a recording with a glossary",
)
async def transcribe(
    request: Request,
    state: State,
    file: Annotated[UploadFile, File(description="Audio, or video with sound, in any common format.")],
    glossary: Annotated[str | None, Form(description="Slug of the glossary; none: no bias.")] = None,
    language: Annotated[str | None, Form(description="Code or name; empty or `auto`: detect.")] = None,
) -> Transcript:
    await _refuse_unknown_fields(request)
    async with upload_on_disk(file) as path:
        job = TranscriptionJob(
            request_id=request_id_var.get(),
            audio=path,
            glossary=(glossary or "").strip() or None,
            language=parse_language(language),
        )
        return await _unless_client_leaves(request, state.pipeline.transcribe(job))


async def _refuse_unknown_fields(request: Request) -> None:
    """A field that would be ignored is refused: a misspelt `glossary` must not cost the bias in silence."""
    unknown = sorted(set((await request.form()).keys()) - _FIELDS)
    if unknown:
        sane = unknown[0] if _FIELD_NAME.fullmatch(unknown[0]) else None
        raise InvalidRequest(
            f"{f'`{sane}`' if sane else 'A field'} is not known here; this route takes: {', '.join(sorted(_FIELDS))}.",
            param=sane,
            code="unknown_field",
        )


async def _unless_client_leaves(request: Request, work: Coroutine[None, None, Transcript]) -> Transcript:
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_hang_up(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientClosed("The client closed the connection.")
        return task.result()
    finally:
        for pending in (task, gone):
            pending.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _hang_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
