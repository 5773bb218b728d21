"""What an audit asks of a transcriber and what it hears back. In: words for the prompt. Out: text, timed pieces, or a
refusal; each of them as JSON for the journal. Pure; any thread."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, apart from its audio. `prompt`: text of the request, sent as it stands. `keywords`: terms of the
    request, most important first. `glossary`, `revision`, `selection`: understood by Lexicue only."""

    prompt: str = ""
    keywords: tuple[str, ...] = ()
    glossary: str | None = None
    revision: int | None = None
    selection: str | None = None
    language: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Without what is not given, so that a field more does not turn an old journal into another audit."""
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment: seconds on the recording's clock. `window` numbers what was decoded in one go; `fallback`: its first
    attempt was not accepted."""

    start: float
    end: float
    text: str
    window: int = 0
    fallback: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `refused`: status and reason when nothing was transcribed, else None. `seconds`: length of the
    recording, 0 if it was not told. `fingerprint` and `prompt` (its sha256): None where the transcriber has none.
    `receipt`: Lexicue's, as JSON."""

    text: str = ""
    pieces: tuple[Piece, ...] = ()
    seconds: float = 0.0
    language: str | None = None
    refused: str | None = None
    status: int = 200
    fingerprint: str | None = None
    prompt: str | None = None
    receipt: dict[str, Any] | None = None

    @property
    def is_fault(self) -> bool:
        """The transcriber broke, where it should have answered or refused."""
        return self.status >= 500

    @property
    def timed(self) -> tuple[Piece, ...]:
        """The pieces; of an answer that has none, its text as one."""
        if self.pieces or not self.text:
            return self.pieces
        return (Piece(0.0, self.seconds, self.text),)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Answer":
        return cls(**{**data, "pieces": tuple(Piece(**piece) for piece in data["pieces"])})
