"""The seam between queue and model. In: a configuration that can cross to a child process. Out: an engine that
answers batches. Built and run inside the worker process."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from app.decoding.request import WindowRequest, WindowResult


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """`workers`: batches decoded side by side, one thread each on a CPU; `spare_workers`: threads beyond those, for a
    request that would else wait while one other holds all of them. `beam_size` 1 is greedy. `batch_windows`: most
    windows in one batch, >= 1. `encoder_pad_seconds`: silence after the speech that the encoder sees, 30 for Whisper's
    full window."""

    kind: Literal["whisper", "scripted"] = "whisper"
    model_path: Path | None = None
    device: str = "cpu"
    device_index: int = 0
    compute_type: str = "int8"
    workers: int = 1
    spare_workers: int = 0
    beam_size: int = 1
    batch_windows: int = 1
    encoder_pad_seconds: float = 5.0

    @property
    def threads(self) -> int:
        """Batches that may be on the model at a time."""
        return self.workers + self.spare_workers


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a loaded engine says of itself: see `Engine`."""

    fingerprint: dict[str, str]
    languages: frozenset[str]


class Engine(Protocol):
    """Blocking and thread-safe: `config.threads` threads call `decode` at a time."""

    def fingerprint(self) -> dict[str, str]:
        """Everything that the answer depends on besides audio and prompt."""
        ...

    def languages(self) -> frozenset[str]:
        """Whisper codes of the languages that the model knows; only `en` for an English-only one."""
        ...

    def decode(self, batch: Sequence[WindowRequest]) -> list[WindowResult]:
        """One result per request, in order; the same request always gets the same result."""
        ...
