"""Every odd file that was collected, through the door: what is heard of it, what is said about it, or why it is
refused. The engine is scripted; decoding of audio and voice detection are real."""

from pathlib import Path

import httpx
import pytest
from started_server import ROOT

COPIED = ROOT / "tests" / "data" / "audio"
COLLECTED = ROOT.parent / "shared" / "audio" / "formats"

TOO_SHORT = "the recording is shorter than 0.1 s: too short for speech"
NO_SPEECH = {"jfk_header_says_44100.wav", "pink_noise_30s.opus", "silence_30s.flac", "video_silent_audio.mp4"}

# Seconds heard, and the warning if there is one.
HEARD: dict[str, tuple[float, str | None]] = {
    "-dash.mp3": (11.0, None),
    "jfk.ac3": (11.008, None),
    "jfk.aiff": (11.0, None),
    "jfk.caf": (11.0, None),
    "jfk.mp3": (11.0, None),
    "jfk.w64": (11.0, None),
    "jfk_11025.wav": (11.0, None),
    "jfk_24bit_96k.flac": (5.0, None),
    "jfk_48k_stereo.wav": (6.0, None),
    "jfk_5.1.wav": (3.0, None),
    "jfk_6000.wav": (11.0, None),
    "jfk_6kbps.opus": (11.0, None),
    "jfk_adpcm_ima.wav": (11.098, None),
    "jfk_alac.m4a": (11.0, None),
    "jfk_chained.opus": (22.0, None),
    "jfk_clipped.flac": (11.0, None),
    "jfk_cover_art.mp3": (11.0, None),
    "jfk_data_size_ffffffff.wav": (11.0, None),
    "jfk_data_size_zero.wav": (11.0, None),
    "jfk_fast_1.6x.flac": (6.883, None),
    "jfk_faststart.m4a": (11.008, None),
    "jfk_float32.wav": (11.0, None),
    "jfk_fragmented.m4a": (11.072, None),
    "jfk_gap35s_jfk.flac": (57.0, None),
    "jfk_garbage_prefix.mp3": (11.124, None),
    "jfk_header_says_44100.wav": (3.991, None),
    "jfk_header_says_8000.wav": (22.0, None),
    "jfk_header_says_stereo.wav": (5.5, None),
    "jfk_live_no_duration.webm": (11.004, None),
    "jfk_minus50dB.flac": (11.0, None),
    "jfk_mp3_inside.wav": (11.0, None),
    "jfk_phase_inverted.flac": (11.0, "the two channels cancel each other out; the first one was used"),
    "jfk_reversed.flac": (11.0, None),
    "jfk_rf64.wav": (11.0, None),
    "jfk_speex.ogg": (11.0, None),
    "jfk_truncated.mp3": (5.511, "the file ends early: got 5.5 s of 11.0 s"),
    "jfk_truncated.webm": (5.558, "the file ends early: got 5.6 s"),
    "jfk_vbr_noxing.mp3": (11.088, None),
    "jfk_video.mov": (11.008, None),
    "jfk_video.mp4": (11.008, None),
    "jfk_video.webm": (11.004, None),
    "jfk_vorbis.ogg": (11.0, None),
    "jfk_wav_inside.mp3": (11.0, None),
    "jfk_white_noise.opus": (11.0, None),
    "pink_noise_30s.opus": (30.0, None),
    "silence_30s.flac": (30.0, None),
    "two_talkers_overlap.flac": (11.0, None),
    "video_silent_audio.mp4": (5.056, None),
    "wav_1_sample.wav": (0.0, TOO_SHORT),
    "wav_50ms.wav": (0.05, TOO_SHORT),
    "wav_header_only_0_samples.wav": (0.0, TOO_SHORT),
}
REFUSED: dict[str, tuple[int, str]] = {
    "bomb_10h_silence.flac": (413, "audio_too_long"),
    "empty.mp3": (400, "invalid_audio"),
    "ffconcat_renamed.wav": (400, "invalid_audio"),
    "html_renamed.mp3": (400, "invalid_audio"),
    "jfk_channels_zero.wav": (400, "invalid_audio"),
    "jfk_loop_60min.opus": (413, "audio_too_long"),
    "json_renamed.m4a": (400, "invalid_audio"),
    "one_byte.wav": (400, "invalid_audio"),
    "playlist_renamed.mp3": (400, "invalid_audio"),
    "unknown_codec.mp4": (400, "invalid_audio"),
    "video_only_no_audio.mp4": (400, "no_audio_stream"),
    "zip_renamed.m4a": (400, "invalid_audio"),
}


def find(name: str) -> Path:
    for folder in (COPIED, COLLECTED):
        if (folder / name).exists():
            return folder / name
    pytest.skip(f"{name} is not here; ../shared/audio/formats beside the checkout runs this")


def post(client: httpx.Client, path: Path) -> httpx.Response:
    return client.post("/transcribe", files={"file": (path.name, path.read_bytes())})


@pytest.mark.parametrize("name", HEARD)
def test_what_is_audio_is_heard_whole_and_what_is_missing_is_said(scripted: httpx.Client, name: str) -> None:
    seconds, said = HEARD[name]
    answer = post(scripted, find(name)).raise_for_status().json()
    assert answer["duration"] == pytest.approx(seconds, abs=0.03)
    assert answer["receipt"]["warnings"] == ([said] if said else [])
    if said == TOO_SHORT or name in NO_SPEECH:
        assert (answer["text"], answer["segments"], answer["language"]) == ("", [], None)
    else:
        assert answer["text"].startswith("window 0 of ")
        assert 0 < answer["segments"][-1]["end"] <= answer["duration"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_audio_is_refused_with_its_reason(scripted: httpx.Client, name: str) -> None:
    response = post(scripted, find(name))
    assert (response.status_code, response.json()["error"]["code"]) == REFUSED[name]


def test_every_collected_file_has_its_line_here() -> None:
    if not COLLECTED.exists():
        pytest.skip("../shared/audio/formats is not here; a checkout with it beside runs this")
    assert {path.name for path in COLLECTED.iterdir()} <= HEARD.keys() | REFUSED.keys()


@pytest.mark.parametrize("name", ["녹음 1.mp3", "заметка.wav", 'a"b;c.mp3', "../../etc/passwd", ".", "x" * 300])
def test_a_name_decides_nothing(scripted: httpx.Client, name: str) -> None:
    answer = scripted.post("/transcribe", files={"file": (name, (COPIED / "jfk.mp3").read_bytes())})
    assert answer.raise_for_status().json()["duration"] == pytest.approx(11.0, abs=0.01)
