"""Files cut anywhere are known by their containers; whole ones are not accused."""

import wave
from pathlib import Path

import pytest

from app.audio.endings import cut_short

AUDIO = Path(__file__).parents[2] / "data" / "audio"


def wav(path: Path) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(bytes(32_000))
    return path


@pytest.mark.parametrize("name", ["jfk_live_no_duration.webm", "jfk_6kbps.opus", "jfk_chained.opus", "late_63s.opus"])
def test_a_cut_at_any_place_is_seen_and_the_whole_is_not_accused(tmp_path: Path, name: str) -> None:
    content = (AUDIO / name).read_bytes()
    path = tmp_path / "upload"
    for length in range(1_000, len(content), 997):
        path.write_bytes(content[:length])
        assert cut_short(path), length
    path.write_bytes(content)
    assert not cut_short(path)


def test_a_live_recording_cut_between_two_blocks_cannot_be_told_from_a_whole_one(tmp_path: Path) -> None:
    """The one gap, kept in sight: as browsers write it, segment and cluster are left open and blocks have no number."""
    head = b"\x1aE\xdf\xa3\x80" + b"\x18S\x80g\x01" + b"\xff" * 7 + b"\x1fC\xb6u\x01" + b"\xff" * 7 + b"\xe7\x81\x00"
    block = b"\xa3\x8a" + bytes(10)
    path = tmp_path / "upload"
    path.write_bytes(head + 3 * block)
    assert not cut_short(path)
    unseen = []
    for length in range(len(head), len(head) + 2 * len(block) + 1):
        path.write_bytes((head + 3 * block)[:length])
        if not cut_short(path):
            unseen.append(length)
    assert unseen == [len(head), len(head) + len(block), len(head) + 2 * len(block)]


def test_a_wav_is_held_against_its_own_length_unless_the_recorder_left_it_open(tmp_path: Path) -> None:
    path = wav(tmp_path / "a.wav")
    whole = path.read_bytes()
    assert not cut_short(path)
    path.write_bytes(whole[:-1])
    assert cut_short(path)
    for left_open in (b"\x00" * 4, b"\xff" * 4):
        path.write_bytes(whole[:40] + left_open + whole[44:-1])
        assert not cut_short(path)


@pytest.mark.parametrize(
    ("content", "cut"),
    [
        (b"", False),
        (b"R", False),
        (b"OggS", True),
        (b"\x1aE\xdf\xa3", True),
        (b"\x1aE\xdf\xa3\x01", True),
        (b"\x1aE\xdf\xa3\x80\x00\x00", False),
        (b"RIFF\x00\x00\x00\x00WAVE", False),
    ],
)
def test_scraps_and_damage_do_no_harm(tmp_path: Path, content: bytes, cut: bool) -> None:
    path = tmp_path / "upload"
    path.write_bytes(content)
    assert cut_short(path) is cut


def test_other_containers_are_left_to_their_decoders() -> None:
    assert not cut_short(AUDIO / "jfk.mp3")
