"""The steps of one request, with a queue that answers at once: which prompts are sent, what is waited for, what is
dropped when the client leaves."""

import asyncio
import threading
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_stations import Glossaries, Queue, pipeline
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry

from app.audio.waveform import SAMPLE_RATE, Span
from app.decoding.request import ANY_LANGUAGE
from app.errors import InvalidAudio, NotFound, PromptOverBudget
from app.pipeline import TranscriptionJob
from app.prompt.planner import RequestWords
from app.telemetry import request_facts_var
from app.tracing import open_tracing


@pytest.fixture
def clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two seconds of sound in which voice detection is told to find speech."""
    monkeypatch.setattr("app.pipeline.speech_spans", lambda samples, **_: (Span(0, 2 * SAMPLE_RATE),))
    path = tmp_path / "clip.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes((1000 * np.sin(np.arange(2 * SAMPLE_RATE) / 20)).astype("<i2").tobytes())
    return path


async def test_an_unknown_language_gets_a_prompt_for_each_that_it_may_be(clip: Path) -> None:
    queue = Queue(language="ko")
    transcript = await pipeline(queue).transcribe(TranscriptionJob("r", clip, glossary="clinic"))
    sent = {code: bytes(ids).decode() for code, ids in queue.submitted[0].prompts.by_language.items()}
    assert set(sent) == {ANY_LANGUAGE, "ko"}
    assert sent[ANY_LANGUAGE] == " Sonalift"
    assert "타벨린" in sent["ko"]
    assert set(transcript.receipt.prompt.kept) == {"Sonalift", "타벨린"}


async def test_a_given_language_gets_its_own_terms_only(clip: Path) -> None:
    queue = Queue()
    transcript = await pipeline(queue).transcribe(TranscriptionJob("r", clip, glossary="clinic", language="en"))
    assert queue.submitted[0].options.language == "en"
    assert transcript.receipt.prompt.kept == ("Sonalift",)


async def test_without_a_glossary_nothing_is_sent_and_nothing_remembered(clip: Path) -> None:
    queue, glossaries = Queue(), Glossaries()
    transcript = await pipeline(queue, glossaries).transcribe(TranscriptionJob("r", clip))
    assert queue.submitted[0].prompts.ids("en") == ()
    assert (transcript.receipt.prompt.glossary, transcript.receipt.prompt.tokens) == (None, 0)
    assert glossaries.remembered == []


async def test_the_prompt_that_was_sent_is_remembered(clip: Path) -> None:
    glossaries = Glossaries()
    transcript = await pipeline(Queue(), glossaries).transcribe(TranscriptionJob("r", clip, glossary="clinic"))
    assert [prompt["sha256"] for prompt in glossaries.remembered] == [transcript.receipt.prompt.sha256]


@pytest.mark.parametrize(("store", "kept"), [(False, 0), (True, 1)])
async def test_words_of_a_request_are_kept_only_if_a_setting_says_so(clip: Path, store: bool, kept: int) -> None:
    glossaries = Glossaries()
    job = TranscriptionJob("r", clip, glossary="clinic", words=RequestWords("Velnora"))
    transcript = await pipeline(Queue(), glossaries, store_request_words=store).transcribe(job)
    assert transcript.receipt.prompt.blocks["request"] == 1
    assert len(glossaries.remembered) == kept


async def test_only_the_prompt_that_was_sent_is_counted(clip: Path) -> None:
    """A recording of unknown language is planned for in each; one of the plans is sent."""
    registry = CollectorRegistry()
    await pipeline(Queue(language="ko"), registry=registry).transcribe(TranscriptionJob("r", clip, glossary="clinic"))
    korean = len(" 타벨린, Sonalift".encode())
    assert registry.get_sample_value("lexicue_prompt_tokens_count") == 1
    assert registry.get_sample_value("lexicue_prompt_tokens_sum") == korean
    assert registry.get_sample_value("lexicue_glossary_headroom_tokens", {"glossary": "clinic"}) == 223 - korean


async def test_words_that_do_not_fit_are_counted_as_a_refusal(clip: Path) -> None:
    registry = CollectorRegistry()
    job = TranscriptionJob("r", clip, glossary="clinic", words=RequestWords("x" * 300))
    with pytest.raises(PromptOverBudget):
        await pipeline(Queue(), registry=registry).transcribe(job)
    assert registry.get_sample_value("lexicue_prompt_refused_total") == 1
    assert registry.get_sample_value("lexicue_prompt_tokens_count") == 0


async def test_each_station_is_a_span_and_the_log_line_has_its_figures(clip: Path) -> None:
    exporter = InMemorySpanExporter()
    tracing = open_tracing(True, version="1", processor=SimpleSpanProcessor(exporter))
    facts: dict[str, Any] = {}
    token = request_facts_var.set(facts)
    transcript = await pipeline(Queue(), tracing=tracing).transcribe(TranscriptionJob("r", clip, glossary="clinic"))
    request_facts_var.reset(token)
    stations = ["glossary", "prompt", "audio", "decoding", "remember", "transcript"]
    assert [span.name for span in exporter.get_finished_spans()] == stations
    assert list(facts.pop("stage_seconds")) == stations
    assert facts == {
        "glossary_revision": 3,
        "prompt_sha256": transcript.receipt.prompt.sha256,
        "prompt_tokens": 9,
        "prompt_estimated_tokens": transcript.receipt.prompt.estimated_tokens,
        "prompt_headroom": 214,
        "audio_seconds": 2.0,
        "speech_seconds": 2.0,
        "windows": 1,
        "rungs": {"first": 1},
        "fallbacks": {},
        "warnings": 0,
    }


async def test_silence_never_reaches_the_model(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.pipeline.speech_spans", lambda samples, **_: ())
    queue = Queue()
    transcript = await pipeline(queue).transcribe(TranscriptionJob("r", clip, glossary="clinic"))
    assert queue.submitted == []
    assert (transcript.text, transcript.language, transcript.duration) == ("", None, 2.0)


async def test_a_client_that_leaves_cancels_its_work(clip: Path) -> None:
    queue = Queue(blocked=True)
    work = asyncio.create_task(pipeline(queue).transcribe(TranscriptionJob("r", clip)))
    await queue.started.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert queue.submitted[0].cancelled


async def test_a_client_that_leaves_while_its_file_is_heard_frees_the_thread(
    clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), threading.Event()

    def endless(path: Path, *, max_seconds: float, carry_on: Callable[[], None]) -> None:
        begun.set()
        try:
            while True:
                carry_on()
        finally:
            ended.set()

    monkeypatch.setattr("app.pipeline.decode_audio", endless)
    work = asyncio.create_task(pipeline(Queue()).transcribe(TranscriptionJob("r", clip)))
    await asyncio.to_thread(begun.wait)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert await asyncio.to_thread(ended.wait, 10)


async def test_bad_audio_and_unknown_glossary_are_told_apart(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "page.mp3").write_text("<html>")
    with pytest.raises(InvalidAudio):
        await pipeline(Queue()).transcribe(TranscriptionJob("r", tmp_path / "page.mp3"))
    with pytest.raises(NotFound):
        await pipeline(Queue()).transcribe(TranscriptionJob("r", clip, glossary="other"))
