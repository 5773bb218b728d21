"""What an answer depends on besides audio and prompt. In: the engine's configuration. Out: named details, and one short
name for all of them. Any thread."""

import hashlib
import json
import platform
from importlib.metadata import version

from app.audio.vad import VOICE_DETECTION
from app.decoding.engine import EngineConfig
from app.decoding.ladder import LADDER
from app.decoding.model_files import file_sha256

_LIBRARIES = ("faster-whisper", "ctranslate2", "av", "onnxruntime", "numpy", "lexicue")


def details_of(config: EngineConfig) -> dict[str, str]:
    """Of a Whisper engine: model, device, options and library versions. Reads the model file once to hash it."""
    assert config.model_path is not None  # noqa: S101 - a whisper engine always has files
    return {
        "engine": "whisper",
        "model_sha256": file_sha256(config.model_path / "model.bin"),
        "device": config.device,
        "machine": platform.machine(),
        "compute_type": config.compute_type,
        "beam_size": str(config.beam_size),
        "batch_windows": str(config.batch_windows),
        "encoder_pad_seconds": str(config.encoder_pad_seconds),
        "ladder": ">".join(rung.name for rung in LADDER),
        "voice_detection": VOICE_DETECTION,
    } | {name.replace("-", "_"): version(name) for name in _LIBRARIES}


def fingerprint_of(details: dict[str, str]) -> str:
    """The short name: 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(details, sort_keys=True).encode()).hexdigest()[:16]
