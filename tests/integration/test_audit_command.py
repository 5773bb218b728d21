"""The audit commands against a server that is not ours, which hears the terms that reach it, as each test decides."""

import json
import re
from bisect import bisect_left
from pathlib import Path

import pytest
from audited_server import GONE, TERMS, audit, hearing, other_server, truncation

from app.prompt.merges import Vocabulary
from app.prompt.tokens import estimate_tokens


def tokens(words: list[str]) -> int:
    return estimate_tokens(" ".join(words), Vocabulary.MULTILINGUAL)


def last_223_tokens(prompt: str) -> str:
    words = prompt.split(" ")
    return " ".join(words[bisect_left(range(len(words)), True, key=lambda at: tokens(words[at:]) <= 223) :])


def test_a_server_that_cuts_in_silence_fails_the_build(audio: Path) -> None:
    with other_server(hearing(last_223_tokens)) as (url, server):
        code, output = truncation(url, audio)
    assert code == 1
    assert "Truncation audit: broken" in output
    limit = re.search(r"only the last (\d+) tokens arrive", output)
    assert limit is not None
    assert int(limit[1]) == pytest.approx(223, abs=3)
    assert server.requests[0] == {"model": "whisper-1", "response_format": "verbose_json", "temperature": "0"}
    page = (audio.parent / "out" / "report.html").read_text()
    assert "only the last" in page
    assert "<ins>Sonalift Velnora Zytriflex</ins>" in page


def test_a_server_that_refuses_by_characters_passes(audio: Path) -> None:
    heard = hearing(lambda prompt: prompt)

    def answering(fields: dict[str, str]) -> tuple[int, dict[str, object]]:
        too_long = len(fields.get("prompt", "")) > 896
        return (400, {"error": {"message": "prompt too long"}}) if too_long else heard(fields)

    with other_server(answering) as (url, _):
        code, output = truncation(url, audio, "--json")
    finding = json.loads(output)
    assert (code, finding["verdict"], finding["cut"]) == (0, "kept", "nothing")
    assert finding["refused_at"]["unit"] == "characters"
    assert finding["refused_at"]["characters"] == pytest.approx(897, abs=8)


@pytest.mark.parametrize(("status", "said"), [(403, "no more"), (GONE, "No answer from")])
def test_an_audit_goes_on_after_the_server_went_away(audio: Path, status: int, said: str) -> None:
    keep = hearing(last_223_tokens)
    asked: list[str] = []

    def failing(fields: dict[str, str]) -> tuple[int, dict[str, object]]:
        asked.append(fields.get("prompt", ""))
        return keep(fields) if len(asked) <= 12 else (status, {"error": {"message": "no more"}})

    with other_server(failing) as (url, server):
        code, output = truncation(url, audio)
        assert (code, said in output) == (2, True)
        journal = audio.parent / "out" / "journal.jsonl"
        assert len(journal.read_text().splitlines()) == 13
        server.answering = keep
        server.requests.clear()
        code, output = truncation(url, audio)
    assert code == 1
    assert "Going on from 12 answers" in output
    assert not {fields.get("prompt", "") for fields in server.requests} & set(asked[:12])


def test_terms_that_the_model_knows_are_inconclusive(audio: Path) -> None:
    with other_server(hearing(lambda _: " ".join(TERMS))) as (url, _):
        code, output = truncation(url, audio)
    assert (code, "inconclusive" in output) == (3, True)


def test_a_server_whose_answers_change_is_not_deterministic(audio: Path) -> None:
    turns = iter(range(1000))

    def answering(_: dict[str, str]) -> tuple[int, dict[str, object]]:
        text = "nine hundred" if next(turns) == 2 else "nine hundred and one"
        segments = [
            {"start": 0, "end": 4, "text": "Hello.", "seek": 0, "temperature": 0.0},
            {"start": 30, "end": 34, "text": text, "seek": 3000, "temperature": 0.4},
        ]
        return 200, {"text": f"Hello. {text}", "duration": 60.0, "segments": segments}

    with other_server(answering) as (url, _):
        code, output = audit("determinism", audio, "--url", url, "--runs", 4, "--out", audio.parent / "out", "--json")
    finding = json.loads(output)
    assert (code, finding["verdict"]) == (1, "broken")
    assert finding["settings"][0]["totals"] | {"worst_cer": 0} == {
        "files": 1,
        "identical": 0,
        "clean_files": 0,
        "clean_identical": 0,
        "divergences": 1,
        "near_fallback": 1,
        "windows": 2,
        "with_fallback": 1,
        "near": 2,
        "worst_cer": 0,
    }
    assert finding["settings"][0]["files"][0]["divergences"][0]["at"] == 30.0
    page = (audio.parent / "out" / "report.html").read_text()
    assert "<del>and one</del>" in page


def test_mixed_load_asks_as_often_and_loses_no_answer(audio: Path) -> None:
    other = audio.with_name("other.wav")
    other.write_bytes(b"another")
    with other_server(hearing(lambda _: "")) as (url, server):
        loads = ["--load", "alone", "--load", "mixed"]
        code, output = audit(
            "determinism", audio, other, "--url", url, *loads, "--runs", 5, "--out", audio.parent / "out"
        )
    assert (code, len(server.requests)) == (0, 20)
    assert "alone against mixed: 2 of 2 files are the same." in output


def test_recall_finds_the_number_of_terms_that_is_too_many(audio: Path) -> None:
    """The stub heeds a list of up to 8 terms."""
    for name in ("a", "b", "c", "d", "e", "f"):
        (audio.parent / f"{name}.wav").write_bytes(name.encode())
    rows = [f"{name}.wav\ten\tWe sell {TERMS[n % 3]}\t{TERMS[n % 3]}" for n, name in enumerate("abcdef")]
    (audio.parent / "manifest.tsv").write_text("\n".join(["file\tlanguage\ttranscript\tterms", *rows]) + "\n")
    (audio.parent / "terms.txt").write_text("\n".join(f"Brand{n}" for n in range(60)))

    def answering(fields: dict[str, str]) -> tuple[int, dict[str, object]]:
        given = fields.get("prompt", "").split(", ")
        heard = [term for term in given if term in TERMS] if len(given) <= 8 else []
        return 200, {"text": f"We sell {heard[0] if heard else 'something'}", "duration": 2.0, "segments": []}

    numbers = ["--number", 4, "--number", 8, "--number", 16]
    with other_server(answering) as (url, _):
        code, output = audit(
            "recall", audio.parent / "manifest.tsv", "--terms", audio.parent / "terms.txt", "--url", url, *numbers,
            "--out", audio.parent / "out", "--json",
        )  # fmt: skip
    finding = json.loads(output)
    assert (code, finding["most"]) == (0, 8)
    assert [(each["heard"], each["said"]) for each in finding["conditions"]] == [
        (0, 6), (0, 6), (0, 6), (0, 6), (6, 6), (6, 6), (0, 6)
    ]  # fmt: skip
    assert finding["conditions"][4]["wer"]["value"] == 0


def test_a_wrong_key_is_no_finding(audio: Path) -> None:
    with other_server(lambda _: (401, {"error": {"message": "no such key"}})) as (url, _):
        code, output = truncation(url, audio)
    assert (code, "no such key" in output) == (2, True)


def test_nobody_there_is_no_finding(audio: Path) -> None:
    with other_server(hearing(str)) as (url, _):
        pass
    code, output = truncation(url, audio)
    assert (code, "No answer from" in output) == (2, True)
