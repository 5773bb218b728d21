"""What the real model says of texts that a window may have been."""

from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest

from app.audio.decoder import decode_audio
from app.decoding.engine import EngineConfig
from app.decoding.model_files import resolve_model
from app.decoding.request import ANY_LANGUAGE, DecodeOptions, PromptSet, WindowRequest
from app.decoding.whisper import WhisperEngine
from app.prompt.tokens import WhisperTokens

JFK = Path(__file__).parents[1] / "data" / "audio" / "jfk.mp3"
MODEL = resolve_model("bundled", platformdirs.user_cache_path("lexicue"))
SAID = " And so my fellow Americans ask not what your country can do for you, ask what you can do for your country."


@pytest.fixture(scope="module")
def engine() -> WhisperEngine:
    return WhisperEngine(EngineConfig(model_path=MODEL))


def look(*texts: str, prompt: str = "") -> WindowRequest:
    counter = WhisperTokens.from_file(MODEL / "tokenizer.json")
    ids = tuple(counter.encode(prompt)) if prompt else ()
    return WindowRequest(
        "r",
        0,
        decode_audio(JFK, max_seconds=60).samples,
        PromptSet({ANY_LANGUAGE: ids}),
        DecodeOptions("en"),
        texts=tuple(tuple(counter.encode(text)) for text in texts),
        written=-15.0,
    )


def test_what_was_said_is_likelier_than_what_only_sounds_like_it(engine: WhisperEngine) -> None:
    (result,) = engine.decode([look(SAID, SAID.replace("Americans", "Amerigons"), SAID.replace("country", "planet"))])
    said, alike, other = result.scores
    assert said.prompted > alike.prompted > other.prompted
    assert other.alone is None  # not worth a second reading
    assert (result.segments, result.index) == ((), 0)


def test_a_prompt_makes_its_words_likelier_and_the_reading_without_it_does_not(engine: WhisperEngine) -> None:
    spelled = SAID.replace("Americans", "Amerigons")
    (plain,) = engine.decode([look(spelled, spelled)])
    (prompted,) = engine.decode([look(spelled, spelled, prompt=" Amerigons")])
    assert prompted.scores[1].prompted > plain.scores[1].prompted + 2
    assert prompted.scores[1].alone == plain.scores[1].alone


def test_a_kept_encoding_and_a_new_one_give_the_same_scores(engine: WhisperEngine) -> None:
    again = look(SAID, SAID)
    (new,) = engine.decode([again])
    engine.decode([replace(again, texts=(), followed=True)])
    (kept,) = engine.decode([again])
    assert kept.scores == new.scores
