"""How many tokens a text is. In: text. Out: the model's own ids, or an upper bound that needs no model. Any thread.

The estimate merges bytes by the shipped tables, so it is the exact count wherever the cutting rule is certain, and
the number of UTF-8 bytes where it is not; no byte-level encoding has more tokens than bytes. docs/adr/0010 has the
proof.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from tokenizers import Tokenizer, models, pre_tokenizers

from app.errors import InvalidText, NotReady
from app.prompt.merges import BYTE_ALPHABET, KNOWN_VOCABULARIES, Vocabulary, encode_piece, pack, packed
from app.prompt.pieces import chunks, has_unassigned, pieces

_CACHED_CHUNKS = 16_384
_CACHED_CHUNK_CHARACTERS = 64


class TokenCounter(Protocol):
    """Ids of text: exact, never a control token."""

    def encode(self, text: str) -> list[int]:
        """Ids of exactly `text`, nothing added. Raises InvalidText for a lone surrogate."""
        ...


class WhisperTokens(TokenCounter):
    """The tokenizer of a model folder, without its control tokens: text that spells one is encoded as that text.
    `vocabulary` says which table bounds its counts."""

    def __init__(self, tokenizer: Tokenizer, vocabulary: Vocabulary) -> None:
        self._tokenizer = tokenizer
        self.vocabulary = vocabulary

    @classmethod
    def from_file(cls, path: Path) -> "WhisperTokens":
        """Read a `tokenizer.json`. Raises NotReady when it is missing or is not a byte-level one without normaliser,
        which counting by sums relies on."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            table = pack(byte_level_merges(data))
            model = data["model"]
            tokenizer = Tokenizer(models.BPE(vocab=model["vocab"], merges=[_pair(merge) for merge in model["merges"]]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NotReady(f"{path} is not a Whisper tokenizer: {error}", code="bad_tokenizer") from error
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
        known = (vocabulary for vocabulary in KNOWN_VOCABULARIES if packed(vocabulary) == table)
        return cls(tokenizer, next(known, Vocabulary.OTHER))

    def encode(self, text: str) -> list[int]:
        try:
            ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        except (TypeError, UnicodeEncodeError):  # the library says either, whichever of its versions
            raise _lone_surrogate() from None
        return ids


def byte_level_merges(tokenizer: dict[str, Any]) -> list[tuple[int, int]]:
    """The merges of a parsed `tokenizer.json` as pairs of ids, in rank order.

    Raises ValueError when something would break the counts: a normaliser, another cutting rule, ids out of order.
    """
    cutter, model = tokenizer["pre_tokenizer"], tokenizer["model"]
    if tokenizer["normalizer"] is not None or model["type"] != "BPE" or model.get("ignore_merges"):
        raise ValueError("not plain byte-pair encoding")
    if cutter["type"] != "ByteLevel" or cutter["add_prefix_space"] or not cutter.get("use_regex", True):
        raise ValueError("not the byte-level cutting rule of GPT-2")
    vocabulary = model["vocab"]
    if [vocabulary.get(byte) for byte in BYTE_ALPHABET] != list(range(256)):
        raise ValueError("the first 256 tokens are not the bytes in GPT-2's order")
    merges = []
    for number, (left, right) in enumerate(map(_pair, model["merges"]), start=256):
        if vocabulary[left + right] != number:
            raise ValueError(f"merge {number - 256} does not make token {number}")
        merges.append((vocabulary[left], vocabulary[right]))
    return merges


def estimate_tokens(text: str, vocabulary: Vocabulary | None = None) -> int:
    """Upper bound of the tokens of `" " + text.strip()`, the form in which a prompt is sent.

    Never under, for any text and both Whisper vocabularies; with `vocabulary` None it bounds the dearer of the two.
    Equal to the real count for text of assigned characters (Unicode 14) that spells no control token. Raises
    InvalidText for a lone surrogate, which no tokenizer can encode.
    """
    framed = f" {text.strip()}"
    try:
        byte_count = len(framed.encode())
    except UnicodeEncodeError:
        raise _lone_surrogate() from None
    if vocabulary is Vocabulary.OTHER or "<|" in framed:
        return byte_count
    wanted = KNOWN_VOCABULARIES if vocabulary is None else (vocabulary,)
    return max(sum(_chunk_bound(chunk, each) for chunk in chunks(framed)) for each in wanted)


def _lone_surrogate() -> InvalidText:
    return InvalidText("The text has half of a surrogate pair, which is not a character; send valid UTF-8.")


def _chunk_bound(chunk: str, vocabulary: Vocabulary) -> int:
    if len(chunk) > _CACHED_CHUNK_CHARACTERS:
        return _bound(chunk, vocabulary)
    return _short_chunk_bound(chunk, vocabulary)


def _bound(chunk: str, vocabulary: Vocabulary) -> int:
    if has_unassigned(chunk):
        return len(chunk.encode())
    return sum(len(encode_piece(piece, vocabulary)) for piece in pieces(chunk))


_short_chunk_bound = lru_cache(_CACHED_CHUNKS)(_bound)


def _pair(merge: str | list[str]) -> tuple[str, str]:
    """Older tokenizer files write a merge as one string, newer ones as a list of two."""
    left, right = merge.split(" ") if isinstance(merge, str) else merge
    return left, right
