"""The shapes that callers rely on, for the OpenAPI document. In: a Transcript. Out: JSON. Pure; any thread."""

import math
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from app.glossary.term import TermSelection


def finite(value: float | None) -> float | None:
    """JSON has no infinity and no not-a-number: they are null."""
    return value if value is not None and math.isfinite(value) else None


Figure = Annotated[float | None, PlainSerializer(finite, return_type=float | None)]


class _Shape(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class WordShape(_Shape):
    start: float
    end: float
    word: str
    probability: Figure


class SegmentShape(_Shape):
    id: int
    start: float = Field(description="Seconds on the recording's clock.")
    end: float
    text: str
    avg_logprob: Figure
    no_speech_prob: Figure
    compression_ratio: Figure
    rung: str = Field(description="The rung of the ladder whose answer was kept.")
    words: list[WordShape] | None = Field(None, exclude_if=lambda words: words is None)


class DroppedShape(_Shape):
    text: str
    reason: str


class PromptReceiptShape(_Shape):
    sha256: str = Field(description="Name of the prompt: sha256 of its token ids in decimal, joined by commas.")
    glossary: str | None
    revision: int | None
    tokens: int
    estimated_tokens: int
    budget: int
    headroom: int
    kept: list[str]
    blocks: dict[str, int] = Field(description="Kept terms by block, in order of precedence: the first gives way last.")
    dropped: list[DroppedShape] = Field(description="The most important terms left out, at most 1,000.")
    dropped_by_reason: dict[str, int] = Field(description="All terms left out, counted.")
    stale: bool = Field(description="True when the database was away and the last glossary seen was used.")
    selection: TermSelection = Field(description="How the ranked terms were selected; see `relevance` for `relevant`.")


class OfferShape(_Shape):
    term: str
    heard: str = Field(description="The span of the first transcript that sounds like it.")
    similarity: float = Field(description="Of sounds; 1 is the same.")
    doubt: float = Field(description="Of the decoder about the span: mean negative log-probability of its tokens.")
    relevance: float = Field(description="What terms are ranked by.")
    evidence: float | None = Field(
        description="What decides: from 1.5 on the sound is likelier with the term. Null: not worth asking."
    )


class ChangeShape(_Shape):
    term: str
    heard: str = Field(description="What the first transcript said.")
    text: str = Field(description="What stands there now.")
    similarity: float
    evidence: float = Field(description="By how much the term explains the sound better than what was heard.")


class WindowSelectionShape(_Shape):
    window: int
    offered: list[OfferShape] = Field(description="The most relevant first.")
    prompt_sha256: str
    prompt_tokens: int
    changes: list[ChangeShape]


class DecodingReceiptShape(_Shape):
    fingerprint: str
    windows: int
    fallbacks: dict[str, int]
    speech_seconds: float
    covered_seconds: float
    skipped_windows: int


class ReceiptShape(_Shape):
    prompt: PromptReceiptShape
    decoding: DecodingReceiptShape
    warnings: list[str]
    relevance: list[WindowSelectionShape] = Field(description="Windows looked at again, with terms of their own.")


class TranscriptShape(_Shape):
    text: str
    language: str | None = Field(description="Whisper code; null when there is no speech.")
    duration: float
    segments: list[SegmentShape]
    receipt: ReceiptShape


class ErrorBody(BaseModel):
    message: str
    type: Literal[
        "invalid_request_error", "authentication_error", "permission_error", "rate_limit_error", "server_error"
    ]
    param: str | None
    code: str
    details: dict[str, object] | None = None


class ErrorShape(BaseModel):
    error: ErrorBody
