"""Faults that people reported of other systems, as inputs with the right answer: those that no other test holds.
tests/ops/test_public_reports_table.py says where each of them is held."""

import io
import wave
from typing import Any

import av
import httpx
import numpy as np
import pytest
from started_server import ROOT

AUDIO = ROOT / "tests" / "data" / "audio"
JFK = (AUDIO / "jfk.mp3").read_bytes()
ROUTES = ("/transcribe", "/v1/audio/transcriptions")


def post(client: httpx.Client, route: str, content: bytes = JFK, **fields: Any) -> httpx.Response:
    model = {"model": "whisper-1"} if route.startswith("/v1/") else {}
    return client.post(route, files={"file": ("a.mp3", content)}, data=model | fields)


def error_of(response: httpx.Response) -> tuple[int, str, str | None]:
    error = response.json()["error"]
    assert set(error) >= {"message", "type", "param", "code"}
    return response.status_code, error["code"], error["param"]


def excerpt(seconds: float, at: float = 0.4, rate: int = 16_000) -> bytes:
    """A WAV cut out of the speech."""
    with av.open(str(AUDIO / "jfk.mp3")) as source:
        resampler = av.AudioResampler(format="s16", layout="mono", rate=rate)
        frames = [made for frame in source.decode(audio=0) for made in resampler.resample(frame)]
    samples = np.concatenate([frame.to_ndarray()[0] for frame in frames])[int(at * rate) : int((at + seconds) * rate)]
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(samples.astype("<i2").tobytes())
    return file.getvalue()


def test_a_prompt_never_makes_text_vanish(client: httpx.Client) -> None:
    """a06: short clips degraded and long ones kept their last part only."""
    without = post(client, "/transcribe").json()["text"]
    biased = post(client, "/transcribe", glossary="clinic", prompt="Kubernetes, Grafana").json()["text"]
    assert len(biased) > 0.95 * len(without)
    assert biased.endswith("what you can do for your country.")


