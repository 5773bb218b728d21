"""Every collected recording decodes whole: as long as its listing says, with nothing to complain of."""

import csv
from pathlib import Path

import pytest

from app.audio.decoder import decode_audio

CORPUS = Path(__file__).parents[3] / "shared" / "audio"


def test_every_listed_recording_decodes_to_its_length() -> None:
    if not CORPUS.exists():
        pytest.skip("../shared/audio is not here; a checkout with it beside runs this")
    with (CORPUS / "manifest.tsv").open() as listing:
        rows = [row for row in csv.DictReader(listing, delimiter="\t") if not row["file"].startswith("formats/")]
    assert len(rows) > 150
    for row in rows:
        waveform = decode_audio(CORPUS / row["file"], max_seconds=600)
        assert waveform.seconds == pytest.approx(float(row["seconds"]), abs=0.1), row["file"]
        assert waveform.warnings == (), row["file"]
