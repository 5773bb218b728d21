"""The steps of one request on one screen: audio file in, transcript out. Event loop thread; decoding of audio and
voice detection run on a small thread pool, the model in its own process."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from app.audio.decoder import decode_audio
from app.audio.metrics import AudioMetrics
from app.audio.vad import speech_spans
from app.audio.waveform import Waveform, Window
from app.audio.windows import pack_windows
from app.decoding.dispatcher import Dispatcher
from app.decoding.request import ANY_LANGUAGE, DecodeOptions, PromptSet, Task, WindowResult
from app.glossary.store import GlossaryStore
from app.glossary.term import GlossarySnapshot
from app.prompt.plan import PromptPlan
from app.prompt.planner import PromptPlanner, RequestWords
from app.telemetry import StageTimer, logger
from app.transcript.transcript import Transcript, assemble, covered_seconds, prompt_receipt

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class TranscriptionJob:
    """One request. `audio`: the file, an empty path until it is on disk. `language`: Whisper code or None to detect.
    `glossary`: slug or None for no glossary. `revision`: of the glossary, None for the newest."""

    request_id: str
    audio: Path = Path()
    glossary: str | None = None
    revision: int | None = None
    language: str | None = None
    task: Task = Task.TRANSCRIBE
    word_timestamps: bool = False
    words: RequestWords = field(default_factory=RequestWords)


class TranscriptionPipeline:
    """Ties the stations together. `max_audio_seconds` bounds a recording while it is being read, `deadline_seconds`
    its decoding; None for no limit. A prompt with words of the request is kept with `store_request_words` only."""

    def __init__(
        self,
        glossaries: GlossaryStore,
        planner: PromptPlanner,
        dispatcher: Dispatcher,
        audio_metrics: AudioMetrics,
        *,
        max_audio_seconds: float,
        deadline_seconds: float | None = None,
        store_request_words: bool = False,
        audio_threads: int = 2,
    ) -> None:
        self._glossaries = glossaries
        self._planner = planner
        self._dispatcher = dispatcher
        self._metrics = audio_metrics
        self._max_audio_seconds = max_audio_seconds
        self._deadline_seconds = deadline_seconds
        self._store_request_words = store_request_words
        self._threads = ThreadPoolExecutor(audio_threads, thread_name_prefix="audio")

    async def transcribe(
        self, job: TranscriptionJob, *, on_window: Callable[[WindowResult], None] | None = None
    ) -> Transcript:
        """The whole of one request. `on_window` gets each window's result in order, as soon as it is there.

        Raises InvalidAudio, TooLarge, NotFound (glossary), PromptOverBudget, Overloaded, NotReady, DeadlineExceeded.
        Cancelling the task stops decoding within one window.
        """
        timer = StageTimer()
        with timer.stage("glossary"):
            snapshot = await self._snapshot(job)
            plans = await asyncio.to_thread(self._plan, job, snapshot)
        with timer.stage("audio"):
            waveform, windows = await asyncio.get_running_loop().run_in_executor(self._threads, self._hear, job.audio)
        with timer.stage("decoding"):
            results: list[WindowResult] = []
            async for result in self._decode(job, waveform, windows, plans):
                results.append(result)
                if on_window is not None:
                    on_window(result)
        plan = plans.get(results[0].language if results else ANY_LANGUAGE, plans[ANY_LANGUAGE])
        if snapshot is not None and (self._store_request_words or job.words == RequestWords()):
            with timer.stage("remember"):
                await self._remember(plan, snapshot)
        transcript = assemble(
            windows,
            results,
            duration=waveform.seconds,
            prompt=prompt_receipt(plan, snapshot),
            fingerprint=self._dispatcher.fingerprint,
            warnings=waveform.warnings,
        )
        self._account(transcript, results, timer)
        return transcript

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _snapshot(self, job: TranscriptionJob) -> GlossarySnapshot | None:
        if job.glossary is None:
            return None
        return await self._glossaries.snapshot(job.glossary, revision=job.revision)

    def _plan(self, job: TranscriptionJob, snapshot: GlossarySnapshot | None) -> dict[str, PromptPlan]:
        """One plan per language the answer may turn out to be in; ANY_LANGUAGE is always there."""
        if job.language is not None:
            return {ANY_LANGUAGE: self._planner.plan(snapshot, language=job.language, words=job.words)}
        languages: tuple[str | None, ...] = (None, *(snapshot.languages() if snapshot else ()))
        return {
            language or ANY_LANGUAGE: self._planner.plan(snapshot, language=language, words=job.words)
            for language in languages
        }

    def _hear(self, audio: Path) -> tuple[Waveform, tuple[Window, ...]]:
        waveform = decode_audio(audio, max_seconds=self._max_audio_seconds)
        return waveform, pack_windows(speech_spans(waveform.samples))

    async def _decode(
        self, job: TranscriptionJob, waveform: Waveform, windows: tuple[Window, ...], plans: dict[str, PromptPlan]
    ) -> AsyncIterator[WindowResult]:
        if not windows:
            return
        decoding = self._dispatcher.submit(
            job.request_id,
            [window.cut(waveform.samples) for window in windows],
            PromptSet({language: plan.ids for language, plan in plans.items()}),
            DecodeOptions(language=job.language, task=job.task, word_timestamps=job.word_timestamps),
            deadline=self._deadline_seconds,
        )
        try:
            async for result in decoding:
                yield result
        finally:
            decoding.cancel()

    async def _remember(self, plan: PromptPlan, snapshot: GlossarySnapshot) -> None:
        await self._glossaries.remember_prompt(
            sha256=plan.sha256, ids=plan.ids, text=plan.text, slug=snapshot.slug, revision=snapshot.revision
        )

    def _account(self, transcript: Transcript, results: list[WindowResult], timer: StageTimer) -> None:
        prompt, decoding = transcript.receipt.prompt, transcript.receipt.decoding
        self._metrics.observe(decoding.speech_seconds, sum(map(covered_seconds, results)))
        log.info(
            "transcribed",
            glossary_revision=prompt.revision,
            prompt_sha256=prompt.sha256,
            prompt_tokens=prompt.tokens,
            prompt_estimated_tokens=prompt.estimated_tokens,
            prompt_headroom=prompt.headroom,
            audio_seconds=transcript.duration,
            speech_seconds=decoding.speech_seconds,
            windows=decoding.windows,
            fallbacks=decoding.fallbacks,
            warnings=len(transcript.receipt.warnings),
            stage_seconds=timer.seconds,
        )
