"""Makes app/prompt/tables/kanji.txt from Unicode's Unihan database. In: Unihan_Readings.txt. Out: a line a kanji of JIS
X 0208's first level: the kanji, its first on reading, its kun readings. Run by hand: `python -m app.prompt.build_kanji
Unihan_Readings.txt`."""

import sys
from pathlib import Path

_TABLE = Path(__file__).parent / "tables" / "kanji.txt"
# Rows of JIS X 0208 that hold the 2,965 kanji of everyday and of names, as EUC-JP's first byte.
_FIRST_LEVEL = range(0xB0, 0xD0)


def main(path: str) -> None:
    readings: dict[str, dict[str, str]] = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith("U+"):
            code, name, value = line.split("\t")
            if name in ("kJapaneseOn", "kJapaneseKun"):
                readings.setdefault(chr(int(f"0x{code[2:]}", 0)), {})[name] = value.lower()
    lines = [
        " ".join((kanji, found.get("kJapaneseOn", "-").split()[0], *found.get("kJapaneseKun", "").split()))
        for kanji, found in sorted(readings.items())
        if kanji.encode("euc_jp", errors="replace")[0] in _FIRST_LEVEL
    ]
    heading = (
        "# Kanji, on reading, kun readings. From the Unihan database, copyright Unicode, Inc., Unicode License V3."
    )
    _TABLE.write_text("\n".join([heading, *lines]) + "\n", encoding="utf-8")
    print(f"{len(lines)} kanji")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
