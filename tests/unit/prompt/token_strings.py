"""Strings that break token estimates: the fixtures with real counts, and classes of them for hypothesis."""

import json
from pathlib import Path

from hypothesis import strategies as st

FIXTURES = json.loads((Path(__file__).parents[2] / "data" / "tokens" / "fixtures.json").read_text(encoding="utf-8"))


def _of(*spans: tuple[int, int], most: int = 12) -> st.SearchStrategy[str]:
    characters = st.one_of(*(st.integers(first, last).map(chr) for first, last in spans))
    return st.lists(characters, min_size=1, max_size=most).map("".join)


LATIN_MIXED = _of((0x41, 0x5A), (0x61, 0x7A), (0x30, 0x39), (0x21, 0x2F))
BY_CLASS: dict[str, st.SearchStrategy[str]] = {
    "mixed script": st.lists(
        st.one_of(LATIN_MIXED, _of((0xAC00, 0xD7A3)), _of((0x400, 0x4FF)), _of((0x3040, 0x30FF)), _of((0xE01, 0xE5B))),
        min_size=2,
        max_size=4,
    ).map("".join),
    "emoji": _of((0x1F300, 0x1FAFF), (0x200D, 0x200D), (0xFE0F, 0xFE0F), (0x1F1E6, 0x1F1FF), (0x1F3FB, 0x1F3FF)),
    "jamo": _of((0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C)),
    "combining": _of((0x61, 0x7A), (0x300, 0x36F), (0x1AB0, 0x1ACE), (0x20D0, 0x20F0)),
    "right to left": _of(
        (0x5D0, 0x5EA), (0x621, 0x64A), (0x64B, 0x652), (0x6F0, 0x6F9), (0x200E, 0x200F), (0x41, 0x5A)
    ),
    "rare ideograph": _of((0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x30000, 0x3134A), (0x4E00, 0x9FFF)),
    "Hangul syllables": _of((0xAC00, 0xD7A3)),
    "upper case": _of((0x41, 0x5A), (0x410, 0x42F), (0x391, 0x3A9)),
    "digits of many scripts": _of((0x660, 0x669), (0x6F0, 0x6F9), (0x966, 0x96F), (0xFF10, 0xFF19), (0x30, 0x39)),
    "full and half width": _of((0xFF01, 0xFFEE)),
    "white space": _of(
        (0x9, 0xD), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x2000, 0x200B), (0x3000, 0x3000), (0x61, 0x63)
    ),
    "apostrophes": st.lists(st.sampled_from(["'s", "'", "'ll", "it", "'RE", " ", "’t", "x"]), min_size=1).map("".join),
    "unassigned": st.lists(
        st.sampled_from("\u0378\u1c89\ua7cb\U0001f6d8\U000105c0\U00016d40\U0003ffffa '"), min_size=1
    ).map("".join),
    "control tokens": st.lists(
        st.sampled_from(["<|endoftext|>", "<|ko|>", "<|0.00|>", "<|", "|>", "x", "  ", "Vexol"]), min_size=1
    ).map("".join),
    "anything": st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
}
ANY_TEXT = st.one_of(*BY_CLASS.values())
