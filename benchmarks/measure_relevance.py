"""How many terms out of thousands come out right, what is made up, and how much else changes. In: the brand sentences,
the synthetic clips and the recordings of the manifest, through the whole service. Out: tables. Run:
python benchmarks/measure_relevance.py [--sizes 1200 10000] [--seed 3] [--only right invented elsewhere bytes]
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
from corpus import AUDIO, Clip, clips, difference, errors, interval, rate, transcribed
from names import BRANDS, SYLLABLES

from app.main import create_app
from app.settings import Settings
from app.telemetry import configure_logging


@dataclass(frozen=True)
class Spoken:
    """A clip and the terms that are said in it."""

    path: Path
    language: str
    terms: tuple[str, ...]


class Service:
    """The whole service in this process, its model in another."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def glossary(self, slug: str, terms: Sequence[str]) -> str:
        (await self._client.post("/glossaries", json={"slug": slug})).raise_for_status()
        (
            await self._client.post(
                f"/glossaries/{slug}/terms:import",
                params={"format": "txt"},
                content="\n".join(terms),
                headers={"Content-Type": "text/plain"},
            )
        ).raise_for_status()
        return slug

    async def transcript(self, path: Path, language: str, slug: str, selection: str) -> httpx.Response:
        response = await self._client.post(
            "/transcribe",
            files={"file": (path.name, await asyncio.to_thread(path.read_bytes))},
            data={"glossary": slug, "selection": selection} | ({"language": language} if language else {}),
        )
        response.raise_for_status()
        return response


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = {"right": _right, "invented": _invented, "elsewhere": _elsewhere, "bytes": _same_bytes}
    parser.add_argument("--sizes", type=int, nargs="+", default=[1200, 10_000])
    parser.add_argument("--seed", type=int, default=3, help="of the made-up names around the Asian brands")
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts))
    options = parser.parse_args()
    configure_logging(log_format="console", level="error")
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Settings(_env_file=None, data_dir=Path(folder), log_level="error"))
        transport = httpx.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://measure", timeout=600) as client,
        ):
            for part in options.only:
                await parts[part](Service(client), options)


def _sets(options: argparse.Namespace) -> Iterator[tuple[str, list[Spoken], list[str]]]:
    for size in options.sizes:
        yield "brands", list(_brands()), _lookalikes(size)
    for language in ("ko", "ja", "zh"):
        yield language, list(_synthetic(language)), _around(language, 1000, options.seed)


async def _right(service: Service, options: argparse.Namespace) -> None:
    print(
        "| clips | terms | selection | right | clips with a term not said | decoded again |\n|---|---|---|---|---|---|"
    )
    missed: list[str] = []
    for name, spoken, terms in _sets(options):
        slug = await service.glossary(f"{name}-{len(terms)}", terms)
        for selection in ("static", "relevant"):
            right = wrong = again = 0
            for clip in spoken:
                answer = (await service.transcript(clip.path, clip.language, slug, selection)).json()
                found = [term for term in clip.terms if _folded(term) in _folded(answer["text"])]
                right += len(found)
                again += bool(answer["receipt"]["relevance"])
                wrong += bool(_taken(answer) - set(clip.terms))
                if selection == "relevant":
                    missed += [_step(term, clip, answer) for term in clip.terms if term not in found]
            said = sum(len(clip.terms) for clip in spoken)
            print(
                f"| {len(spoken)} {name} | {len(terms):,} | {selection} | {right} of {said} | {wrong} | {again} |",
                flush=True,
            )
    print("\n| missed | clip | step | heard |\n|---|---|---|---|", *missed, sep="\n", flush=True)


def _step(term: str, clip: Spoken, answer: dict[str, Any]) -> str:
    offered = [o for window in answer["receipt"]["relevance"] for o in window["offered"] if o["term"] == term]
    step = "offered, not taken" if offered else "not offered"
    return f"| {term} | {clip.path.name} | {step} | {offered[0]['heard'] if offered else answer['text']} |"


