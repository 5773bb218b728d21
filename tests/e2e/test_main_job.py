"""The main job on real input: a started server, the real model, the real Postgres, real clips."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from started_server import ROOT

from app.prompt.plan import prompt_sha256

CLINIC = ROOT / "samples" / "clinic.flac"
SUPPORT_KO = ROOT / "samples" / "support_ko.flac"
AUDIO = ROOT / "tests" / "data" / "audio"
BRANDS = ("Sonalift", "Velnora", "Qarvelle", "Zytriflex", "Brixomab", "Doctor Kwon")


def transcribe(client: httpx.Client, file: Path, **fields: str) -> dict[str, Any]:
    response = client.post("/transcribe", files={"file": (file.name, file.read_bytes())}, data=fields)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_brands_are_wrong_without_the_glossary_and_right_with_it(client: httpx.Client) -> None:
    without = transcribe(client, CLINIC)["text"]
    with_glossary = transcribe(client, CLINIC, glossary="clinic")["text"]
    assert "Sonalift" not in without
    assert "Zytriflex" not in without
    assert [brand for brand in BRANDS if brand not in with_glossary] == []
    assert with_glossary.count("Sonalift") == 2


def test_korean_brand(client: httpx.Client) -> None:
    assert "제피라" not in transcribe(client, SUPPORT_KO)["text"]
    answer = transcribe(client, SUPPORT_KO, glossary="support_ko")
    assert answer["language"] == "ko"
    assert "제피라" in answer["text"]


def test_every_window_gets_the_prompt(client: httpx.Client) -> None:
    """63 s with all brands after 51 s: a prompt that only reaches the first window leaves them wrong."""
    answer = transcribe(client, AUDIO / "late_63s.opus", glossary="clinic")
    late = "".join(segment["text"] for segment in answer["segments"] if segment["end"] > 55)
    assert answer["duration"] == pytest.approx(62.75, abs=0.05)
    assert answer["receipt"]["decoding"]["windows"] >= 3
    assert [brand for brand in BRANDS if brand not in late] == []


def test_nothing_of_a_long_recording_is_lost(client: httpx.Client) -> None:
    answer = transcribe(client, AUDIO / "late_63s.opus")
    decoding = answer["receipt"]["decoding"]
    assert decoding["covered_seconds"] >= 0.95 * decoding["speech_seconds"]
    for phrase in (
        "calling our support desk",
        "your documents",
        "two business days",
        "three priorities",
        "before the visit",
    ):
        assert phrase in answer["text"]


def test_a_brand_in_the_tail_survives_an_over_long_glossary(client: httpx.Client) -> None:
    rows = [f"Filler Pharma {number}" for number in range(600)]
    client.post("/glossaries", json={"slug": "overlong"}).raise_for_status()
    csv = "text,placement,priority\n" + "".join(f"{text},ranked,{1000 - n}\n" for n, text in enumerate(rows))
    csv += "Sonalift,pinned,9\nZytriflex,pinned,8\nVelnora,pinned,7\n"
    imported = client.post(
        "/glossaries/overlong/terms:import", content=csv.encode(), headers={"Content-Type": "text/csv"}
    )
    imported.raise_for_status()
    answer = transcribe(client, CLINIC, glossary="overlong")
    prompt = answer["receipt"]["prompt"]
    assert prompt["tokens"] <= prompt["budget"] == 223
    assert len(prompt["dropped"]) > 500
    assert prompt["dropped_by_reason"] == {"over_budget": len(prompt["dropped"])}
    assert len(prompt["dropped"]) + len(prompt["kept"]) == 603
    assert prompt["kept"][-3:] == ["Velnora", "Zytriflex", "Sonalift"]
    assert "Sonalift" in answer["text"]
    assert "Zytriflex" in answer["text"]


def test_the_receipt_explains_the_prompt(client: httpx.Client) -> None:
    answer = transcribe(client, CLINIC, glossary="clinic", language="en")
    prompt = answer["receipt"]["prompt"]
    preview = client.get("/prompt/preview", params={"glossary": "clinic", "language": "en"}).json()
    assert prompt["sha256"] == preview["sha256"] == prompt_sha256(preview["ids"])
    assert prompt["tokens"] == len(preview["ids"]) == prompt["budget"] - prompt["headroom"]
    assert prompt["estimated_tokens"] >= prompt["tokens"]
    assert prompt["kept"] == [term["text"] for term in preview["kept"]]
    assert prompt["glossary"] == "clinic"
    assert prompt["revision"] == preview["revision"]
    assert prompt["stale"] is False


def test_words_of_a_request_share_the_budget_and_are_shown_but_not_kept(client: httpx.Client) -> None:
    words = {"glossary": "clinic", "language": "en", "prompt": "A visit.", "keywords[]": "Nubrisk"}
    preview = client.get("/prompt/preview", params=words).json()
    prompt = transcribe(client, CLINIC, **words)["receipt"]["prompt"]
    assert prompt["sha256"] == preview["sha256"]
    assert prompt["blocks"] == {"pinned": 5, "seed": 1, "request": 2, "ranked": 3}
    assert preview["precedence"] == list(prompt["blocks"])
    assert client.get(f"/prompts/{prompt['sha256']}").status_code == 404
    without = transcribe(client, CLINIC, glossary="clinic")["receipt"]["prompt"]
    assert (
        client.get(f"/prompts/{without['sha256']}").json()["ids"]
        == client.get("/prompt/preview", params={"glossary": "clinic"}).json()["ids"]
    )


def test_ten_identical_requests_give_identical_bytes(client: httpx.Client) -> None:
    late = AUDIO / "late_63s.opus"
    first = json.dumps(transcribe(client, late, glossary="clinic"))
    one_by_one = {json.dumps(transcribe(client, late, glossary="clinic")) for _ in range(4)}
    with ThreadPoolExecutor(8) as threads:
        eight = set(threads.map(lambda _: json.dumps(transcribe(client, late, glossary="clinic")), range(10)))
    assert one_by_one | eight == {first}


def test_silence_gives_empty_text_also_with_a_glossary(client: httpx.Client) -> None:
    """Given a prompt and silence, Whisper says the prompt; voice detection keeps silence away from it."""
    answer = transcribe(client, AUDIO / "silence_30s.flac", glossary="clinic")
    assert (answer["text"], answer["segments"], answer["language"]) == ("", [], None)
    assert answer["duration"] == 30.0


def test_segments_lie_inside_the_recording(client: httpx.Client) -> None:
    answer = transcribe(client, AUDIO / "jfk.mp3")
    edges = [edge for segment in answer["segments"] for edge in (segment["start"], segment["end"])]
    assert edges == sorted(edges)
    assert 0 <= edges[0] <= edges[-1] <= answer["duration"]
    assert "ask what you can do for your country" in answer["text"]
