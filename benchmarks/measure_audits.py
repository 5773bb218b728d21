"""The audits' own proof: what they find on the bare library and on Lexicue. In: the clips beside the repository. Out:
the result of each audit, its page and journal in a folder. Run: python benchmarks/measure_audits.py

`--only truncation` and the like runs a part. Interrupted, audits go on from where they were; those of a server only
with `--url`, since one started for the run listens on another port each time.
"""

import argparse
import contextlib
import csv
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import measure_relevance as relevance

from app.cli.local_server import local_server

AUDIO = Path(__file__).parents[2] / "shared" / "audio"
BRANDS = AUDIO / "brands"
TERMS = "Sonalift, Velnora, Zytriflex, Qarvelle, Brixomab"
HARD = (
    "formats/jfk_reversed.flac",
    "formats/jfk_white_noise.opus",
    "formats/two_talkers_overlap.flac",
    "real/noise_deepfilternet_snr0_48k.flac",
    "real/noise_background_home.flac",
    "real/mix_music_speech_noise_75s.mp3",
    "real/long_ko_zeroth.m4a",
)
CLEAN = ("real/en_jfk.mp3", "real/en_ami_ES2011a.wav", "real/ja_watson_phone3_8k.flac")


def audits(server: str, out: Path) -> Iterator[tuple[str, list[str]]]:
    """Name of the folder, arguments of the command. `out`: where lists and manifests are put that are made for it."""
    truncation = ["truncation", "--audio", str(BRANDS / "windows_short.flac"), "--terms", TERMS, "--language", "en"]
    for channel in ("initial_prompt", "hotwords", "batched"):
        yield f"truncation-{channel}", [*truncation, "--library", channel]
    yield "truncation-lexicue", [*truncation, "--url", server]
    determinism = ["determinism", *(str(AUDIO / clip) for clip in (*HARD, *CLEAN)), "--runs", "3"]
    yield "determinism-defaults", [*determinism, "--library", "initial_prompt"]
    yield "determinism-settings", [
        *determinism, "--library", "initial_prompt", "--conditioning", "off", "--sampling", "both"
    ]  # fmt: skip
    yield "determinism-lexicue", [*determinism, "--url", server, "--load", "alone", "--load", "mixed"]
    numbers = [word for number in ("5", "10", "20", "40") for word in ("--number", number)]
    recall = ["recall", str(BRANDS / "manifest.tsv"), "--terms", str(BRANDS / "glossary_1200.txt")]
    yield "recall-library", [*recall, "--number", "5", "--number", "40", "--library", "initial_prompt"]
    yield "recall-lexicue", [*recall, *numbers, "--url", server]
    places = [word for each in ("prompt", "pinned", "ranked") for word in ("--placement", each)]
    positions = [word for each in ("first", "middle", "last") for word in ("--position", each)]
    yield "recall-places", [*recall, "--number", "40", "--taken", "spoken", *places, *positions, "--url", server]
    sizes = [word for size in ("40", "400", "1200", "10000") for word in ("--size", size)]
    ways = ["--selection", "static", "--selection", "relevant"]
    for language in ("en", "ko", "ja", "zh"):
        yield f"recall-sizes-{language}", ["recall", *_material(language, out), *sizes, *ways, "--url", server]


def _material(language: str, out: Path) -> list[str]:
    """A manifest of the clips in one language, and 10,000 terms that look like the brands said in them."""
    if language == "en":
        manifest, terms = BRANDS / "manifest.tsv", relevance._lookalikes(10_000)
    else:
        lines = [f"{AUDIO / file}\t{language}\t{said}\t{terms}" for file, said, terms in _synthetic(language)]
        manifest, terms = out / f"manifest_{language}.tsv", relevance._around(language, 10_000)
        out.mkdir(parents=True, exist_ok=True)
        manifest.write_text("\n".join(["file\tlanguage\ttranscript\tterms", *lines]), encoding="utf-8")
    listed = out / f"terms_{language}.txt"
    listed.write_text("\n".join(terms), encoding="utf-8")
    return [str(manifest), "--terms", str(listed)]


def _synthetic(language: str) -> Iterator[tuple[str, str, str]]:
    """File, transcript, terms of the synthetic clips in one language."""
    with (AUDIO / "manifest.tsv").open(encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if row["file"].startswith("synth/") and row["language"] == language:
                terms = ", ".join(brand for brand in relevance.BRANDS[language] if brand in row["transcript"])
                yield row["file"], row["transcript"], terms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("audits"))
    parser.add_argument("--only", default="", help="Names that begin so.")
    parser.add_argument("--url", help="A running Lexicue; one is started if not given.")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        needs_server = any("--url" in words for name, words in audits("", options.out) if name.startswith(options.only))
        server = options.url or (stack.enter_context(local_server(sample=False)) if needs_server else "")
        for name, arguments in audits(server, options.out):
            if name.startswith(options.only):
                command = [sys.executable, "-m", "app.cli.main", "audit", *arguments, "--out", str(options.out / name)]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                print(f"== {name}: exit code {done.returncode}\n{done.stdout or done.stderr}", flush=True)


if __name__ == "__main__":
    main()