async def _invented(service: Service, options: argparse.Namespace) -> None:
    """The same clips with every spoken brand taken out of the glossary: whatever is taken was not said."""
    print("\n| clips, their brands not in the glossary | terms | clips with a term not said |\n|---|---|---|")
    for name, spoken, terms in _sets(options):
        said = {_folded(term) for clip in spoken for term in clip.terms}
        others = [term for term in terms if _folded(term) not in said]
        slug = await service.glossary(f"{name}-{len(terms)}-absent", others)
        answers = [await service.transcript(clip.path, clip.language, slug, "relevant") for clip in spoken]
        wrong = sum(bool(_taken(answer.json())) for answer in answers)
        print(f"| {len(spoken)} {name} | {len(others):,} | {wrong} |", flush=True)


async def _elsewhere(service: Service, options: argparse.Namespace) -> None:
    """Recordings and synthetic clips that say no term of this glossary: what changes, and the error rate."""
    slug = await service.glossary("elsewhere", _lookalikes(1200))
    found = [clip for clip in clips() if clip.windows]
    told = {clip.name for clip in transcribed(found)}
    changed, counts = list[str](), {"static": [], "relevant": []}
    for clip in found:
        for selection, own in counts.items():
            answer = (await service.transcript(AUDIO / clip.name, _language(clip), slug, selection)).json()
            if clip.name in told:
                own.append(errors(clip, answer["text"]))
            if any(window["changes"] for window in answer["receipt"]["relevance"]):
                changed.append(f"{clip.name}: {sorted(_taken(answer))}")
    print(f"\n{len(changed)} of {len(found)} clips that say no term changed: {'; '.join(changed)}")
    plain = await service.glossary("elsewhere-empty", [])
    none = [
        errors(clip, (await service.transcript(AUDIO / clip.name, _language(clip), plain, "static")).json()["text"])
        for clip in transcribed(found)
    ]
    print("\n| glossary | error of the clips with a reference | 95 % | over no glossary, 95 % |\n|---|---|---|---|")
    for name, own in (("none", none), *counts.items()):
        low, high = interval(own)
        under, over = difference(own, none)
        print(
            f"| {name} | {rate(own):.4f} of {len(own)} | {low:.4f} to {high:.4f} | {under:+.4f} to {over:+.4f} |",
            flush=True,
        )


async def _same_bytes(service: Service, options: argparse.Namespace) -> None:
    """Each brand clip alone, then all at once."""
    spoken = list(_brands())
    slug = await service.glossary("bytes", _lookalikes(1200))
    alone = [(await service.transcript(clip.path, clip.language, slug, "relevant")).content for clip in spoken]
    crowd = [service.transcript(clip.path, clip.language, slug, "relevant") for _ in range(3) for clip in spoken]
    together = [response.content for response in await asyncio.gather(*crowd)]
    same = sum(body == alone[number % len(alone)] for number, body in enumerate(together))
    print(f"\n{same} of {len(together)} answers under load are the bytes of the answer alone", flush=True)


def _language(clip: Clip) -> str:
    """Empty, to detect it, for two languages at once and for Cantonese, which the base model has no code for."""
    return "" if "+" in clip.language or clip.language == "yue" else clip.language


def _taken(answer: dict[str, Any]) -> set[str]:
    return {change["term"] for window in answer["receipt"]["relevance"] for change in window["changes"]}


def _brands() -> Iterator[Spoken]:
    with (AUDIO / "brands" / "manifest.tsv").open(encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            yield Spoken(AUDIO / "brands" / row["file"], row["language"], tuple(row["terms"].split(", ")))


def _synthetic(language: str) -> Iterator[Spoken]:
    for row in _manifest("synth"):
        if row["language"] == language:
            terms = tuple(brand for brand in BRANDS[language] if brand in row["transcript"])
            yield Spoken(AUDIO / row["file"], language, terms)


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


def _around(language: str, size: int, seed: int) -> list[str]:
    """The brands, names that share a part with one of them, and names of random syllables."""
    brands, dice = BRANDS[language], random.Random(seed)
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
