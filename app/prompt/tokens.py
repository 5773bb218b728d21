"""What a text costs. In: text. Out: token ids by the model's own tokenizer, or an upper bound without one. Pure after
loading; any thread."""

from pathlib import Path
from typing import Protocol

from tokenizers import Tokenizer

from app.errors import NotReady


class TokenCounter(Protocol):
    """Exact: `encode` gives the very ids that would be sent for this text."""

    def encode(self, text: str) -> list[int]:
        """Ids of `text` as it stands, leading space included by the caller; never a control token."""
        ...


class WhisperTokens:
    """The tokenizer of a Whisper model, multilingual or English-only."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @classmethod
    def from_file(cls, path: Path) -> "WhisperTokens":
        """Load `tokenizer.json` (about 0.1 s). Raises NotReady when there is none."""
        if not path.is_file():
            raise NotReady(f"There is no tokenizer at {path}; the model folder is incomplete.", code="no_model")
        return cls(Tokenizer.from_file(str(path)))

    def encode(self, text: str) -> list[int]:
        # Control-token spellings are split so that the vocabulary's own entries for them cannot match (DESIGN fact 8).
        return [
            token
            for part in _without_control_tokens(text)
            for token in self._tokenizer.encode(part, add_special_tokens=False).ids
        ]


def estimate_tokens(text: str) -> int:
    """UTF-8 bytes of the text as sent: byte-level BPE starts with one token a byte and only ever merges, so this is
    never under the exact count."""
    return len(text.encode())


def _without_control_tokens(text: str) -> list[str]:
    return text.replace("<|", "<\0|").split("\0")