def test_a_file_with_its_index_at_the_end_is_read_and_half_of_it_refused(scripted: httpx.Client) -> None:
    """c02: from a pipe it was an empty transcript without an error."""
    file = io.BytesIO()
    with av.open(str(AUDIO / "jfk.mp3")) as source, av.open(file, "w", format="ipod") as target:
        stream = target.add_stream("aac", rate=16_000, layout="mono")
        for frame in source.decode(audio=0):
            frame.pts = None
            target.mux(stream.encode(frame))
        target.mux(stream.encode(None))
    whole = file.getvalue()
    assert whole.find(b"moov") > whole.find(b"mdat") > 0
    heard = post(scripted, "/transcribe", whole).json()
    assert heard["duration"] == pytest.approx(11.0, abs=0.1)
    assert error_of(post(scripted, "/transcribe", whole[: len(whole) // 2])) == (400, "invalid_audio", "file")


@pytest.mark.parametrize("seconds", [0.01, 0.05, 0.09])
def test_under_a_tenth_of_a_second_nothing_is_said(client: httpx.Client, seconds: float) -> None:
    """c15: 10 ms gave a paragraph."""
    answer = post(client, "/transcribe", excerpt(seconds), glossary="clinic").json()
    assert (answer["text"], answer["segments"]) == ("", [])
    assert answer["receipt"]["warnings"] == ["the recording is shorter than 0.1 s: too short for speech"]


@pytest.mark.parametrize("seconds", [0.5, 3.3])
def test_no_time_is_after_the_end_in_any_format(client: httpx.Client, seconds: float) -> None:
    """c15, g01: a clip of 0.5 s had a segment that ended at 2.0 s."""
    clip = excerpt(seconds)
    answer = post(client, "/transcribe", clip, word_timestamps="true").json()
    assert answer["duration"] == pytest.approx(seconds, abs=0.001)
    times = [time for segment in answer["segments"] for time in (segment["start"], segment["end"])]
    times += [word["end"] for segment in answer["segments"] for word in segment["words"]]
    assert all(0 <= time <= answer["duration"] for time in times)
    for form, mark in (("srt", ","), ("vtt", ".")):
        lines = post(client, "/transcribe", clip, response_format=form).text.splitlines()
        ends = [line.split(" --> ")[1] for line in lines if "-->" in line]
        assert all(end <= f"00:00:0{int(seconds)}{mark}{round(seconds * 1000) % 1000:03}" for end in ends)


def test_granularities_by_default_empty_and_without_room(scripted: httpx.Client) -> None:
    """e03: verbose_json alone was a 500."""
    route = "/v1/audio/transcriptions"
    for fields in ({}, {"timestamp_granularities[]": ""}, {"timestamp_granularities[]": "segment"}):
        answer = post(scripted, route, response_format="verbose_json", **fields).json()
        assert [segment["id"] for segment in answer["segments"]] == [0]
        assert "words" not in answer
    no_room = post(scripted, route, **{"timestamp_granularities[]": "word"})
    assert error_of(no_room) == (400, "invalid_granularity", "timestamp_granularities[]")


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("language", ["en", "EN", "english", "English", "en-US", "auto", "", " en"])
def test_a_language_is_understood_however_it_is_written(scripted: httpx.Client, route: str, language: str) -> None:
    """e06: names failed where codes worked."""
    answer = post(scripted, route, language=language, response_format="verbose_json").json()
    assert answer["language"] in ("en", "english")


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("language", ["zz", "x" * 12_000])
def test_a_language_that_is_none_is_refused_with_the_list(scripted: httpx.Client, route: str, language: str) -> None:
    response = post(scripted, route, language=language)
    assert error_of(response) == (400, "unknown_language", "language")
    assert "de, el, en, es" in response.text
    assert language not in response.text


@pytest.mark.parametrize("model", ["nope", "../../etc", "gpt-4o-transcribe", "openai/whisper-1"])
def test_a_model_that_is_not_served_is_refused_at_once(scripted: httpx.Client, model: str) -> None:
    """e07: unknown names were sent on or retried for long."""
    response = scripted.post("/v1/audio/transcriptions", files={"file": ("a.mp3", JFK)}, data={"model": model})
    assert error_of(response) == (404, "model_not_found", "model")
    assert "`whisper-1`" in response.json()["error"]["message"]
    assert model not in response.text.replace("`whisper-1`", "")


def test_a_missing_model_is_said(scripted: httpx.Client) -> None:
    response = scripted.post("/v1/audio/transcriptions", files={"file": ("a.mp3", JFK)})
    assert error_of(response) == (422, "missing_parameter", "model")
    empty = scripted.post("/v1/audio/transcriptions", files={"file": ("a.mp3", JFK)}, data={"model": ""})
    assert empty.status_code in (404, 422)


@pytest.mark.parametrize("route", ROUTES)
def test_a_prompt_of_spaces_is_none_and_controls_are_refused(scripted: httpx.Client, route: str) -> None:
    """e11, f07: a megabyte was refused in the framework's own words, NUL became a 500."""
    spaces = post(scripted, route, prompt=" \n\t ")
    assert spaces.headers["x-lexicue-prompt-tokens"] == "0"
    lines = post(scripted, route, prompt="Velnora\nKwon")
    assert int(lines.headers["x-lexicue-prompt-tokens"]) > 0
    for bad in ("a\0b", "a\x07b"):
        assert error_of(post(scripted, route, prompt=bad))[0::2] == (400, "prompt")
    assert error_of(post(scripted, route, prompt="x " * 550_000))[0] == 413
    assert error_of(post(scripted, route, prompt="Velnora " * 2_500))[0] == 400


def test_an_upload_is_judged_by_its_bytes_also_without_a_type(scripted: httpx.Client) -> None:
    """c07: a part without a Content-Type line."""
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
    answer = scripted.post(
        "/transcribe",
        content=head + JFK + b"\r\n--b--\r\n",
        headers={"Content-Type": "multipart/form-data; boundary=b"},
    )
    assert answer.json()["duration"] == pytest.approx(11.0, abs=0.01)


def test_every_scrape_has_every_request_in_it(scripted: httpx.Client) -> None:
    """d08: with several workers a scrape showed the numbers of one of them."""

    def asked() -> float:
        name = 'lexicue_requests_total{outcome="2xx",route="/livez"} '
        return next(float(line[len(name) :]) for line in scripted.get("/metrics").text.splitlines() if name in line)

    before = asked()
    for _ in range(30):
        scripted.get("/livez").raise_for_status()
    assert [asked() - before for _ in range(20)] == [30.0] * 20
