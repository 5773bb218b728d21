"""Terms by relevance through HTTP with the real model: brands that stand last among a thousand are spelled right,
nothing else changes, and the answer is the same bytes alone and under load."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import httpx
import pytest
from started_server import ROOT, Server

CLINIC = ROOT / "samples" / "clinic.flac"
SUPPORT_KO = ROOT / "samples" / "support_ko.flac"
JFK = ROOT / "tests" / "data" / "audio" / "jfk.mp3"
BRANDS = ("Sonalift", "Velnora", "Qarvelle", "Zytriflex", "Brixomab", "제피라")
SYLLABLES = ("Dar", "Mun", "Kesh", "Pol", "Trin", "Gav", "Hul", "Bost", "Wick", "Jorn")
OTHERS = ["".join(parts).capitalize() for parts in product(SYLLABLES, repeat=3)]


@pytest.fixture(scope="module")
def glossary(server: Server) -> Iterator[str]:
    """A thousand names and, as the least important of them, the brands that are spoken."""
    with server.client() as client:
        client.post("/glossaries", json={"slug": "thousand", "selection": "relevant"}).raise_for_status()
        client.post(
            "/glossaries/thousand/terms:import",
            params={"format": "txt"},
            content="\n".join([*OTHERS, *BRANDS]).encode(),
            headers={"Content-Type": "text/plain"},
        ).raise_for_status()
    return "thousand"


def asked(client: httpx.Client, file: Path, **fields: str) -> httpx.Response:
    response = client.post("/transcribe", files={"file": (file.name, file.read_bytes())}, data=fields)
    assert response.status_code == 200, response.text
    return response


def test_brands_that_a_static_prompt_has_no_room_for_are_found_by_their_sound(
    client: httpx.Client, glossary: str
) -> None:
    static = asked(client, CLINIC, glossary=glossary, selection="static").json()
    relevant = asked(client, CLINIC, glossary=glossary).json()
    assert len([brand for brand in BRANDS[:5] if brand in static["text"]]) <= 1
    assert [brand for brand in BRANDS[:5] if brand not in relevant["text"]] == []
    assert relevant["receipt"]["prompt"]["selection"] == "relevant"
    changes = [change for window in relevant["receipt"]["relevance"] for change in window["changes"]]
    assert {"Sonalift", "Zytriflex", "Brixomab"} <= {change["term"] for change in changes} <= set(BRANDS)
    assert min(change["evidence"] for change in changes) >= 0
    assert all(change["heard"] and change["heard"] not in relevant["text"] for change in changes)


def test_the_language_may_be_found_on_the_way(client: httpx.Client, glossary: str) -> None:
    answer = asked(client, SUPPORT_KO, glossary=glossary).json()
    assert answer["language"] == "ko"
    assert "제피라" in answer["text"]


def test_speech_without_any_term_is_what_it_is_without_the_glossary(client: httpx.Client, glossary: str) -> None:
    without = asked(client, JFK).json()
    answer = asked(client, JFK, glossary=glossary).json()
    assert "ask not what your country can do for you" in without["text"]
    assert answer["text"] == without["text"]
    assert [window["changes"] for window in answer["receipt"]["relevance"] if window["changes"]] == []


def test_the_answer_is_the_same_bytes_alone_and_under_load(client: httpx.Client, glossary: str) -> None:
    alone = asked(client, CLINIC, glossary=glossary).content
    files = (CLINIC, JFK, CLINIC, SUPPORT_KO, CLINIC, JFK)
    with ThreadPoolExecutor(len(files)) as crowd:
        answers = list(crowd.map(lambda file: asked(client, file, glossary=glossary).content, files))
    assert [answer == alone for file, answer in zip(files, answers, strict=True) if file == CLINIC] == [True] * 3
