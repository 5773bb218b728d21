"""Stations that answer at once, around a real pipeline."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry

from app.audio.metrics import AudioMetrics
from app.audio.waveform import Samples
from app.decoding.decoding import FollowUp
from app.decoding.request import DecodedSegment, DecodeOptions, Outcome, PromptSet, WindowResult
from app.errors import NotFound
from app.glossary.term import GlossarySnapshot, Placement, Term
from app.pipeline import TranscriptionPipeline
from app.prompt.metrics import PromptMetrics
from app.prompt.planner import PromptPlanner
from app.prompt.relevance_metrics import RelevanceMetrics
from app.prompt.term_indexes import TermIndexes
from app.prompt.window_terms import WindowTermsChooser
from app.second_pass import SecondPasses

CLINIC = GlossarySnapshot(
    "clinic",
    3,
    terms=(Term("Sonalift", Placement.PINNED, id=1), Term("타벨린", Placement.PINNED, language="ko", id=2)),
)


class BytesCounter:
    def encode(self, text: str) -> list[int]:
        return list(text.encode())


class Glossaries:
    def __init__(self) -> None:
        self.remembered: list[dict[str, object]] = []

    async def snapshot(self, slug: str, *, revision: int | None = None) -> GlossarySnapshot:
        if slug != CLINIC.slug:
            raise NotFound("No such glossary.", code="glossary_not_found")
        return CLINIC

    async def remember_prompt(self, **prompt: object) -> None:
        self.remembered.append(prompt)


@dataclass
class Submitted:
    prompts: PromptSet
    options: DecodeOptions
    windows: int
    language: str
    blocked: bool
    started: asyncio.Event
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True

    async def __aiter__(self) -> AsyncIterator[WindowResult]:
        self.started.set()
        if self.blocked:
            await asyncio.Event().wait()
        for index in range(self.windows):
            segment = DecodedSegment(0.0, 1.0, f" window {index}")
            yield WindowResult(index, self.language, 0.9, Outcome.DECODED, "first", segments=(segment,))


class Queue:
    fingerprint = "abc"

    def __init__(self, language: str = "en", *, blocked: bool = False) -> None:
        self.language = language
        self.blocked = blocked
        self.submitted: list[Submitted] = []
        self.started = asyncio.Event()

    def submit(
        self,
        request_id: str,
        windows: Sequence[Samples],
        prompts: PromptSet,
        options: DecodeOptions,
        *,
        deadline: float | None = None,
        follow_up: FollowUp | None = None,
    ) -> Submitted:
        self.submitted.append(Submitted(prompts, options, len(windows), self.language, self.blocked, self.started))
        return self.submitted[-1]


def pipeline(
    queue: Queue, glossaries: Glossaries | None = None, registry: CollectorRegistry | None = None, **options: Any
) -> TranscriptionPipeline:
    registry = registry or CollectorRegistry()
    planner = PromptPlanner(BytesCounter(), default_budget=223, metrics=PromptMetrics(registry))
    parts: Any = (
        glossaries or Glossaries(),
        planner,
        queue,
        AudioMetrics(registry),
        SecondPasses(WindowTermsChooser(planner, TermIndexes()), BytesCounter(), RelevanceMetrics(registry)),
    )
    return TranscriptionPipeline(*parts, max_audio_seconds=60, **options)
