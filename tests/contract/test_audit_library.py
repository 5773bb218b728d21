"""The bare library behind the audits' door: it takes the arguments that are passed, and cuts where the audits say."""

from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from app.audit.filler import Filler, filler, joined
from app.audit.hearing import found
from app.audit.library import Channel, Library, LibrarySettings
from app.audit.probe import Ask
from app.decoding.model_files import resolve_model

CLINIC = Path(__file__).parents[2] / "samples" / "clinic.flac"
VIDEO_ONLY = Path(__file__).parents[1] / "data" / "audio" / "video_only_no_audio.mp4"
BRANDS = ("Sonalift", "Velnora", "Zytriflex", "Qarvelle", "Brixomab")

Heard = Callable[[str], int]


@pytest.fixture(scope="module", params=list(Channel))
def channel(request: pytest.FixtureRequest) -> Channel:
    return Channel(request.param)


@pytest.fixture(scope="module")
def heard(channel: Channel) -> Heard:
    """How many of the brands come out with a prompt."""
    model = resolve_model("bundled", platformdirs.user_cache_path("lexicue"))
    library = Library(model, LibrarySettings(channel=channel, sampling=False, beam_size=1))

    def brands(prompt: str) -> int:
        answer = library.transcribe(CLINIC, Ask(prompt=prompt, language="en"))
        return sum(found(brand, answer.text) for brand in BRANDS)

    return brands


def test_each_channel_takes_a_prompt(heard: Heard) -> None:
    assert heard("") == 0
    assert heard(joined(*BRANDS)) >= 4


def test_the_channels_cut_at_opposite_ends(channel: Channel, heard: Heard) -> None:
    brands, padding = joined(*BRANDS), filler(Filler.LONG, 330)
    first, last = heard(joined(brands, padding)), heard(joined(padding, brands))
    kept, lost = (first, last) if channel is Channel.HOTWORDS else (last, first)
    assert kept >= 3
    assert lost == 0


def test_pieces_say_their_window_and_whether_it_fell_back() -> None:
    model = resolve_model("bundled", platformdirs.user_cache_path("lexicue"))
    library = Library(model, LibrarySettings(beam_size=1))
    answer = library.transcribe(CLINIC, Ask(language="en"))
    assert {(piece.window, piece.fallback) for piece in answer.pieces} == {(0, False)}
    assert answer.seconds == pytest.approx(11, abs=2)
    assert "model 905e5bf8336b" in (answer.fingerprint or "")


def test_a_glossary_is_none_of_the_library_s(tmp_path: Path) -> None:
    library = Library(resolve_model("bundled", platformdirs.user_cache_path("lexicue")), LibrarySettings())
    with pytest.raises(ValueError, match="a prompt only"):
        library.transcribe(CLINIC, Ask(glossary="clinic"))


def test_where_the_library_breaks_the_answer_says_so() -> None:
    library = Library(resolve_model("bundled", platformdirs.user_cache_path("lexicue")), LibrarySettings())
    answer = library.transcribe(VIDEO_ONLY, Ask())
    assert answer.is_fault
    assert "IndexError" in (answer.refused or "")
