"""Byte-pair encoding from packed merge tables. In: a piece of text and a vocabulary. Out: its token ids. Pure after
the table is read from the package, once per vocabulary; any thread."""

import heapq
import lzma
from array import array
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files

# Ids 0 to 255 of both vocabularies are the single bytes, the printable ones first (openai/gpt-2, encoder.py,
# bytes_to_unicode); merge number i makes id 256 + i.
_PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_BYTE_ORDER = [*_PRINTABLE, *(byte for byte in range(256) if byte not in set(_PRINTABLE))]
_BYTE_TO_ID = bytes(_BYTE_ORDER.index(byte) for byte in range(256))
_FIRST_MERGE_ID = 256

# How tokenizer files write the bytes of ids 0 to 255: printable ones as they are, the others from U+0100 on.
BYTE_ALPHABET = [*map(chr, _PRINTABLE), *(chr(256 + number) for number in range(256 - len(_PRINTABLE)))]


class Vocabulary(StrEnum):
    """The byte-level vocabularies of Whisper. OTHER is any that is neither, a fine-tuned one for example."""

    MULTILINGUAL = "multilingual"
    ENGLISH = "english"
    OTHER = "other"


KNOWN_VOCABULARIES = (Vocabulary.MULTILINGUAL, Vocabulary.ENGLISH)


def pack(merges: Sequence[tuple[int, int]]) -> bytes:
    """Merges in rank order as four planes of bytes (left low, left high, right low, right high): 200,000 bytes for
    50,000 merges, and 3 % smaller once compressed than as pairs."""
    left, right = zip(*merges, strict=True)
    return b"".join(bytes(value >> shift & 255 for value in side) for side in (left, right) for shift in (0, 8))


def packed(vocabulary: Vocabulary) -> bytes:
    """The shipped table of a known vocabulary, as `pack` made it."""
    return lzma.decompress((files("app.prompt") / "tables" / f"{vocabulary}.merges.xz").read_bytes())


@cache
def ranks(vocabulary: Vocabulary) -> dict[int, int]:
    """Id of the merged token by `left << 16 | right`. About 20 ms and 10 MB, once."""
    table = packed(vocabulary)
    count = len(table) // 4
    planes = [array("B", table[plane * count : (plane + 1) * count]) for plane in range(4)]
    return {
        (left_high << 8 | left_low) << 16 | right_high << 8 | right_low: _FIRST_MERGE_ID + rank
        for rank, (left_low, left_high, right_low, right_high) in enumerate(zip(*planes, strict=True))
    }


def encode_piece(piece: str, vocabulary: Vocabulary) -> list[int]:
    """Ids of one piece: lowest rank first, leftmost first, in O(n log n) for n bytes. Raises UnicodeEncodeError for
    a lone surrogate."""
    merged = ranks(vocabulary)
    ids = list(piece.encode().translate(_BYTE_TO_ID))
    end = len(ids)
    following, preceding = list(range(1, end + 1)), list(range(-1, end - 1))
    queue = [(rank, at) for at in range(end - 1) if (rank := merged.get(ids[at] << 16 | ids[at + 1])) is not None]
    heapq.heapify(queue)
    while queue:
        rank, at = heapq.heappop(queue)
        right = following[at]
        if ids[at] < 0 or right == end or merged.get(ids[at] << 16 | ids[right]) != rank:
            continue  # one of the two was merged with another neighbour meanwhile
        ids[at], ids[right] = rank, -1
        following[at] = after = following[right]
        if after < end:
            preceding[after] = at
            if (next_rank := merged.get(rank << 16 | ids[after])) is not None:
                heapq.heappush(queue, (next_rank, at))
        if (before := preceding[at]) >= 0 and (next_rank := merged.get(ids[before] << 16 | rank)) is not None:
            heapq.heappush(queue, (next_rank, before))
    return [token for token in ids if token >= 0]
