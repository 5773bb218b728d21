"""`GET /prompt/preview` and `GET /prompts/{sha256}`. In: a glossary and for what; the name of a prompt. Out: the exact
prompt with its costs, as JSON or text. Event loop thread; planning runs on a worker thread."""

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse, Response

from app.api.prompt_shapes import PreviewShape, PromptSourceShape, StoredPromptShape
from app.api.state import AppState, State
from app.api.strictness import refuse_unknown_query
from app.decoding.languages import parse_language
from app.errors import InvalidRequest, NotFound
from app.glossary.term import GlossarySnapshot, TermSelection
from app.prompt.planner import RequestWords
from app.prompt.preview import Preview, as_text, preview_of, relevance_of
from app.prompt.relevance import as_heard
from app.prompt.safety import request_text

router = APIRouter(tags=["prompt"], dependencies=[Depends(refuse_unknown_query)])


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a preview is for, after the glossary."""

    language: str | None
    words: RequestWords
    profile: str
    selection: TermSelection
    heard: str | None


@router.get(
    "/prompt/preview",
    response_model=PreviewShape,
    responses={
        200: {"content": {"text/plain": {}}, "description": "The prompt as it would be sent now."},
    },
    summary="The exact prompt of a glossary: terms, tokens, what is left out and why",
)
async def preview(
    state: State,
    glossary: Annotated[str, Query(description="Slug of the glossary.")],
    language: Annotated[str | None, Query(description="Code or name; empty or `auto`: not known yet.")] = None,
    revision: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Of the glossary; none: newest.")] = None,
    profile: Annotated[str, Query(description="Whose limits: `whisper` or `groq`.")] = "whisper",
    prompt: Annotated[str, Query(description="Words of a request, to see what they would do.")] = "",
    keywords: Annotated[list[str], Query(alias="keywords[]", description="Terms of a request.")] = [],  # noqa: B006
    selection: Annotated[TermSelection | None, Query(description="Of ranked terms; none: the glossary's own.")] = None,
    heard: Annotated[
        str | None,
        Query(description="First transcript of a window, with `relevant`: the terms it would be looked at again with."),
    ] = None,
    output: Annotated[Literal["json", "text"], Query(alias="format", description="JSON, or a page of text.")] = "json",
) -> Response:
    code = parse_language(language)
    snapshot = await state.glossaries.snapshot(glossary, revision=revision)
    words = RequestWords(prompt, tuple(keywords))
    wanted = _Wanted(code, words, profile, selection or snapshot.selection, heard)
    shown = await run_in_threadpool(_previewed, state, snapshot, wanted)
    if output == "text":
        return PlainTextResponse(as_text(shown))
    body = await run_in_threadpool(lambda: PreviewShape.of(shown).model_dump_json())
    return Response(body, media_type="application/json")


@router.get(
    "/prompts/{sha256}",
    response_model=StoredPromptShape,
    summary="A prompt that was sent, by the name that a receipt gives it",
)
async def stored_prompt(
    state: State, sha256: Annotated[str, Path(pattern=r"^[0-9a-f]{64}$", description="`receipt.prompt.sha256`.")]
) -> StoredPromptShape:
    prompt = await state.glossaries.prompt(sha256)
    if prompt is None:
        raise NotFound(
            "No prompt of that name is kept; prompts with words of a request are not.",
            param="sha256",
            code="prompt_not_found",
        )
    return StoredPromptShape(
        sha256=prompt.sha256,
        text=prompt.text,
        ids=list(prompt.ids),
        sources=[PromptSourceShape(glossary=slug, revision=revision) for slug, revision in prompt.sources],
    )


def _previewed(state: AppState, snapshot: GlossarySnapshot, wanted: _Wanted) -> Preview:
    language, words, profile = wanted.language, wanted.words, wanted.profile
    if wanted.selection is TermSelection.STATIC:
        if wanted.heard is not None:
            raise InvalidRequest(
                "`heard` shows which terms `selection=relevant` chooses; here it is `static`. Ask for the other.",
                param="heard",
                code="selection_is_static",
            )
        plan = state.planner.plan(snapshot, language=language, words=words, profile=profile)
        return preview_of(plan, snapshot, language)
    heard = None if wanted.heard is None else request_text(wanted.heard, param="heard")
    fixed = state.planner.plan(snapshot, language=language, words=words, profile=profile, ranked=())
    chosen = state.chooser.choose(snapshot, as_heard(heard or ""), language=language, words=words, profile=profile)
    relevance = relevance_of(fixed, snapshot, language, heard, chosen.offered)
    return preview_of(chosen.plan, snapshot, language, relevance)
