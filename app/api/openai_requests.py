"""What OpenAI's clients ask for, in our terms. In: fields of their forms. Out: checked values, and warnings about what
has no effect here; the rest is refused by name. Event loop thread."""

from fastapi import Request

from app.api.clients import refuse_unknown_fields
from app.api.state import AppState
from app.decoding.languages import parse_language
from app.errors import InvalidRequest, NotFound
from app.transcript.formats import ResponseFormat

ALIAS = "whisper-1"

# What clients send for models that need it; the answer is right without, and says that it was not used.
_WITHOUT_EFFECT = {
    "include": "log-probabilities come with verbose_json, one a segment",
    "chunking_strategy": "recordings are always cut at pauses found by voice detection",
}


async def warn_or_refuse(request: Request, known: frozenset[str]) -> tuple[str, ...]:
    """A warning for each field without effect. Raises InvalidRequest for fields that are not known at all."""
    given = {name for name, _ in (await request.form()).multi_items()}
    unused = {name: reason for name in given if (reason := _WITHOUT_EFFECT.get(name.split("[")[0]))}
    await refuse_unknown_fields(request, known | unused.keys())
    return tuple(f"`{name}` has no effect here: {reason}" for name, reason in sorted(unused.items()))


def check(state: AppState, model: str, temperature: float) -> None:
    """Raises NotFound for a model that is not served, InvalidRequest for sampling."""
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


def granularities(asked: list[str], response_format: ResponseFormat) -> set[str]:
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


def spoken_language(language: str, languages: list[str]) -> tuple[str | None, tuple[str, ...]]:
    """One candidate decides; of several the language is detected, and the answer says so."""
    if code := parse_language(language):
        return code, ()
    candidates = dict.fromkeys(code for entry in languages if (code := parse_language(entry)))
    if len(candidates) > 1:
        return None, ("`languages[]`: several were given; the language was detected among all",)
    return next(iter(candidates), None), ()
