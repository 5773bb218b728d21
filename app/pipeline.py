"""The steps of one request on one screen: audio file in, transcript out. Event loop thread; decoding of audio and
voice detection run on a small thread pool, the model in its own process."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from app.audio.decoder import decode_audio
from app.audio.metrics import AudioMetrics
from app.audio.vad import speech_spans
from app.audio.waveform import Samples, Window
from app.audio.windows import pack_windows
from app.decoding.dispatcher import Dispatcher
from app.decoding.request import ANY_LANGUAGE, DecodeOptions, PromptSet, Task, WindowResult
from app.errors import LexicueError, NotFound, PromptOverBudget
from app.glossary.store import GlossaryStore
from app.glossary.term import GlossarySnapshot, TermSelection
from app.prompt.plan import PromptPlan
from app.prompt.planner import PromptPlanner, RequestWords
from app.second_pass import SecondPass, SecondPasses
from app.telemetry import StageTimer, note
from app.tracing import OFF, Tracing
from app.transcript.transcript import Transcript, assemble, covered_seconds, prompt_receipt


@dataclass(frozen=True, slots=True)
class TranscriptionJob:
    """One request. `audio`: the file, an empty path until it is on disk. `language`: Whisper code or None to detect.
    `glossary`: slug or None for no glossary. `revision`: of the glossary, None for the newest; `selection`: None for
    the glossary's own."""

    request_id: str
    audio: Path = Path()
    glossary: str | None = None
    revision: int | None = None
    language: str | None = None
    task: Task = Task.TRANSCRIBE
    word_timestamps: bool = False
    words: RequestWords = field(default_factory=RequestWords)
    selection: TermSelection | None = None


@dataclass(frozen=True, slots=True)
class _Heard:
    """What is kept of a recording while it is decoded: seconds, what could not be read, where somebody speaks."""

    seconds: float
    warnings: tuple[str, ...]
    windows: tuple[Window, ...]


