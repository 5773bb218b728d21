"""What every engine promises, held against the scripted one and the real model: the same window always gets the same
answer, whoever shares its batch, and every time lies inside the window."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import platformdirs
import pytest

from app.audio.decoder import decode_audio
from app.audio.waveform import SAMPLE_RATE, Samples
from app.decoding.child import build_engine
from app.decoding.engine import Engine, EngineConfig
from app.decoding.model_files import resolve_model
from app.decoding.request import ANY_LANGUAGE, DecodeOptions, PromptSet, Task, WindowRequest

JFK = Path(__file__).parents[1] / "data" / "audio" / "jfk.mp3"


@pytest.fixture(scope="module", params=["scripted", "whisper"])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "scripted":
        return build_engine(EngineConfig(kind="scripted"))
    return build_engine(EngineConfig(model_path=resolve_model("bundled", platformdirs.user_cache_path("lexicue"))))


@pytest.fixture(scope="module")
def speech() -> Samples:
    return decode_audio(JFK, max_seconds=60).samples


def window(samples: Samples, index: int = 0, *, ids: tuple[int, ...] = (), **options: object) -> WindowRequest:
    return WindowRequest("r", index, samples, PromptSet({ANY_LANGUAGE: ids}), DecodeOptions(**options))  # type: ignore[arg-type]


def test_one_result_a_window_in_order_and_the_same_as_alone(engine: Engine, speech: Samples) -> None:
    batch = [window(speech[: seconds * SAMPLE_RATE], index, language="en") for index, seconds in enumerate((4, 11, 7))]
    together = engine.decode(batch)
    assert [result.index for result in together] == [0, 1, 2]
    for request, result in zip(batch, together, strict=True):
        (alone,) = engine.decode([request])
        assert replace(alone, seconds=0) == replace(result, seconds=0)


def test_windows_of_one_length_share_a_call_and_answer_as_alone(
    engine: Engine, speech: Samples, prompt_ids: Callable[[str], tuple[int, ...]]
) -> None:
    looping = np.tile(speech[: 2 * SAMPLE_RATE], 2)  # goes further down the ladder than its neighbours
    ids = prompt_ids(" Kubernetes, Grafana")
    batch = [
        window(speech[: 4 * SAMPLE_RATE], 0, ids=ids, language="en"),
        window(looping, 1, ids=ids, language="en"),
        window(speech[4 * SAMPLE_RATE : 8 * SAMPLE_RATE], 2, ids=ids, language="de"),
        window(speech[5 * SAMPLE_RATE : 9 * SAMPLE_RATE], 3, ids=ids, language="en"),
        window(speech[: 3 * SAMPLE_RATE], 4, ids=ids, language="en"),
    ]
    for words in (False, True):
        asked = [replace(one, options=replace(one.options, word_timestamps=words)) for one in batch]
        together = engine.decode(asked)
        assert [result.index for result in together] == [0, 1, 2, 3, 4]
        for request, result in zip(asked, together, strict=True):
            (alone,) = engine.decode([request])
            assert replace(alone, seconds=0) == replace(result, seconds=0)


def test_times_lie_inside_the_window_and_in_order(engine: Engine, speech: Samples) -> None:
    for seconds in (0.5, 3.3, 11):
        samples = speech[: round(seconds * SAMPLE_RATE)]
        (result,) = engine.decode([window(samples, language="en", word_timestamps=True)])
        times = [time for segment in result.segments for time in (segment.start, segment.end)]
        assert times == sorted(times)
        assert all(0 <= time <= seconds for time in times)
        for segment in result.segments:
            for word in segment.words or ():
                assert segment.start <= word.start <= word.end <= segment.end


def test_word_times_do_not_change_the_text(engine: Engine, speech: Samples) -> None:
    texts: set[str] = set()
    for wanted in (False, True):
        (result,) = engine.decode([window(speech, language="en", word_timestamps=wanted)])
        texts.add("".join(segment.text for segment in result.segments))
    assert len(texts) == 1


def test_a_window_without_language_is_answered_with_one_that_the_engine_knows(engine: Engine, speech: Samples) -> None:
    (result,) = engine.decode([window(speech)])
    assert result.language == "en"
    assert "en" in engine.languages()
    assert 0 < result.language_probability <= 1


def test_the_longest_prompt_leaves_room_for_the_answer(engine: Engine, speech: Samples) -> None:
    (result,) = engine.decode([window(speech, ids=(8000,) * 223, language="en")])
    assert result.segments


def test_translation_is_a_task_that_works(engine: Engine, speech: Samples) -> None:
    (result,) = engine.decode([window(speech, language="en", task=Task.TRANSLATE)])
    assert result.segments


def test_the_fingerprint_is_text_and_stays(engine: Engine) -> None:
    assert engine.fingerprint() == engine.fingerprint()
    assert all(isinstance(value, str) for value in engine.fingerprint().values())


def test_silence_that_voice_detection_let_pass_gives_no_word_of_the_prompt(
    whisper: Engine, prompt_ids: Callable[[str], tuple[int, ...]]
) -> None:
    ids = prompt_ids(" Kubernetes, Grafana, Nguyen")
    for samples in (np.zeros(8 * SAMPLE_RATE, dtype=np.float32), _noise(8, level=0.003)):
        (result,) = whisper.decode([window(samples, ids=ids, language="en")])
        text = "".join(segment.text for segment in result.segments)
        assert "Kubernetes" not in text
        assert "Grafana" not in text


def test_a_window_that_may_be_decoded_again_is_answered_with_a_beam_too(speech: Samples) -> None:
    """The library gives no logits of a beam, and reading them failed every such request."""
    folder = resolve_model("bundled", platformdirs.user_cache_path("lexicue"))
    beam = build_engine(EngineConfig(model_path=folder, beam_size=5))
    (plain,) = beam.decode([window(speech, language="en")])
    (followed,) = beam.decode([replace(window(speech, language="en"), followed=True)])
    assert followed.segments == plain.segments
    assert "".join(piece.text for piece in followed.pieces) == "".join(segment.text for segment in plain.segments)
    assert all(piece.logprob < 0 for piece in followed.pieces)


@pytest.fixture(scope="module")
def whisper() -> Engine:
    return build_engine(EngineConfig(model_path=resolve_model("bundled", platformdirs.user_cache_path("lexicue"))))


@pytest.fixture(scope="module")
def prompt_ids() -> Callable[[str], tuple[int, ...]]:
    from tokenizers import Tokenizer

    folder = resolve_model("bundled", platformdirs.user_cache_path("lexicue"))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return lambda text: tuple(tokenizer.encode(text, add_special_tokens=False).ids)


def _noise(seconds: int, *, level: float) -> Samples:
    return (level * np.random.default_rng(3).standard_normal(seconds * SAMPLE_RATE)).astype(np.float32)
