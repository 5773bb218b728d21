"""OpenAI's audio routes, so that its clients work unchanged. In: their multipart forms. Out: their answers, ours under
the key `lexicue` and in headers. Event loop thread."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, Form, Header, Request, Response, UploadFile
from fastapi.responses import JSONResponse

from app.api.access import default_glossary
from app.api.answers import answer, receipt_headers
from app.api.clients import refuse_unknown_fields
from app.api.forms import FormRoute
from app.api.idempotency import IdempotencyKey, refuse_with_stream
from app.api.openai_answers import plain, verbose
from app.api.openai_stream import streamed
from app.api.schemas import ErrorShape
from app.api.state import AppState, State
from app.decoding.languages import parse_language
from app.decoding.request import Task
from app.errors import InvalidRequest, NotFound
from app.pipeline import TranscriptionJob
from app.prompt.planner import RequestWords
from app.telemetry import request_id_var
from app.transcript.formats import ResponseFormat
from app.transcript.transcript import Transcript

router = APIRouter(
    prefix="/v1",
    tags=["OpenAI"],
    route_class=FormRoute,
    responses={status: {"model": ErrorShape} for status in (400, 404, 408, 413, 422, 429, 503, 504)},
)

ALIAS = "whisper-1"
_FIELDS = frozenset(
    {
        "file",
        "model",
        "glossary",
        "language",
        "languages[]",
        "prompt",
        "keywords[]",
        "response_format",
        "temperature",
        "timestamp_granularities[]",
        "timestamp_granularities",
        "stream",
    }
)

Audio = Annotated[UploadFile, File()]
Model = Annotated[str, Form(description=f"`{ALIAS}` or the served name.")]
Text = Annotated[str, Form()]
Strings = Annotated[list[str], Form()]
Format = Annotated[ResponseFormat, Form()]
Temperature = Annotated[float, Form(ge=0, le=1, description="Only 0: decoding never samples.")]
GlossaryHeader = Annotated[str | None, Header(description="Slug of the glossary; the field `glossary` goes first.")]


@router.get("/models", summary="The served model, by its name and by OpenAI's")
async def models(state: State) -> dict[str, object]:
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "lexicue"} for name in (state.model_name, ALIAS)]
    return {"object": "list", "data": data}


@router.post("/audio/transcriptions", summary="Transcribe, for OpenAI clients")
async def transcriptions(
    request: Request,
    state: State,
    file: Audio,
    model: Model,
    language: Text = "",
    languages: Annotated[list[str], Form(alias="languages[]")] = [],  # noqa: B006 - the framework copies it
    prompt: Text = "",
    keywords: Annotated[list[str], Form(alias="keywords[]")] = [],  # noqa: B006 - as above
    response_format: Format = ResponseFormat.JSON,
    temperature: Temperature = 0,
    granularities: Annotated[list[str], Form(alias="timestamp_granularities[]")] = [],  # noqa: B006 - as above
    granularities_plain: Annotated[list[str], Form(alias="timestamp_granularities")] = [],  # noqa: B006 - as above
    stream: Annotated[bool, Form()] = False,
    glossary: Text = "",
    x_lexicue_glossary: GlossaryHeader = None,
    _idempotency_key: IdempotencyKey = None,
) -> Response:
    await refuse_unknown_fields(request, _FIELDS)
    _check(state, model, temperature)
    wanted = _granularities([*granularities, *granularities_plain], response_format)
    code, warnings = _language(language, languages)
    job = TranscriptionJob(
        request_id=request_id_var.get(),
        glossary=(glossary or x_lexicue_glossary or "").strip() or default_glossary(request),
        language=code,
        word_timestamps="word" in wanted,
        words=RequestWords(prompt, tuple(keywords)),
    )
    if stream:
        refuse_with_stream(request)
        if response_format not in (ResponseFormat.JSON, ResponseFormat.TEXT) or "word" in wanted:
            raise InvalidRequest(
                "A stream is text: use response_format json or text.", param="response_format", code="invalid_stream"
            )
        return await streamed(state.pipeline, job, file)

    async def work(audio: Path) -> Response:
        transcript = await state.pipeline.transcribe(replace(job, audio=audio))
        return _answer(transcript, response_format, task=Task.TRANSCRIBE, granularities=wanted, warnings=warnings)

    return await state.answers.answer(request, file, work)


@router.post("/audio/translations", summary="Translate to English, for OpenAI clients")
async def translations(
    request: Request,
    state: State,
    file: Audio,
    model: Model,
    prompt: Text = "",
    response_format: Format = ResponseFormat.JSON,
    temperature: Temperature = 0,
    glossary: Text = "",
    x_lexicue_glossary: GlossaryHeader = None,
    _idempotency_key: IdempotencyKey = None,
) -> Response:
    known = frozenset({"file", "model", "prompt", "response_format", "temperature", "glossary"})
    await refuse_unknown_fields(request, known)
    _check(state, model, temperature)
    job = TranscriptionJob(
        request_id=request_id_var.get(),
        glossary=(glossary or x_lexicue_glossary or "").strip() or default_glossary(request),
        task=Task.TRANSLATE,
        words=RequestWords(prompt),
    )

    async def work(audio: Path) -> Response:
        transcript = await state.pipeline.transcribe(replace(job, audio=audio))
        return _answer(transcript, response_format, task=Task.TRANSLATE, granularities={"segment"})

    return await state.answers.answer(request, file, work)


def _answer(
    transcript: Transcript,
    response_format: ResponseFormat,
    *,
    task: Task,
    granularities: set[str],
    warnings: tuple[str, ...] = (),
) -> Response:
    headers = receipt_headers(transcript.receipt)
    match response_format:
        case ResponseFormat.JSON:
            return JSONResponse(plain(transcript), headers=headers)
        case ResponseFormat.VERBOSE_JSON:
            words, segments = "word" in granularities, "segment" in granularities
            body = verbose(transcript, task=task, words=words, segments=segments, warnings=warnings)
            return JSONResponse(body, headers=headers)
        case _:
            return answer(transcript, response_format)


def _check(state: AppState, model: str, temperature: float) -> None:
    if model not in (ALIAS, state.model_name):
        raise NotFound(
            f"That model is not served here; use `{ALIAS}`, or see GET /v1/models.",
            param="model",
            code="model_not_found",
        )
    if temperature > 0:
        raise InvalidRequest(
            "Only temperature 0: decoding never samples, so that the same audio gives the same text.",
            param="temperature",
            code="temperature_not_supported",
        )


def _granularities(asked: list[str], response_format: ResponseFormat) -> set[str]:
    """Segments unless words are asked for, as OpenAI's service; empty entries count as none."""
    wanted = {entry for entry in asked if entry}
    if wanted - {"word", "segment"}:
        raise InvalidRequest(
            "Granularities are `word` and `segment`.", param="timestamp_granularities[]", code="invalid_granularity"
        )
    if "word" in wanted and response_format is not ResponseFormat.VERBOSE_JSON:
        raise InvalidRequest(
            "Word timestamps need response_format=verbose_json.",
            param="timestamp_granularities[]",
            code="invalid_granularity",
        )
    return wanted or {"segment"}


def _language(language: str, languages: list[str]) -> tuple[str | None, tuple[str, ...]]:
    """One candidate decides; of several the language is detected, and the answer says so."""
    if code := parse_language(language):
        return code, ()
    candidates = [code for entry in languages if (code := parse_language(entry))]
    if len(candidates) > 1:
        return None, ("languages[]: several were given; the language was detected among all",)
    return (candidates[0] if candidates else None), ()