class TranscriptionPipeline:
    """Ties the stations together. `max_audio_seconds` bounds a recording while it is being read, `deadline_seconds`
    its decoding; None for no limit. A prompt with words of the request is kept with `store_request_words` only.
    `audio_threads`: files heard at a time, so that a short one need not wait for two hours of another's."""

    def __init__(
        self,
        glossaries: GlossaryStore,
        planner: PromptPlanner,
        dispatcher: Dispatcher,
        audio_metrics: AudioMetrics,
        second_passes: SecondPasses,
        *,
        max_audio_seconds: float,
        deadline_seconds: float | None = None,
        store_request_words: bool = False,
        audio_threads: int = 4,
        tracing: Tracing = OFF,
    ) -> None:
        self._glossaries = glossaries
        self._planner = planner
        self._dispatcher = dispatcher
        self._metrics = audio_metrics
        self._second_passes = second_passes
        self._max_audio_seconds = max_audio_seconds
        self._deadline_seconds = deadline_seconds
        self._store_request_words = store_request_words
        self._tracing = tracing
        self._threads = ThreadPoolExecutor(audio_threads, thread_name_prefix="audio")

    async def transcribe(
        self, job: TranscriptionJob, *, on_window: Callable[[WindowResult], None] | None = None
    ) -> Transcript:
        """The whole of one request. `on_window` gets each window's result in order, as soon as it is there.

        Raises InvalidAudio, TooLarge, NotFound (glossary), PromptOverBudget, Overloaded, NotReady, DeadlineExceeded.
        Cancelling the task stops decoding within one window.
        """
        started = time.perf_counter()
        timer = StageTimer(self._tracing)
        note(stage_seconds=timer.seconds)
        with timer.stage("glossary"):
            snapshot = await self._snapshot(job)
        second_pass = self._second_passes.of(snapshot, job.words, job.selection) if snapshot is not None else None
        with timer.stage("prompt"):
            plans = await asyncio.to_thread(self._plan, job, snapshot, None if second_pass is None else ())
            plan = plans[ANY_LANGUAGE]
        with timer.stage("audio"):
            heard, samples = await self._listen(job.audio)
        with timer.stage("decoding"):
            results: list[WindowResult] = []
            async for result in self._decode(job, samples, plans, second_pass):
                if not results:
                    plan = plans.get(result.language, plan)
                    self._sent(plan, snapshot)
                results.append(result)
                if on_window is not None:
                    on_window(result)
        if snapshot is not None and (self._store_request_words or job.words == RequestWords()):
            with timer.stage("remember"):
                await self._remember(plan, snapshot)
        with timer.stage("transcript"):
            transcript = assemble(
                heard.windows,
                results,
                duration=heard.seconds,
                prompt=prompt_receipt(plan, snapshot, _selection(second_pass)),
                fingerprint=self._dispatcher.fingerprint,
                warnings=heard.warnings,
                relevance=second_pass.selections if second_pass is not None else (),
            )
        self._account(transcript, results, time.perf_counter() - started)
        return transcript

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _snapshot(self, job: TranscriptionJob) -> GlossarySnapshot | None:
        if job.glossary is None:
            return None
        try:
            return await self._glossaries.snapshot(job.glossary, revision=job.revision)
        except NotFound as error:
            if error.param == "slug":
                error.param = "glossary"  # as requests call it
            raise

    def _plan(
        self, job: TranscriptionJob, snapshot: GlossarySnapshot | None, ranked: Sequence[str] | None
    ) -> dict[str, PromptPlan]:
        """One plan per language the answer may turn out to be in; ANY_LANGUAGE is always there. `ranked`: see the
        planner."""
        languages: dict[str, str | None] = {ANY_LANGUAGE: job.language}
        if job.language is None and snapshot is not None:
            languages |= {language: language for language in snapshot.languages()}
        try:
            return {
                key: self._planner.plan(snapshot, language=language, words=job.words, ranked=ranked)
                for key, language in languages.items()
            }
        except PromptOverBudget:
            self._planner.metrics.refused()
            raise

    async def _listen(self, audio: Path) -> tuple[_Heard, list[Samples]]:
        left = threading.Event()

        def carry_on() -> None:
            if left.is_set():
                raise LexicueError("The request was cancelled.", code="cancelled")

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._hear, audio, carry_on)
        finally:
            left.set()  # a thread cannot be cancelled: it is told that nobody waits any more

    def _hear(self, audio: Path, carry_on: Callable[[], None]) -> tuple[_Heard, list[Samples]]:
        waveform = decode_audio(audio, max_seconds=self._max_audio_seconds, carry_on=carry_on)
        windows = pack_windows(speech_spans(waveform.samples, carry_on=carry_on))
        heard = _Heard(waveform.seconds, waveform.warnings, windows)
        return heard, [window.cut(waveform.samples) for window in windows]

    async def _decode(
        self,
        job: TranscriptionJob,
        samples: list[Samples],
        plans: dict[str, PromptPlan],
        second_pass: SecondPass | None,
    ) -> AsyncIterator[WindowResult]:
        if not samples:
            return
        decoding = self._dispatcher.submit(
            job.request_id,
            [samples.pop(0) for _ in range(len(samples))],  # handed over: nobody here keeps what is decoded
            PromptSet({language: plan.ids for language, plan in plans.items()}),
            DecodeOptions(language=job.language, task=job.task, word_timestamps=job.word_timestamps),
            deadline=self._deadline_seconds,
            follow_up=second_pass.follow_up if second_pass is not None else None,
        )
        try:
            async for result in decoding:
                yield second_pass.settle(result) if second_pass is not None else result
        finally:
            decoding.cancel()

    async def _remember(self, plan: PromptPlan, snapshot: GlossarySnapshot) -> None:
        await self._glossaries.remember_prompt(
            sha256=plan.sha256, ids=plan.ids, text=plan.text, slug=snapshot.slug, revision=snapshot.revision
        )

    def _sent(self, plan: PromptPlan, snapshot: GlossarySnapshot | None) -> None:
        slug, revision = (snapshot.slug, snapshot.revision) if snapshot is not None else (None, None)
        self._planner.metrics.sent(plan, glossary=slug, revision=revision)
        note(
            glossary_revision=revision,
            prompt_sha256=plan.sha256,
            prompt_tokens=plan.tokens,
            prompt_estimated_tokens=plan.estimated_tokens,
            prompt_headroom=plan.headroom,
        )

    def _account(self, transcript: Transcript, results: list[WindowResult], seconds: float) -> None:
        decoding = transcript.receipt.decoding
        self._metrics.observe(decoding.speech_seconds, sum(map(covered_seconds, results)))
        self._metrics.finished(transcript.duration, seconds)
        note(
            audio_seconds=transcript.duration,
            speech_seconds=decoding.speech_seconds,
            windows=decoding.windows,
            rungs=dict(sorted(Counter(result.rung for result in results).items())),
            fallbacks=decoding.fallbacks,
            warnings=len(transcript.receipt.warnings),
        )


def _selection(second_pass: SecondPass | None) -> TermSelection:
    return TermSelection.STATIC if second_pass is None else TermSelection.RELEVANT
