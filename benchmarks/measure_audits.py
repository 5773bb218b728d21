"""The audits' own proof: what they find on the bare library and on Lexicue. In: the clips beside the repository. Out:
the result of each audit, its page and journal in a folder. Run: python benchmarks/measure_audits.py

`--only truncation` and the like runs a part. Interrupted, audits go on from where they were; those of a server only
with `--url`, since one started for the run listens on another port each time.
"""

import argparse
import contextlib
import csv
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import names

from app.cli.local_server import local_server

AUDIO = Path(__file__).resolve().parents[2] / "shared" / "audio"
BRANDS = AUDIO / "brands"
# With a prompt of names that nobody says, the first three fall back in the bare library.
HARD = (
    "real/sil_leopard_empty.wav",
    "real/yue_wyoming_light_TTS.wav",
    "real/mix_music_speech_noise_75s.mp3",
    "real/noise_background_home.flac",
    "formats/jfk_reversed.flac",
    "formats/two_talkers_overlap.flac",
)
CLEAN = ("real/en_jfk.mp3", "real/en_ami_ES2011a.wav", "real/ja_watson_phone3_8k.flac")

TRUNCATION = (
    "truncation", "--audio", str(BRANDS / "windows_short.flac"), "--language", "en",
    "--terms", "Sonalift, Velnora, Zytriflex, Qarvelle, Brixomab",
)  # fmt: skip
NAMES = ", ".join((BRANDS / "glossary_1200.txt").read_text(encoding="utf-8").split()[:40])
DETERMINISM = ("determinism", *(str(AUDIO / clip) for clip in (*HARD, *CLEAN)), "--prompt", NAMES)
RECALL = ("recall", str(BRANDS / "manifest.tsv"), "--terms", str(BRANDS / "glossary_1200.txt"))


def _each(option: str, *values: str) -> list[str]:
    return [word for value in values for word in (option, value)]


ON_THE_LIBRARY = {
    **{f"truncation-{c}": [*TRUNCATION, "--library", c] for c in ("initial_prompt", "hotwords", "batched")},
    "determinism-defaults": [*DETERMINISM, "--library", "initial_prompt", "--runs", "3"],
    "determinism-settings": [
        *DETERMINISM, "--library", "initial_prompt", "--conditioning", "off", "--sampling", "both", "--runs", "2",
    ],
    "recall-library": [*RECALL, *_each("--number", "5", "40"), "--library", "initial_prompt"],
}  # fmt: skip
ON_LEXICUE = {
    "truncation-lexicue": [*TRUNCATION],
    "determinism-lexicue": [*DETERMINISM, "--runs", "3", *_each("--load", "alone", "mixed")],
    "recall-lexicue": [*RECALL, *_each("--number", "5", "10", "20", "40")],
    "recall-places": [
        *RECALL, "--number", "40", "--taken", "spoken",
        *_each("--placement", "prompt", "pinned", "ranked"), *_each("--position", "first", "middle", "last"),
    ],
}  # fmt: skip
SIZES = [*_each("--size", "40", "400", "1200", "10000"), *_each("--selection", "static", "relevant")]


def on_lexicue(name: str, out: Path) -> list[str]:
    """Arguments of an audit; manifests and lists that are made for it lie in `out`."""
    if name in ON_LEXICUE:
        return ON_LEXICUE[name]
    language = name.rsplit("-", 1)[1]
    out.mkdir(parents=True, exist_ok=True)
    manifest, listed = BRANDS / "manifest.tsv", out / f"terms_{language}.txt"
    base = (BRANDS / "glossary_1200.txt").read_text(encoding="utf-8").split()
    if language != "en":
        manifest = out / f"manifest_{language}.tsv"
        lines = ["file\tlanguage\ttranscript\tterms", *_synthetic(language)]
        manifest.write_text("\n".join(lines), encoding="utf-8")
        dice = random.Random(3)
        base = [*names.BRANDS[language], *("".join(dice.choices(names.SYLLABLES[language], k=4)) for _ in range(400))]
        dice.shuffle(base)
    listed.write_text("\n".join(_lookalikes(base, 10_000)), encoding="utf-8")
    return ["recall", str(manifest), "--terms", str(listed), *SIZES]


def _synthetic(language: str) -> Iterator[str]:
    """The synthetic clips in one language, as lines of an audit's manifest."""
    with (AUDIO / "manifest.tsv").open(encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if row["file"].startswith("synth/") and row["language"] == language:
                terms = ", ".join(brand for brand in names.BRANDS[language] if brand in row["transcript"])
                yield f"{AUDIO / row['file']}\t{language}\t{row['transcript']}\t{terms}"


def _lookalikes(base: Sequence[str], size: int) -> list[str]:
    """The names and, beyond them, others put together from their halves."""
    found, dice = dict.fromkeys(base), random.Random(7)
    while len(found) < size:
        one, other = dice.choices(base, k=2)
        made = one[: dice.randint(1, len(one) - 1)] + other[dice.randint(1, len(other) - 1) :].lower()
        if min(map(len, base)) <= len(made) <= 14:
            found[made] = None
    return list(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("audits"))
    parser.add_argument("--only", default="", help="Names that begin so.")
    parser.add_argument("--url", help="A running Lexicue; one is started if not given.")
    options = parser.parse_args()
    sizes = [f"recall-sizes-{language}" for language in names.BRANDS]
    on_library = [name for name in ON_THE_LIBRARY if name.startswith(options.only)]
    on_server = [name for name in (*ON_LEXICUE, *sizes) if name.startswith(options.only)]
    for name in on_library:
        _audit(name, ON_THE_LIBRARY[name], options.out)
    if on_server:
        with contextlib.ExitStack() as stack:
            server = options.url or stack.enter_context(local_server(sample=False))
            for name in on_server:
                _audit(name, [*on_lexicue(name, options.out), "--url", server], options.out)


def _audit(name: str, arguments: Sequence[str], out: Path) -> None:
    command = [sys.executable, "-m", "app.cli.main", "audit", *arguments, "--out", str(out / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(f"== {name}: exit code {done.returncode}\n{done.stdout or done.stderr}", flush=True)


if __name__ == "__main__":
    main()
