"""`/prompt/preview` and `/prompts/{sha256}`: the plan's own figures in JSON and text, and refusals in the envelope."""

from types import SimpleNamespace

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from prometheus_client import CollectorRegistry

from app.api.error_handlers import install_error_handlers
from app.api.prompt import router
from app.api.state import app_state
from app.errors import NotFound
from app.glossary.prompt_log import SentPrompt
from app.glossary.term import GlossarySnapshot, Placement, Term
from app.prompt.metrics import PromptMetrics
from app.prompt.plan import prompt_sha256
from app.prompt.planner import PromptPlanner
from app.prompt.term_indexes import TermIndexes
from app.prompt.window_terms import WindowTermsChooser

SNAPSHOT = GlossarySnapshot(
    "clinic",
    4,
    token_budget=30,
    max_terms=9,
    terms=(Term("Sonalift", Placement.PINNED), Term("Sonaline"), Term("소나", language="ko"), Term("spreader graft")),
)
SENT = SentPrompt("a" * 64, (3, 1), "Sonalift", (("clinic", 4), ("other", 2)))


class OneTokenAByte:
    def encode(self, text: str) -> list[int]:
        return list(text.encode())


class Glossaries:
    async def snapshot(self, slug: str, *, revision: int | None = None) -> GlossarySnapshot:
        if slug != "clinic" or revision not in (None, 4):
            raise NotFound("There is no such glossary.", param="glossary", code="glossary_not_found")
        return SNAPSHOT

    async def prompt(self, sha256: str) -> SentPrompt | None:
        return SENT if sha256 == SENT.sha256 else None


@pytest.fixture
def client() -> TestClient:
    planner = PromptPlanner(OneTokenAByte(), default_budget=223, metrics=PromptMetrics(CollectorRegistry()))
    app = FastAPI()
    app.include_router(router)
    install_error_handlers(app)
    app.dependency_overrides[app_state] = lambda: SimpleNamespace(
        glossaries=Glossaries(), planner=planner, chooser=WindowTermsChooser(planner, TermIndexes())
    )
    return TestClient(app, raise_server_exceptions=False)


def test_the_preview_is_the_whole_plan(client: TestClient) -> None:
    ids = list(b" Sonaline, Sonalift")
    assert client.get("/prompt/preview", params={"glossary": "clinic", "language": "English"}).json() == {
        "glossary": "clinic",
        "revision": 4,
        "language": "en",
        "selection": "static",
        "profile": "whisper",
        "overflow": "cut in silence, from one end or the other",
        "stale": False,
        "text": "Sonaline, Sonalift",
        "sha256": prompt_sha256(ids),
        "ids": ids,
        "tokens": 19,
        "estimated_tokens": 19,
        "budget": 30,
        "headroom": 11,
        "characters": 18,
        "max_characters": None,
        "max_terms": 9,
        "other_languages": {"ko": 1},
        "precedence": ["pinned", "seed", "request", "ranked"],
        "blocks": [
            {"block": "pinned", "terms": 1, "tokens": 9},
            {"block": "seed", "terms": 0, "tokens": 0},
            {"block": "request", "terms": 0, "tokens": 0},
            {"block": "ranked", "terms": 1, "tokens": 10},
        ],
        "kept": [
            {"text": "Sonaline", "block": "ranked", "position": 0, "tokens": 10},
            {"text": "Sonalift", "block": "pinned", "position": 1, "tokens": 9},
        ],
        "dropped": [{"text": "spreader graft", "block": "ranked", "tokens": 16, "reason": "over_budget"}],
        "dropped_by_reason": {"over_budget": 1},
        "confusables": [
            {"first": "Sonaline", "second": "Sonalift", "reason": "looks_alike", "similarity": 0.75},
        ],
        "relevance": None,
    }


def test_the_preview_as_text_has_a_ruler(client: TestClient) -> None:
    answer = client.get("/prompt/preview", params={"glossary": "clinic", "format": "text"})
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert "rrrrrrrrrrPPPPPPPPP...........|" in answer.text
    assert "19 of 30 tokens, headroom 11" in answer.text


def test_the_preview_keeps_the_limits_of_the_profile(client: TestClient) -> None:
    answer = client.get("/prompt/preview", params={"glossary": "clinic", "profile": "groq"}).json()
    assert (answer["profile"], answer["max_characters"]) == ("groq", 896)


