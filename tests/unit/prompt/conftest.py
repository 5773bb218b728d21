"""Whisper's tokenizers without Whisper: `tokenizer.json` written from the shipped merge tables and read by the library
that the decoder uses, so that counting is tested on both vocabularies and no model is needed."""

import json
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from tokenizer_files import tokenizer_json

from app.prompt.merges import Vocabulary
from app.prompt.metrics import PromptMetrics
from app.prompt.planner import PromptPlanner
from app.prompt.tokens import WhisperTokens


def _load(vocabulary: Vocabulary, folder: Path) -> WhisperTokens:
    path = folder / f"{vocabulary}.json"
    path.write_text(json.dumps(tokenizer_json(vocabulary)), encoding="utf-8")
    return WhisperTokens.from_file(path)


@pytest.fixture(scope="session")
def multilingual(tmp_path_factory: pytest.TempPathFactory) -> WhisperTokens:
    return _load(Vocabulary.MULTILINGUAL, tmp_path_factory.mktemp("tokenizers"))


@pytest.fixture(scope="session")
def english(tmp_path_factory: pytest.TempPathFactory) -> WhisperTokens:
    return _load(Vocabulary.ENGLISH, tmp_path_factory.mktemp("tokenizers"))


@pytest.fixture(scope="session")
def counters(multilingual: WhisperTokens, english: WhisperTokens) -> tuple[WhisperTokens, WhisperTokens]:
    return multilingual, english


@pytest.fixture
def metrics() -> PromptMetrics:
    return PromptMetrics(CollectorRegistry())


@pytest.fixture
def planner(multilingual: WhisperTokens, metrics: PromptMetrics) -> PromptPlanner:
    return PromptPlanner(multilingual, default_budget=223, metrics=metrics)
