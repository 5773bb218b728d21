"""The real `openai` client, unchanged, against a started server."""

from collections.abc import Iterator

import openai
import pytest
from started_server import ROOT, Server

CLINIC = ROOT / "samples" / "clinic.flac"
JFK = ROOT / "tests" / "data" / "audio" / "jfk.mp3"
BROKEN = ROOT / "README.md"


@pytest.fixture
def client(server: Server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as connected:
        yield connected


def test_json_is_text_and_usage(client: openai.OpenAI) -> None:
    answer = client.audio.transcriptions.create(file=CLINIC, model="whisper-1", extra_body={"glossary": "clinic"})
    assert "Zytriflex" in answer.text
    assert answer.usage is not None
    assert answer.usage.type == "duration"
    assert answer.usage.seconds == pytest.approx(12.35)


def test_glossary_by_header(client: openai.OpenAI) -> None:
    answer = client.audio.transcriptions.create(
        file=CLINIC, model="whisper-1", extra_headers={"X-Lexicue-Glossary": "clinic"}
    )
    assert "Zytriflex" in answer.text


def test_prompt_and_keywords_bias_without_a_glossary(client: openai.OpenAI) -> None:
    answer = client.audio.transcriptions.create(
        file=CLINIC, model="whisper-1", keywords=["Sonalift", "Zytriflex"], prompt="Velnora, Doctor Kwon"
    )
    assert answer.text.count("Sonalift") == 2
    assert "Zytriflex" in answer.text


def test_verbose_json_has_every_key_as_a_number(client: openai.OpenAI) -> None:
    answer = client.audio.transcriptions.create(file=JFK, model="whisper-1", response_format="verbose_json")
    assert answer.language == "english"
    assert isinstance(answer.duration, float)
    assert answer.segments is not None
    segment = answer.segments[0]
    assert isinstance(segment.id, int)
    assert isinstance(segment.seek, int)
    assert len(segment.tokens) > 5
    for figure in (segment.start, segment.end, segment.avg_logprob, segment.compression_ratio, segment.no_speech_prob):
        assert isinstance(figure, float)
    assert segment.temperature == 0
    assert answer.model_extra is not None
    assert answer.model_extra["lexicue"]["decoding"]["windows"] == 1


def test_words_on_request_with_the_same_text(client: openai.OpenAI) -> None:
    with_words = client.audio.transcriptions.create(
        file=JFK, model="whisper-1", response_format="verbose_json", timestamp_granularities=["word"]
    )
    plain = client.audio.transcriptions.create(file=JFK, model="whisper-1")
    assert with_words.text == plain.text
    assert with_words.words is not None
    assert [word.word for word in with_words.words[:3]] == ["And", "so", "my"]
    times = [time for word in with_words.words for time in (word.start, word.end)]
    assert times == sorted(times)
    assert times[-1] <= with_words.duration


def test_text_srt_and_vtt(client: openai.OpenAI) -> None:
    text = client.audio.transcriptions.create(file=JFK, model="whisper-1", response_format="text")
    srt = client.audio.transcriptions.create(file=JFK, model="whisper-1", response_format="srt")
    vtt = client.audio.transcriptions.with_raw_response.create(file=JFK, model="whisper-1", response_format="vtt")
    assert "fellow Americans" in text
    assert srt.startswith("1\n00:00:00,")
    assert vtt.text.startswith("WEBVTT\n\n00:00:00.")
    assert vtt.headers["content-type"] == "text/vtt; charset=utf-8"
    assert len(vtt.headers["x-lexicue-prompt-sha256"]) == 64


def test_streaming_grows_to_the_whole_text(client: openai.OpenAI) -> None:
    late = ROOT / "tests" / "data" / "audio" / "late_63s.opus"
    events = list(
        client.audio.transcriptions.create(file=late, model="whisper-1", stream=True, extra_body={"glossary": "clinic"})
    )
    deltas = [event.delta for event in events if event.type == "transcript.text.delta"]
    assert events[-1].type == "transcript.text.done"
    assert len(deltas) == 3
    assert "".join(deltas) == events[-1].text
    assert "Zytriflex" in events[-1].text


@pytest.mark.filterwarnings("ignore:deprecated:DeprecationWarning")  # the client marks its whole route so
def test_translation(client: openai.OpenAI) -> None:
    korean = ROOT / "samples" / "support_ko.flac"
    answer = client.audio.translations.create(file=korean, model="whisper-1")
    assert "camera" in answer.text.lower()


def test_models_lists_the_served_name_and_the_alias(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["bundled", "whisper-1"]


def test_errors_are_the_clients_own_classes(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as unknown:
        client.audio.transcriptions.create(file=JFK, model="nope")
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as hot:
        client.audio.transcriptions.create(file=JFK, model="whisper-1", temperature=0.4)
    assert (hot.value.code, hot.value.param) == ("temperature_not_supported", "temperature")
    with pytest.raises(openai.BadRequestError) as broken:
        client.audio.transcriptions.create(file=BROKEN, model="whisper-1")
    assert broken.value.code == "invalid_audio"
    with pytest.raises(openai.BadRequestError) as seeded:
        client.audio.transcriptions.create(file=JFK, model="whisper-1", extra_body={"seed": "1"})
    assert seeded.value.param == "seed"
    with pytest.raises(openai.BadRequestError) as streamed:
        client.audio.transcriptions.create(file=BROKEN, model="whisper-1", stream=True)
    assert streamed.value.code == "invalid_audio"
    with pytest.raises(openai.UnprocessableEntityError):
        client.audio.transcriptions.create(file=JFK, model="whisper-1", response_format="banana")  # type: ignore[call-overload]
