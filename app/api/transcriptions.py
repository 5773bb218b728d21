"""`POST /transcribe`. In: a multipart upload and its options. Out: transcript and receipt. Event loop thread; a
client that leaves cancels its work."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile

from app.api.access import default_glossary
from app.api.answers import answer
from app.api.clients import refuse_unknown_fields
from app.api.forms import FormOrFileRoute
from app.api.idempotency import IdempotencyKey
from app.api.schemas import TranscriptShape
from app.api.state import State
from app.decoding.languages import parse_language
from app.decoding.request import Task
from app.errors import InvalidRequest
from app.glossary.term import TermSelection
from app.pipeline import TranscriptionJob
from app.prompt.planner import RequestWords
from app.telemetry import request_id_var
from app.transcript.formats import ResponseFormat

router = APIRouter(tags=["transcription"], route_class=FormOrFileRoute)

_FIELDS = frozenset(
    {
        "file",
        "glossary",
        "selection",
        "revision",
        "language",
        "task",
        "response_format",
        "word_timestamps",
        "prompt",
        "keywords[]",
    }
)
_TEXT = {"schema": {"type": "string"}}
_FILE = {"schema": {"type": "string", "format": "binary"}}


@router.post(
    "/transcribe",
    response_model=TranscriptShape,
    responses={
        200: {"content": {"text/plain": _TEXT, "text/vtt": _TEXT}},
    },
    openapi_extra={"requestBody": {"content": {"audio/*": _FILE, "video/*": _FILE, "application/octet-stream": _FILE}}},
    summary="Transcribe a recording with a glossary",
)
async def transcribe(
    request: Request,
    state: State,
    file: Annotated[UploadFile, File(description="Audio, or video with sound, in any common format.")],
    glossary: Annotated[str | None, Form(description="Slug of the glossary; none: no bias.")] = None,
    revision: Annotated[int | None, Form(ge=1, le=2**31 - 1, description="Of the glossary; none: newest.")] = None,
    language: Annotated[str | None, Form(description="Code or name; empty or `auto`: detect.")] = None,
    task: Annotated[Task, Form(description="`translate` gives English.")] = Task.TRANSCRIBE,
    response_format: Annotated[ResponseFormat, Form(description="Shape of the answer.")] = ResponseFormat.JSON,
    word_timestamps: Annotated[bool, Form(description="Give each segment its words with times.")] = False,
    prompt: Annotated[str, Form(description="Words for this request only; they share the prompt budget.")] = "",
    keywords: Annotated[
        list[str], Form(alias="keywords[]", description="Terms for this request only, the first the most important.")
    ] = [],  # noqa: B006 - the framework copies it
    selection: Annotated[
        TermSelection | None, Form(description="Of the glossary's ranked terms; none: as the glossary says.")
    ] = None,
    _idempotency_key: IdempotencyKey = None,
) -> Response:
    """The file is a field of a form, or the whole body with `Content-Type: audio/...`, `video/...` or
    `application/octet-stream`; then the other fields are query parameters."""
    await refuse_unknown_fields(request, _FIELDS)
    slug = (glossary or "").strip() or default_glossary(request)
    if revision is not None and slug is None:
        raise InvalidRequest("`revision` needs `glossary`.", param="revision", code="revision_without_glossary")
    job = TranscriptionJob(
        request_id=request_id_var.get(),
        glossary=slug,
        revision=revision,
        language=parse_language(language),
        task=task,
        word_timestamps=word_timestamps,
        words=RequestWords(prompt, tuple(keywords)),
        selection=selection,
    )

    async def work(audio: Path) -> Response:
        return answer(await state.pipeline.transcribe(replace(job, audio=audio)), response_format)

    return await state.answers.answer(request, file, work)
