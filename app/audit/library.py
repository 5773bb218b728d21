"""The bare library as it comes, defaults and all: the second door of faster-whisper, for audits only (docs/adr/0060).
In: audio file and words. Out: its segments. Blocking, on the caller's thread; calls may run side by side."""

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Any

from faster_whisper import BatchedInferencePipeline, WhisperModel

from app.audit.probe import Answer, Ask, Piece
from app.decoding.model_files import file_sha256


class Channel(StrEnum):
    """How a prompt reaches the library: by one of two arguments, or by the first of them on its batched class."""

    INITIAL_PROMPT = "initial_prompt"
    HOTWORDS = "hotwords"
    BATCHED = "batched"


@dataclass(frozen=True, slots=True)
class LibrarySettings:
    """What may be chosen; the defaults are the library's. `sampling` off: temperature 0 only, so no second attempt.
    `batch_size` counts on the batched class only, which knows neither conditioning nor a second attempt."""

    channel: Channel = Channel.INITIAL_PROMPT
    conditioning: bool = True
    sampling: bool = True
    batch_size: int = 8
    compute_type: str = "int8"
    device: str = "cpu"
    beam_size: int = 5

    def label(self) -> str:
        if self.channel is Channel.BATCHED:
            return f"batched, batch size {self.batch_size}, {self.compute_type}"
        conditioning = "conditioning" if self.conditioning else "no conditioning"
        return f"{conditioning}, {'sampling' if self.sampling else 'no sampling'}, {self.compute_type}"


class Library:
    """Loads the model at construction; raises what the library raises when files or device are bad."""

    def __init__(self, model_path: Path, settings: LibrarySettings, *, workers: int = 1) -> None:
        self._settings = settings
        self._model = WhisperModel(
            str(model_path), device=settings.device, compute_type=settings.compute_type, num_workers=workers
        )
        self._batched = BatchedInferencePipeline(self._model)
        model = file_sha256(model_path / "model.bin")[:12]
        self._fingerprint = (
            f"faster-whisper {version('faster-whisper')}, CTranslate2 {version('ctranslate2')}, model {model}, "
            f"{settings.device} {settings.compute_type}"
        )
        self.name = f"bare library ({settings.channel}: {settings.label()})"

    def transcribe(self, audio: Path, ask: Ask) -> Answer:
        """Where the library breaks the answer says so, as a server's would. Raises ValueError for a glossary: the
        library has none."""
        if ask.glossary is not None or ask.keywords:
            raise ValueError("the bare library takes a prompt only")
        try:
            segments, info = self._segments(audio, ask)
            pieces = tuple(_pieces(segments))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            return Answer(refused=f"{type(error).__name__}: {error}", status=500, fingerprint=self._fingerprint)
        return Answer(
            text="".join(piece.text for piece in pieces).strip(),
            pieces=pieces,
            seconds=info.duration,
            language=info.language,
            fingerprint=self._fingerprint,
        )

    def _segments(self, audio: Path, ask: Ask) -> Any:
        settings = self._settings
        prompt = ask.prompt or None
        if settings.channel is Channel.BATCHED:
            return self._batched.transcribe(
                str(audio),
                language=ask.language,
                initial_prompt=prompt,
                batch_size=settings.batch_size,
                beam_size=settings.beam_size,
            )
        words = {"hotwords": prompt} if settings.channel is Channel.HOTWORDS else {"initial_prompt": prompt}
        return self._model.transcribe(
            str(audio),
            language=ask.language,
            beam_size=settings.beam_size,
            condition_on_previous_text=settings.conditioning,
            temperature=_library_temperatures() if settings.sampling else 0.0,
            **words,
        )


def _library_temperatures() -> Any:
    return inspect.signature(WhisperModel.transcribe).parameters["temperature"].default


def _pieces(segments: Iterable[Any]) -> Iterator[Piece]:
    """A window is what shares one seek; a temperature over 0 says that its first attempt was not accepted. On the
    batched class every segment is its own window and the temperature says nothing."""
    windows: dict[int, int] = {}
    for segment in segments:
        window = windows.setdefault(segment.seek, len(windows))
        yield Piece(
            start=round(segment.start, 3),
            end=round(segment.end, 3),
            text=segment.text,
            window=window,
            fallback=bool(segment.temperature),
        )
