"""What selection by relevance costs. In: made-up glossaries of 1,200 to 100,000 names and 30 s of speech; the brand
clips for the model's part. Out: time to build an index, to update it and to match, and the second look over the first
decoding, in one run. Run: python benchmarks/bench_relevance.py
"""

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import platformdirs
from corpus import AUDIO
from prometheus_client import CollectorRegistry

from app.audio.decoder import decode_audio
from app.decoding.engine import EngineConfig
from app.decoding.model_files import resolve_model
from app.decoding.request import DecodeOptions, PromptSet, WindowRequest
from app.decoding.whisper import WhisperEngine
from app.glossary.term import GlossarySnapshot, Term, TermSelection
from app.prompt.metrics import PromptMetrics
from app.prompt.planner import PromptPlanner, RequestWords
from app.prompt.relevance import Piece, candidates, offered
from app.prompt.relevance_metrics import RelevanceMetrics
from app.prompt.sound_index import SoundIndex
from app.prompt.term_indexes import TermIndexes
from app.prompt.tokens import WhisperTokens
from app.prompt.window_terms import WindowTermsChooser
from app.second_pass import SecondPasses

# 30 s of speech are about 75 words; every fifth was doubted by the decoder.
SENTENCE = "We will meet the board on Monday and compare what customers said about the new supplier last month."
ROUNDS = 15
ADDED = ("Velmaris", "Quandora", "Trilobex", "Osmareth", "Dexalyn", "Brivanta", "Corvexa", "Luminara", "Stravik")
T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--matching-only", action="store_true")
    options = parser.parse_args()
    _matching()
    if not options.matching_only:
        _decoding(resolve_model(options.model, Path(platformdirs.user_cache_dir("lexicue"))))


def names(count: int) -> list[str]:
    dice = random.Random(3)
    vowels = ["a", "e", "i", "o", "u", "ay", "ee"]
    onsets = "b br c cl d f fl g gr h j k kl l m n p pr qu r s sh st t th tr v w x z".split()  # noqa: SIM905
    found: dict[str, None] = {}
    while len(found) < count:
        syllables = (dice.choice(onsets) + dice.choice(vowels) for _ in range(dice.randint(2, 4)))
        found["".join(syllables).capitalize() + dice.choice(["", "n", "x", "l", "s"])] = None
    return list(found)


def speech() -> tuple[Piece, ...]:
    words = (SENTENCE + " Please ask about Kermlift and Zent Gryamab too. " * 8).split()[:75]
    return tuple(Piece(f" {word}", -1.1 if number % 5 == 0 else -0.05) for number, word in enumerate(words))


def _matching() -> None:
    heard = speech()
    print("| terms | build s | 9 terms out, 9 in, s | match 30 s of speech, median ms | p95 ms |")
    print("|---|---|---|---|---|")
    for count in (1_200, 10_000, 100_000):
        terms = {name: (name,) for name in names(count)}
        build, index = _timed(lambda terms=terms: SoundIndex(terms))
        gone = set(list(terms)[:9])
        more = {name: ways for name, ways in terms.items() if name not in gone}
        more |= {name: (name,) for name in ADDED}
        update, _ = _timed(lambda index=index, more=more: index.updated(more))
        times = sorted(_timed(lambda index=index: offered(candidates(heard, index)))[0] for _ in range(ROUNDS))
        p95 = times[int(0.95 * len(times))]
        print(f"| {count:,} | {build:.2f} | {update:.2f} | {1000 * statistics.median(times):.1f} | {1000 * p95:.1f} |")


def _decoding(model: Path) -> None:
    """Per window of the brand clips, side by side: as static selection decodes it, with scores and a kept encoding, and
    the second look at what the glossary of 1,200 offers for it."""
    engine = WhisperEngine(EngineConfig(model_path=model))
    counter = WhisperTokens.from_file(model / "tokenizer.json")
    registry = CollectorRegistry()
    planner = PromptPlanner(counter, default_budget=223, metrics=PromptMetrics(registry))
    passes = SecondPasses(WindowTermsChooser(planner, TermIndexes()), counter, RelevanceMetrics(registry))
    texts = (AUDIO / "brands" / "glossary_1200.txt").read_text(encoding="utf-8").split()
    snapshot = GlossarySnapshot("brands", 1, terms=tuple(map(Term, texts)))
    second = passes.of(snapshot, RequestWords(), TermSelection.RELEVANT)
    assert second is not None
    spent = {"first": 0.0, "first, followed": 0.0, "second look": 0.0}
    windows, alternatives = 0, 0
    for path in sorted((AUDIO / "brands").glob("b[0-9]*.flac")):
        samples = decode_audio(path, max_seconds=60).samples
        plain = WindowRequest(path.name, 0, samples, PromptSet(), DecodeOptions("en"))
        followed = replace(plain, followed=True)
        (heard,) = engine.decode([followed])
        look = asyncio.run(second.follow_up(heard))
        if look is None:
            continue
        windows, alternatives = windows + 1, alternatives + len({offer.term for offer in second._offers[0].offered})
        again = replace(plain, texts=look.texts, written=look.written, prompts=look.prompts)
        for _ in range(2):
            for name, request in (("first", plain), ("first, followed", followed), ("second look", again)):
                spent[name] += _timed(lambda request=request: engine.decode([request]))[0]
    alone, twice = spent["first, followed"], spent["first, followed"] + spent["second look"]
    print(f"\n{windows} windows, {alternatives / windows:.1f} offers each\n")
    print("| window | time over a plain first decoding |")
    print("|---|---|")
    print(f"| no candidate: scores and a kept encoding | {alone / spent['first']:.3f} |")
    print(f"| candidates: looked at again, encoder output reused | {twice / spent['first']:.3f} |")


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    started = time.perf_counter()
    made = work()
    return time.perf_counter() - started, made


if __name__ == "__main__":
    main()
