"""Recordings are heard on this machine and nothing is told about it: a library that would report to its maker leaves
the files of its outbox behind."""

import os
import subprocess
import sys
from pathlib import Path

_HEAR = "import numpy, app.audio.vad as vad; print(vad.speech_spans(numpy.zeros(16_000, numpy.float32)))"


def test_voice_detection_keeps_no_outbox(tmp_path: Path) -> None:
    said = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith(("ORT_", "XDG_"))}
    heard = subprocess.run(
        [sys.executable, "-c", _HEAR],
        env=said | {"HOME": str(tmp_path), "TMPDIR": str(tmp_path)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert heard.stdout == "()\n"
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == []
