"""The shapes of OpenAI's answers, for the OpenAPI document: after openai-python 3.57, types/audio. Pure; any thread."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from app.api.schemas import ReceiptShape


class UsageShape(BaseModel):
    type: Literal["duration"]
    seconds: float


class WarningsShape(BaseModel):
    warnings: list[str]


class OpenAITextShape(BaseModel):
    """`json`: `lexicue` is there only when there is something to warn of."""

    text: str
    usage: UsageShape
    lexicue: WarningsShape | None = None


class OpenAISegmentShape(BaseModel):
    id: int
    seek: int
    start: float
    end: float
    text: str
    tokens: list[int]
    temperature: float
    avg_logprob: float | None
    compression_ratio: float | None
    no_speech_prob: float | None


class OpenAIWordShape(BaseModel):
    word: str
    start: float
    end: float


class OpenAIVerboseShape(BaseModel):
    """`verbose_json`: segments or words or both, as `timestamp_granularities[]` says."""

    task: Literal["transcribe", "translate"]
    language: str
    duration: float
    text: str
    usage: UsageShape
    segments: list[OpenAISegmentShape] | None = None
    words: list[OpenAIWordShape] | None = None
    lexicue: ReceiptShape


class OpenAIModelShape(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "lexicue"


class OpenAIModelsShape(BaseModel):
    object: Literal["list"] = "list"
    data: list[OpenAIModelShape] = Field(description="The served name, and `whisper-1`.")


_TEXT = {"schema": {"type": "string"}}
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "model": OpenAIVerboseShape | OpenAITextShape,
        "description": "By `response_format`; a stream is server-sent events.",
        "content": {"text/plain": _TEXT, "text/vtt": _TEXT, "text/event-stream": _TEXT},
    }
}
