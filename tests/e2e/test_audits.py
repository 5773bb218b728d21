"""The audits on a started Lexicue, the real model behind it: the promises that they exist to check hold."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from started_server import ROOT, Server, lexicue

CLINIC = ROOT / "samples" / "clinic.flac"
AUDIO = ROOT / "tests" / "data" / "audio"
BRANDS = "Sonalift, Velnora, Zytriflex, Qarvelle, Brixomab"


def audit(server: Server, out: Path, *arguments: object) -> tuple[int, dict[str, Any]]:
    done = lexicue("audit", *map(str, arguments), "--out", str(out), "--json", url=server.url)
    assert done.returncode in (0, 1, 3), done.stderr
    assert (out / "report.html").read_text().startswith("<!doctype html>")
    finding: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, finding


def test_nothing_is_cut_and_224_tokens_are_refused(server: Server, tmp_path: Path) -> None:
    code, finding = audit(
        server, tmp_path, "truncation", "--audio", CLINIC, "--terms", BRANDS, "--language", "en", "--most-tokens", 240
    )
    assert (code, finding["verdict"], finding["cut"]) == (0, "kept", "nothing")
    assert finding["refused_at"] == {"unit": "tokens", "tokens": 224, "characters": None}
    assert len(finding["finding"]["witnesses"]) >= 4


def test_the_same_alone_and_under_load(server: Server, tmp_path: Path) -> None:
    files = [CLINIC, AUDIO / "jfk.mp3", AUDIO / "silence_30s.flac"]
    loads = ["--load", "alone", "--load", "mixed"]
    glossary = ["--glossary", "clinic", "--selection", "relevant"]
    code, finding = audit(server, tmp_path, "determinism", *files, "--runs", 2, *loads, *glossary)
    assert (code, finding["verdict"]) == (0, "kept")
    assert [each["totals"]["identical"] for each in finding["settings"]] == [3, 3]
    assert finding["across"] == [{"one": "alone", "other": "mixed", "identical": 3, "files": 3, "promised": True}]
    assert len({tuple(each["fingerprints"]) for each in finding["settings"]}) == 1


def test_terms_are_found_however_they_are_given(server: Server, client: httpx.Client, tmp_path: Path) -> None:
    text = "The patient asked about a Sonalift treatment for her face. Doctor Kwon recommended Zytriflex."
    (tmp_path / "clinic.flac").write_bytes(CLINIC.read_bytes())
    (tmp_path / "manifest.tsv").write_text(
        f"file\tlanguage\ttranscript\tterms\nclinic.flac\ten\t{text}\tSonalift, Zytriflex\n"
    )
    (tmp_path / "terms.txt").write_text("Qarvelle\nBrixomab\nVelnora\n")
    placements = [word for each in ("prompt", "keywords", "pinned", "ranked") for word in ("--placement", each)]
    code, finding = audit(
        server, tmp_path / "out", "recall", tmp_path / "manifest.tsv", "--terms", tmp_path / "terms.txt",
        "--number", 4, "--taken", "spoken", *placements, "--glossary", "clinic",
    )  # fmt: skip
    heard = {each["condition"]["placement"]: each["heard"] for each in finding["conditions"][1:-1]}
    assert code == 0
    assert heard == {"prompt": 2, "keywords": 2, "pinned": 2, "ranked": 2}
    assert (finding["conditions"][0]["heard"], finding["conditions"][-1]["heard"]) == (0, 2)
    left = [each["slug"] for each in client.get("/glossaries").json()["glossaries"]]
    assert [slug for slug in left if slug.startswith("audit-")] == []


def test_recall_by_size_of_the_glossary_and_selection(server: Server, tmp_path: Path) -> None:
    (tmp_path / "clinic.flac").write_bytes(CLINIC.read_bytes())
    (tmp_path / "manifest.tsv").write_text(
        "file\ttranscript\tterms\nclinic.flac\tA Sonalift treatment. Zytriflex.\tSonalift, Zytriflex\n"
    )
    names = [f"{first}{last}" for first in ("Quor", "Bel", "Tand", "Mior", "Fex") for last in ("dane", "vist", "ulo")]
    (tmp_path / "terms.txt").write_text("\n".join(names))
    options = ["--size", 5, "--size", 12, "--selection", "static", "--selection", "relevant"]
    manifest, listed, out = tmp_path / "manifest.tsv", tmp_path / "terms.txt", tmp_path / "out"
    _, finding = audit(server, out, "recall", manifest, "--terms", listed, *options)
    told = [
        (each["condition"]["terms"], each["condition"]["selection"], each["offered"])
        for each in finding["conditions"][1:]
    ]
    assert [(size, way) for size, way, _ in told] == [(5, "static"), (5, "relevant"), (12, "static"), (12, "relevant")]
    assert [offered for _, way, offered in told if way == "static"] == [5, 12]
    assert all(0 < offered <= size for size, _, offered in told)
    answers = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()[2:-1]]
    assert [each["record"]["receipt"]["prompt"]["selection"] for each in answers] == ["static", "relevant"] * 2


def test_a_stored_answer_comes_out_again(server: Server, tmp_path: Path) -> None:
    stored = lexicue("transcribe", str(CLINIC), "--glossary", "clinic", "--json", url=server.url)
    relevant = lexicue(
        "transcribe", str(CLINIC), "--glossary", "clinic", "--selection", "relevant", "--json", url=server.url
    )
    (tmp_path / "stored.jsonl").write_text(stored.stdout + relevant.stdout)
    code, finding = audit(server, tmp_path / "out", "replay", tmp_path / "stored.jsonl")
    assert (code, finding["verdict"]) == (0, "kept")
    changed = json.loads(stored.stdout)
    changed["text"] = changed["text"].replace("Velnora", "Velna")
    changed["segments"][0]["text"] = changed["segments"][0]["text"].replace("Sonalift", "Sonaliff")
    (tmp_path / "changed.json").write_text(json.dumps(changed))
    code, finding = audit(server, tmp_path / "other", "replay", tmp_path / "changed.json")
    assert (code, finding["verdict"]) == (1, "broken")
    assert finding["requests"][0]["parted"]["at"] == pytest.approx(changed["segments"][0]["start"])


def test_two_revisions_on_the_same_recording(server: Server, client: httpx.Client, tmp_path: Path) -> None:
    address = "/glossaries/audited/terms:import?mode=replace&create=true&format=json"
    revisions = [
        client.post(address, json=[{"text": term, "placement": "pinned"} for term in terms]).json()["revision"]
        for terms in (["Sonalift"], ["Zytriflex"])
    ]
    code, finding = audit(
        server, tmp_path, "replay", CLINIC, "--glossary", "audited", "--from", revisions[0], "--to", revisions[1]
    )
    assert code == 0
    assert finding["recordings"] == [{"file": "clinic.flac", "won": ["Zytriflex"], "lost": ["Sonalift"]}]
