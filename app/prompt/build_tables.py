"""Makes the tables in app/prompt/tables from the models' own tokenizer files. In: two tokenizer.json. Out: three
files. Run by hand: `python -m app.prompt.build_tables MULTILINGUAL.json ENGLISH.json`."""

import json
import lzma
import sys
import unicodedata
from itertools import groupby
from pathlib import Path

from tokenizers import pre_tokenizers

from app.prompt.merges import KNOWN_VOCABULARIES, pack
from app.prompt.tokens import byte_level_merges

_TABLES = Path(__file__).parent / "tables"
_SURROGATES = range(0xD800, 0xE000)


def main(paths: list[str]) -> None:
    for vocabulary, path in zip(KNOWN_VOCABULARIES, paths, strict=True):
        merges = byte_level_merges(json.loads(Path(path).read_text(encoding="utf-8")))
        table = lzma.compress(pack(merges), preset=9 | lzma.PRESET_EXTREME)
        (_TABLES / f"{vocabulary}.merges.xz").write_bytes(table)
        print(f"{vocabulary}: {len(merges)} merges, {len(table)} bytes")  # noqa: T201
    classes = _class_table()
    (_TABLES / "classes.txt").write_text(classes, encoding="ascii")
    print(f"classes: {len(classes)} bytes")  # noqa: T201


def _class_table() -> str:
    """One line a class: its name and its ranges in hexadecimal.

    `unassigned` is what this Python's Unicode has no character for. Such a code point is in no other class, though
    the tokenizer may know it already, so that the table says the same for every version of the tokenizer.
    """
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)

    def pieces(text: str) -> int:
        return len(cut.pre_tokenize_str(text))

    def name(code_point: int) -> str:
        if code_point in _SURROGATES:
            return "other"
        character = chr(code_point)
        if unicodedata.category(character) == "Cn":
            return "unassigned"
        if pieces(f"a{character}a") == 1:
            return "letter"
        if pieces(f"1{character}1") == 1:
            return "number"
        return "other" if pieces(f"!{character}{character}!") == 1 else "space"

    spans: dict[str, list[str]] = {"letter": [], "number": [], "space": [], "unassigned": []}
    for kind, run in groupby(range(sys.maxunicode + 1), key=name):
        members = list(run)
        if kind in spans:
            first, last = members[0], members[-1]
            spans[kind].append(f"{first:X}" if first == last else f"{first:X}-{last:X}")
    heading = f"# Character classes of the tokenizer's cutting rule; assigned in Unicode {unicodedata.unidata_version}."
    return "\n".join([heading, *(" ".join([kind, *ranges]) for kind, ranges in spans.items())]) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
