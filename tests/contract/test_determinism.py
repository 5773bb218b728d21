"""The contract, with the real model behind the real queue: one audio, one prompt, one transcript, whatever else the
server does."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import platformdirs
import pytest
from prometheus_client import CollectorRegistry

from app.audio.decoder import decode_audio
from app.audio.waveform import SAMPLE_RATE, Samples
from app.decoding.dispatcher import Dispatcher
from app.decoding.engine import EngineConfig
from app.decoding.metrics import DecodingMetrics
from app.decoding.model_files import resolve_model
from app.decoding.request import (
    DecodedSegment,
    DecodeOptions,
    PromptSet,
    SecondLook,
    TextScore,
    WindowResult,
)

JFK = Path(__file__).parents[1] / "data" / "audio" / "jfk.mp3"


@pytest.fixture
async def dispatcher() -> AsyncIterator[Dispatcher]:
    config = EngineConfig(model_path=resolve_model("bundled", platformdirs.user_cache_path("lexicue")), workers=2)
    dispatching = Dispatcher(config, DecodingMetrics(CollectorRegistry()), max_pending_audio_seconds=10_000)
    await dispatching.start()
    yield dispatching
    await dispatching.stop(0)


@pytest.fixture(scope="module")
def windows() -> list[Samples]:
    """Three windows of unlike lengths, language unknown: the first one decides."""
    speech = decode_audio(JFK, max_seconds=60).samples
    return [speech, speech[: 4 * SAMPLE_RATE], speech[3 * SAMPLE_RATE :]]


async def transcript(dispatcher: Dispatcher, windows: list[Samples]) -> list[tuple[DecodedSegment, ...]]:
    decoding = dispatcher.submit("r", windows, PromptSet(), DecodeOptions(word_timestamps=True))
    return [result.segments async for result in decoding]


async def test_ten_alone_and_ten_eight_at_a_time_are_one_transcript(
    dispatcher: Dispatcher, windows: list[Samples]
) -> None:
    alone = [await transcript(dispatcher, windows) for _ in range(10)]
    room = asyncio.Semaphore(8)

    async def crowded() -> list[tuple[DecodedSegment, ...]]:
        async with room:
            return await transcript(dispatcher, windows)

    together = await asyncio.gather(*(crowded() for _ in range(10)))
    assert "country" in "".join(segment.text for segment in alone[0][0])
    assert all(found == alone[0] for found in (*alone, *together))


async def test_a_killed_model_process_changes_no_answer_and_loses_none(
    dispatcher: Dispatcher, windows: list[Samples]
) -> None:
    undisturbed = await transcript(dispatcher, windows)
    fingerprint = dispatcher.fingerprint
    requests = [asyncio.create_task(transcript(dispatcher, windows)) for _ in range(6)]
    for _ in range(3):
        pid = dispatcher.worker_pids[0]
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(60):
            while dispatcher.worker_pids[0] == pid or not dispatcher.ready:  # noqa: ASYNC110 - another process changes it
                await asyncio.sleep(0.01)
    assert await asyncio.gather(*requests) == [undisturbed] * 6
    assert dispatcher.fingerprint == fingerprint
    assert dispatcher.healthy


async def test_twenty_of_forty_that_leave_cost_the_others_nothing_but_the_window_on_the_model(
    dispatcher: Dispatcher, windows: list[Samples]
) -> None:
    short = windows[1:2] * 3
    undisturbed = await transcript(dispatcher, short)
    staying = [asyncio.create_task(transcript(dispatcher, short)) for _ in range(20)]
    leaving = [dispatcher.submit("leaves", short, PromptSet(), DecodeOptions()) for _ in range(20)]
    await anext(aiter(leaving[0]))  # midway: it has its first window, the other two are still to come
    for decoding in leaving:
        decoding.cancel()
    assert dispatcher.pending_seconds <= 20 * sum(map(len, short)) / SAMPLE_RATE
    assert await asyncio.gather(*staying) == [undisturbed] * 20
    assert dispatcher.pending_seconds == 0


async def test_two_requests_of_one_id_are_each_looked_at_again_with_their_own_sound(
    dispatcher: Dispatcher, windows: list[Samples]
) -> None:
    async def looked_at_twice(part: Samples) -> tuple[TextScore, ...]:
        async def score(result: WindowResult) -> SecondLook:
            written = tuple(token for segment in result.segments for token in segment.tokens)
            return SecondLook(PromptSet(), (written, written[:-3]), -90.0)

        decoding = dispatcher.submit("one id", [part], PromptSet(), DecodeOptions("en"), follow_up=score)
        (result,) = [result async for result in decoding]
        assert result.again is not None
        assert all(score.prompted < 0 for score in result.again.scores)
        return result.again.scores

    alone = [await looked_at_twice(part) for part in windows]
    assert len(set(alone)) == len(windows)
    assert await asyncio.gather(*map(looked_at_twice, windows)) == alone
