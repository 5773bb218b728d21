"""The clips that every measurement hears, and how wrong a transcript is. In: the audio folder beside the repository.
Out: clips with windows, edit counts, bootstrap intervals. Everything is seeded; two runs print the same figures."""

import csv
import random
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz.distance import Levenshtein

from app.audio.decoder import decode_audio
from app.audio.vad import speech_spans
from app.audio.waveform import Samples
from app.audio.windows import pack_windows
from app.errors import LexicueError

AUDIO = Path(__file__).resolve().parents[2] / "shared" / "audio"
# References that a person wrote or from which the clip was spoken; the rest of the table is a model's own output.
_TRUSTED = {"human", "exact", "vendor engine output checked by its authors", "common knowledge of this file"}
_NO_SPEECH = {
    "formats/silence_30s.flac",
    "formats/pink_noise_30s.opus",
    "formats/video_silent_audio.mp4",
    "formats/jfk_phase_inverted.flac",
    "real/sil_2s.wav",
    "real/sil_leopard_empty.wav",
    "real/noise_background_home.flac",
}


@dataclass(frozen=True)
class Clip:
    """`reference` is None where nobody wrote down what is said, and empty where nobody speaks."""

    name: str
    language: str
    metric: str
    reference: str | None
    seconds: float
    windows: tuple[Samples, ...]


def clips(
    *, folders: Sequence[str] = ("real", "synth"), wanted: Callable[[str], bool] = lambda name: True
) -> list[Clip]:
    """Decoded clips of the manifest in its order; clips that cannot be decoded are left out."""
    with (AUDIO / "manifest.tsv").open(encoding="utf-8") as table:
        rows = [row for row in csv.DictReader(table, delimiter="\t") if row["file"].split("/")[0] in folders]
    found = (_clip(row) for row in rows if wanted(row["file"]))
    return [clip for clip in found if clip is not None]


def transcribed(found: Iterable[Clip]) -> list[Clip]:
    return [clip for clip in found if clip.reference]


def _clip(row: dict[str, str]) -> Clip | None:
    try:
        waveform = decode_audio(AUDIO / row["file"], max_seconds=7200)
    except LexicueError:
        return None
    spans = speech_spans(waveform.samples)
    trusted = row["ref_quality"] in _TRUSTED and "+" not in row["language"]
    reference = row["transcript"] if trusted else None
    if row["file"] in _NO_SPEECH:
        reference = ""
    return Clip(
        name=row["file"],
        language=row["language"],
        metric="CER" if row["metric"] == "CER" else "WER",
        reference=reference,
        seconds=waveform.seconds,
        windows=tuple(window.cut(waveform.samples) for window in pack_windows(spans)),
    )


@dataclass(frozen=True)
class Errors:
    edits: int
    length: int


def errors(clip: Clip, text: str) -> Errors:
    """Edits against the reference: words, or characters where words are not written apart."""
    wanted, got = (_units(part, clip.metric) for part in (clip.reference or "", text))
    return Errors(Levenshtein.distance(wanted, got), len(wanted))


def rate(counts: Sequence[Errors]) -> float:
    return sum(count.edits for count in counts) / max(1, sum(count.length for count in counts))


def interval(counts: Sequence[Errors], *, rounds: int = 2000) -> tuple[float, float]:
    """95 % bootstrap interval of the rate over clips."""
    dice = random.Random(0)
    rates = sorted(rate(dice.choices(counts, k=len(counts))) for _ in range(rounds))
    return rates[int(0.025 * rounds)], rates[int(0.975 * rounds)]


def difference(counts: Sequence[Errors], base: Sequence[Errors], *, rounds: int = 2000) -> tuple[float, float]:
    """95 % bootstrap interval of rate(counts) - rate(base), the same clips drawn for both."""
    dice = random.Random(0)
    found = []
    for _ in range(rounds):
        picked = dice.choices(range(len(counts)), k=len(counts))
        found.append(rate([counts[i] for i in picked]) - rate([base[i] for i in picked]))
    found.sort()
    return found[int(0.025 * rounds)], found[int(0.975 * rounds)]


def _units(text: str, metric: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("’", "")
    words = "".join(char if char.isalnum() or unicodedata.category(char) == "Mn" else " " for char in folded).split()
    return list("".join(words)) if metric == "CER" else words
