"""How many terms out of thousands come out right, and how much else changes. In: the brand sentences, the synthetic
clips and the recordings of the manifest, through the whole service. Out: a table. Run:
python benchmarks/measure_relevance.py [--sizes 1200 10000]
"""

import argparse
import asyncio
import csv
import random
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from corpus import AUDIO

from app.main import create_app
from app.settings import Settings

BRANDS = {
    "en": ("Zephyra", "Klarvio", "Nubrisk", "Quorlex", "Tavellin", "Brightomo"),
    "ko": ("누브리스크", "클라비오", "제피라", "타벨린", "브라이토모"),
    "ja": ("ヌブリスク", "クラビオ", "ゼフィラ", "タベリン", "ブライトモ"),
    "zh": ("努布里斯", "克拉维欧", "泽菲拉", "塔维林", "布莱托莫"),
}
SYLLABLES = {
    "ko": "가나다라마바사아자카타파하고노도로모보소오조코토포호구누두루무부수우주푸후기니디리미비시이지키티히스르크트",
    "ja": "アイウエオカキクケコサシスセソタトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワンガギグゲゴザジゼゾ",
    "zh": "阿布克达尔菲格哈伊杰卡拉莫纳奥帕里斯塔维沃森林德莱托欧泽努瑞玛罗科特曼宁顿丽雅诺",
}


@dataclass(frozen=True)
class Spoken:
    """A clip and the terms that are said in it; none for a recording in which nothing of the glossary is said."""

    path: Path
    language: str
    terms: tuple[str, ...]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1200, 10_000])
    parser.add_argument("--recordings", type=int, default=40, help="recordings without any term")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Settings(_env_file=None, data_dir=Path(folder), log_level="error"))
        transport = httpx.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://measure", timeout=600) as client,
        ):
            print("| clips | terms | selection | right | clips changed | decoded again |\n|---|---|---|---|---|---|")
            for size in options.sizes:
                await _measure(client, "brands", list(_brands()), _lookalikes(size))
            for language in ("ko", "ja", "zh"):
                await _measure(client, language, list(_synthetic(language)), _around(language, 1000))
            recordings = list(_recordings())[: options.recordings]
            await _measure(client, "recordings", recordings, _lookalikes(1200))


async def _measure(client: httpx.AsyncClient, name: str, spoken: Sequence[Spoken], terms: Sequence[str]) -> None:
    slug = f"{name}-{len(terms)}"
    (await client.post("/glossaries", json={"slug": slug})).raise_for_status()
    (
        await client.post(
            f"/glossaries/{slug}/terms:import", params={"format": "txt"}, content="\n".join(terms),
            headers={"Content-Type": "text/plain"},
        )
    ).raise_for_status()  # fmt: skip
    for selection in ("static", "relevant"):
        right = said = changed = again = 0
        for clip in spoken:
            answer = await _transcribe(client, clip, slug, selection)
            right += sum(_folded(term) in _folded(answer["text"]) for term in clip.terms)
            said += len(clip.terms)
            windows = answer["receipt"]["relevance"]
            again += bool(windows)
            changed += any(window["changes"] for window in windows)
        print(
            f"| {len(spoken)} {name} | {len(terms):,} | {selection} | {right} of {said} | {changed} | {again} |",
            flush=True,
        )


async def _transcribe(client: httpx.AsyncClient, clip: Spoken, slug: str, selection: str) -> dict[str, Any]:
    response = await client.post(
        "/transcribe",
        files={"file": (clip.path.name, clip.path.read_bytes())},
        data={"glossary": slug, "language": clip.language, "selection": selection},
    )
    response.raise_for_status()
    answer: dict[str, Any] = response.json()
    return answer


def _brands() -> Iterator[Spoken]:
    with (AUDIO / "brands" / "manifest.tsv").open(encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            yield Spoken(AUDIO / "brands" / row["file"], row["language"], tuple(row["terms"].split(", ")))


def _synthetic(language: str) -> Iterator[Spoken]:
    for row in _manifest("synth"):
        if row["language"] == language:
            terms = tuple(brand for brand in BRANDS[language] if brand in row["transcript"])
            yield Spoken(AUDIO / row["file"], language, terms)


def _recordings() -> Iterator[Spoken]:
    for row in _manifest("real"):
        if float(row["seconds"]) < 45 and row["transcript"] and "+" not in row["language"]:
            yield Spoken(AUDIO / row["file"], row["language"], ())


def _manifest(folder: str) -> Iterator[dict[str, str]]:
    with (AUDIO / "manifest.tsv").open(encoding="utf-8") as table:
        yield from (row for row in csv.DictReader(table, delimiter="\t") if row["file"].startswith(f"{folder}/"))


def _lookalikes(size: int) -> list[str]:
    """The glossary of 1,200 and, beyond that, names put together from halves of its own."""
    base = (AUDIO / "brands" / "glossary_1200.txt").read_text(encoding="utf-8").split()
    found, dice = dict.fromkeys(base), random.Random(7)
    while len(found) < size:
        one, other = dice.choice(base), dice.choice(base)
        made = (one[: dice.randint(2, max(2, len(one) - 2))] + other[dice.randint(2, max(2, len(other) - 2)) :]).title()
        if 4 <= len(made) <= 14:
            found[made] = None
    return list(found)


def _around(language: str, size: int) -> list[str]:
    """The brands, names that share a part with one of them, and names of random syllables."""
    brands, dice = BRANDS[language], random.Random(3)
    found = dict.fromkeys(brands)
    while len(found) < size:
        made = "".join(dice.choice(SYLLABLES[language]) for _ in range(dice.randint(3, 5)))
        if dice.random() < 0.3:
            brand = dice.choice(brands)
            at = dice.randint(1, len(brand) - 1)
            made = (brand[:at] + made)[:6] if dice.random() < 0.5 else (made + brand[at:])[-6:]
        found[made] = None
    return sorted(found)


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


if __name__ == "__main__":
    asyncio.run(main())
