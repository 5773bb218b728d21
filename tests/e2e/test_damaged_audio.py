"""A slice of the damaged files: what cannot be heard is refused, and the service stands."""

from fuzz_audio import fuzz
from started_server import Server

FILES = 150


def test_damaged_files_are_heard_or_refused_and_nothing_breaks(scripted_server: Server) -> None:
    report = fuzz(scripted_server, range(FILES))
    assert report.faults == []
    assert report.answers.total() == FILES
    assert report.answers["heard"] > FILES / 4
    assert report.answers["invalid_audio"] > FILES / 10
    assert "Traceback" not in scripted_server.log.read_text()