def test_the_language_chooses_the_terms(client: TestClient) -> None:
    answer = client.get("/prompt/preview", params={"glossary": "clinic", "language": "ko"}).json()
    assert answer["text"] == "소나, Sonaline, Sonalift"


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"glossary": "none"}, 404, "glossary_not_found"),
        ({"glossary": "clinic", "revision": "9"}, 404, "glossary_not_found"),
        ({"glossary": "clinic", "profile": "nope"}, 400, "unknown_profile"),
        ({"glossary": "clinic", "language": "zz"}, 400, "unknown_language"),
        ({"glossary": "clinic", "format": "yaml"}, 422, "invalid_parameter"),
        ({"glossary": "clinic", "revision": "x"}, 422, "invalid_parameter"),
        ({}, 422, "missing_parameter"),
    ],
)
def test_what_cannot_be_shown_is_refused(client: TestClient, query: dict[str, str], status: int, code: str) -> None:
    answer = client.get("/prompt/preview", params=query)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_a_sent_prompt_is_found_by_its_name(client: TestClient) -> None:
    assert client.get(f"/prompts/{SENT.sha256}").json() == {
        "sha256": "a" * 64,
        "text": "Sonalift",
        "ids": [3, 1],
        "sources": [{"glossary": "clinic", "revision": 4}, {"glossary": "other", "revision": 2}],
    }


@pytest.mark.parametrize(
    ("name", "status", "code"), [("b" * 64, 404, "prompt_not_found"), ("x", 422, "invalid_parameter")]
)
def test_a_prompt_that_was_never_sent_is_not_found(client: TestClient, name: str, status: int, code: str) -> None:
    answer = client.get(f"/prompts/{name}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize(
    ("address", "param", "code"),
    [
        ("/prompt/preview?glossary=clinic&langauge=ko", "langauge", "unknown_field"),
        ("/prompt/preview?glossary=clinic&glossary=other", "glossary", "repeated_field"),
        (f"/prompts/{SENT.sha256}?format=text", "format", "unknown_field"),
    ],
)
def test_a_misspelt_or_repeated_parameter_is_named(client: TestClient, address: str, param: str, code: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 400
    assert (answer.json()["error"]["param"], answer.json()["error"]["code"]) == (param, code)


def test_several_keywords_are_no_repetition(client: TestClient) -> None:
    answer = client.get("/prompt/preview", params={"glossary": "clinic", "keywords[]": ["a", "b"]})
    assert [term["text"] for term in answer.json()["kept"] if term["block"] == "request"] == ["b", "a"]


def test_relevant_selection_shows_what_is_fixed_and_what_is_left_to_each_window(client: TestClient) -> None:
    asked = {"glossary": "clinic", "language": "en", "selection": "relevant"}
    shown = client.get("/prompt/preview", params=asked).json()
    assert (shown["selection"], shown["text"]) == ("relevant", "Sonalift")
    assert shown["dropped"] == []
    assert shown["relevance"] == {"searched": 2, "room": 21, "most_offered": 5, "heard": None, "offered": []}
    page = client.get("/prompt/preview", params=asked | {"format": "text"}).text
    assert "2 ranked terms are searched for each window; at most 5 that sound like it share 21 tokens" in page


def test_a_first_transcript_shows_the_terms_it_would_be_looked_at_again_with(client: TestClient) -> None:
    asked = {"glossary": "clinic", "language": "en", "selection": "relevant", "heard": "We use sonar line daily."}
    shown = client.get("/prompt/preview", params=asked).json()
    assert shown["text"] == "Sonaline, Sonalift"
    (offer,) = shown["relevance"]["offered"]
    assert (offer["term"], offer["heard"], offer["start"], offer["end"]) == ("Sonaline", "sonar line", 7, 17)
    assert offer["similarity"] >= 0.8
    assert shown["relevance"]["room"] == 21
    assert "sonar line -> Sonaline" in client.get("/prompt/preview", params=asked | {"format": "text"}).text
    nothing = client.get("/prompt/preview", params=asked | {"heard": "Good morning."})
    assert (nothing.json()["text"], nothing.json()["relevance"]["offered"]) == ("Sonalift", [])


def test_what_was_heard_has_no_effect_on_a_static_prompt_and_is_refused(client: TestClient) -> None:
    response = client.get("/prompt/preview", params={"glossary": "clinic", "heard": "sonar line"})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "selection_is_static"
    assert response.json()["error"]["param"] == "heard"
