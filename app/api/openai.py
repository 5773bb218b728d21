"""OpenAI's audio routes, so that its clients work unchanged. In: their multipart forms. Out: their answers, ours under
the key `lexicue` and in headers. Event loop thread."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, Form, Header, Request, Response, UploadFile
from fastapi.responses import JSONResponse

from app.api.access import default_glossary
from app.api.answers import answer, receipt_headers
from app.api.forms import FormRoute
from app.api.idempotency import IdempotencyKey, refuse_with_stream
from app.api.openai_answers import plain, verbose
from app.api.openai_requests import ALIAS, check, granularities, spoken_language, warn_or_refuse
from app.api.openai_shapes import ANSWERS, OpenAIModelShape, OpenAIModelsShape
from app.api.openai_stream import streamed
from app.api.state import State
from app.decoding.request import Task
from app.errors import InvalidRequest
from app.glossary.term import TermSelection
from app.pipeline import TranscriptionJob
from app.prompt.planner import RequestWords
from app.telemetry import request_id_var
from app.transcript.formats import ResponseFormat
from app.transcript.transcript import Transcript, told

router = APIRouter(
    prefix="/v1",
    tags=["OpenAI"],
    route_class=FormRoute,
)

_TRANSLATION_FIELDS = frozenset({"file", "model", "prompt", "response_format", "temperature", "glossary", "selection"})
_TRANSCRIPTION_FIELDS = _TRANSLATION_FIELDS | {
    "language",
    "languages[]",
    "keywords[]",
    "timestamp_granularities[]",
    "timestamp_granularities",
    "stream",
}

_UNUSED = "Accepted, since clients send it, and warned about: it has no effect."

Audio = Annotated[UploadFile, File()]
Model = Annotated[str, Form(description=f"`{ALIAS}` or the served name.")]
Text = Annotated[str, Form()]
Format = Annotated[ResponseFormat, Form()]
Temperature = Annotated[float, Form(ge=0, le=1, description="Only 0: decoding never samples.")]
GlossaryHeader = Annotated[str | None, Header(description="Slug of the glossary; the field `glossary` goes first.")]
Selection = Annotated[TermSelection | None, Form(description="Of ranked terms; none: as the glossary says.")]
SelectionHeader = Annotated[TermSelection | None, Header(description="As the field `selection`, which goes first.")]


@router.get("/models", summary="The served model, by its name and by OpenAI's")
async def models(state: State) -> OpenAIModelsShape:
    return OpenAIModelsShape(data=[OpenAIModelShape(id=name) for name in (state.model_name, ALIAS)])


@router.get("/models/{model}", summary="Whether a model is served")
async def one_model(state: State, model: str) -> OpenAIModelShape:
    check(state, model, temperature=0)
    return OpenAIModelShape(id=model)


@router.post("/audio/transcriptions", responses=ANSWERS, summary="Transcribe, for OpenAI clients")
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
    timestamps: Annotated[list[str], Form(alias="timestamp_granularities[]")] = [],  # noqa: B006 - as above
    timestamps_plain: Annotated[list[str], Form(alias="timestamp_granularities")] = [],  # noqa: B006 - as above
    stream: Annotated[bool, Form(description="Answer as server-sent events while the text grows.")] = False,
    include: Annotated[list[str], Form(alias="include[]", description=_UNUSED)] = [],  # noqa: B006 - as above
    chunking_strategy: Annotated[str, Form(description=_UNUSED)] = "",
    glossary: Text = "",
    x_lexicue_glossary: GlossaryHeader = None,
    selection: Selection = None,
    x_lexicue_selection: SelectionHeader = None,
    _idempotency_key: IdempotencyKey = None,
) -> Response:
    unused = await warn_or_refuse(request, _TRANSCRIPTION_FIELDS)
    check(state, model, temperature)
    wanted = granularities([*timestamps, *timestamps_plain], response_format)
    code, detected = spoken_language(language, languages)
    warnings = (*detected, *unused)
    job = TranscriptionJob(
        request_id=request_id_var.get(),
        glossary=(glossary or x_lexicue_glossary or "").strip() or default_glossary(request),
        language=code,
        word_timestamps="word" in wanted,
        words=RequestWords(prompt, tuple(keywords)),
        selection=selection or x_lexicue_selection,
    )
    if stream:
        refuse_with_stream(request)
        if response_format not in (ResponseFormat.JSON, ResponseFormat.TEXT) or "word" in wanted:
            raise InvalidRequest(
                "A stream is text: use response_format json or text.", param="response_format", code="invalid_stream"
            )
        return await streamed(request, state.pipeline, job, file, warnings=warnings)

    async def work(audio: Path) -> Response:
        transcript = await state.pipeline.transcribe(replace(job, audio=audio))
        return _answer(told(transcript, warnings), response_format, task=job.task, wanted=wanted)

    return await state.answers.answer(request, file, work)


@router.post("/audio/translations", responses=ANSWERS, summary="Translate to English, for OpenAI clients")
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
    selection: Selection = None,
    x_lexicue_selection: SelectionHeader = None,
    _idempotency_key: IdempotencyKey = None,
) -> Response:
    warnings = await warn_or_refuse(request, _TRANSLATION_FIELDS)
    check(state, model, temperature)
    job = TranscriptionJob(
        request_id=request_id_var.get(),
        glossary=(glossary or x_lexicue_glossary or "").strip() or default_glossary(request),
        task=Task.TRANSLATE,
        words=RequestWords(prompt),
        selection=selection or x_lexicue_selection,
    )

    async def work(audio: Path) -> Response:
        transcript = await state.pipeline.transcribe(replace(job, audio=audio))
        return _answer(told(transcript, warnings), response_format, task=job.task, wanted={"segment"})

    return await state.answers.answer(request, file, work)


def _answer(transcript: Transcript, response_format: ResponseFormat, *, task: Task, wanted: set[str]) -> Response:
    match response_format:
        case ResponseFormat.JSON:
            body = plain(transcript)
        case ResponseFormat.VERBOSE_JSON:
            body = verbose(transcript, task=task, words="word" in wanted, segments="segment" in wanted)
        case _:
            return answer(transcript, response_format)
    return JSONResponse(body, headers=receipt_headers(transcript.receipt))
