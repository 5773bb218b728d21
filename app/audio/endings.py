"""Whether a file stops before its container says it does. In: a file on disk. Out: yes or no. Only headers are read:
what a recorder wrote about lengths and ends, no sound. Blocking; runs on the audio threads."""

import mmap
from pathlib import Path

_UNKNOWN_SIZES = {0, 0xFFFFFFFF}
_OGG_HEADER = 27
_OGG_LAST_PAGE = 0x04
_EBML, _SEGMENT, _CLUSTER = 0x1A45DFA3, 0x18538067, 0x1F43B675
_MOST_ELEMENTS = 2_000_000


def cut_short(path: Path) -> bool:
    """True when bytes are missing at the end of a WAV, Ogg, WebM or Matroska file.

    WAV: its data chunk is longer than the file (sizes that a recorder left open say nothing). Ogg: the last page is
    not whole or not marked as the last one. WebM, Matroska: the segment, or an element in one of open size, is longer
    than the file; a live recording cut exactly between two blocks looks whole. False for every other container.
    """
    if path.stat().st_size == 0:
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
            return _wav(data)
        if data[:4] == b"OggS":
            return _ogg(data)
        if data[:4] == _EBML.to_bytes(4, "big"):
            return _matroska(data)
    return False


def _wav(data: mmap.mmap) -> bool:
    at = 12
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        if data[at : at + 4] == b"data":
            return size not in _UNKNOWN_SIZES and at + 8 + size > len(data)
        at += 8 + size + size % 2
    return False


def _ogg(data: mmap.mmap) -> bool:
    """RFC 3533, section 6: the page's flags at byte 5, its number of segments at 26, their lengths after that."""
    page = data.rfind(b"OggS")
    lengths = data[page + _OGG_HEADER - 1 : page + _OGG_HEADER]
    if not lengths:
        return True
    table = data[page + _OGG_HEADER : page + _OGG_HEADER + lengths[0]]
    whole = len(table) == lengths[0] and page + _OGG_HEADER + len(table) + sum(table) <= len(data)
    return not whole or not data[page + 5] & _OGG_LAST_PAGE


def _matroska(data: mmap.mmap) -> bool:
    """RFC 8794: an element is its id, its size and its content; a size of ones only is open. Elements of open size are
    entered, the others passed over."""
    at = 0
    for _ in range(_MOST_ELEMENTS):
        if at == len(data):
            return False
        width = _width(data[at])
        if width > 4:  # no id is longer: what stands here is damaged, not missing
            return False
        identity = int.from_bytes(data[at : at + width], "big")
        at += width
        if at >= len(data):
            return True
        width = _width(data[at])
        if width > 8:  # no size is longer: as above
            return False
        if at + width > len(data):
            return True
        ones = (1 << 7 * width) - 1
        size = int.from_bytes(data[at : at + width], "big") & ones
        at += width
        if size == ones and identity in (_SEGMENT, _CLUSTER):
            continue
        if at + size > len(data):
            return True
        at += size
    return False


def _width(first: int) -> int:
    """Bytes of a number by its first one: one more than its leading zeros."""
    return 9 - first.bit_length()
