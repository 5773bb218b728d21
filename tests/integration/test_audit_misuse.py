"""What goes wrong around an audit ends it with one line and exit code 2; what was heard so far is not asked again."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from audited_server import TERMS, audit, hearing, other_server, truncation

from app.audit.journal import Journal

Fields = dict[str, str]
Reply = tuple[int, dict[str, object]]

MANIFEST = "file\ttranscript\tterms\nclip.wav\tWe sell Velnora\tVelnora\n"


def hears_everything(fields: Fields) -> Reply:
    return hearing(lambda prompt: prompt)(fields)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no column"),
        (b"file\ttranscript\tterms\n", "names a term"),
        ("file\ttranscript\tterms\nclip.wav\tIch höre\tVelnora\n".encode("latin-1"), "is not UTF-8 text"),
        (MANIFEST.encode("utf-16"), "is not UTF-8 text"),
        (MANIFEST.replace("clip", "gone").encode(), "There is no file"),
        (MANIFEST.encode() + b"clip.wav\tx\ty\n", "has 2 lines"),
    ],
)
def test_a_manifest_that_cannot_be_used(audio: Path, content: bytes, said: str) -> None:
    manifest = audio.with_name("manifest.tsv")
    manifest.write_bytes(content)
    code, output = audit("recall", manifest, "--url", "http://127.0.0.1:1", "--out", audio.parent / "out")
    assert (code, said in output.replace("\n", " ")) == (2, True)
    assert not (audio.parent / "out").exists()


def test_a_list_of_terms_that_is_no_text(audio: Path) -> None:
    audio.with_name("manifest.tsv").write_text(MANIFEST)
    audio.with_name("terms.txt").write_bytes(b"\xff\xfe\x00caf\xe9")
    code, output = audit("recall", audio.with_name("manifest.tsv"), "--terms", audio.with_name("terms.txt"))
    assert (code, "is not UTF-8 text" in output.replace("\n", " ")) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--selection", "relevant"], "--selection needs --glossary or --size"),
        (["--taken", "none"], "--taken is spoken or head"),
        (["--taken", "head", "--placement", "pinned"], "Nothing is left"),
        (["--size", "40"], "1 terms are said in the recordings, and the list has 0 others"),
        (["--library", "hotwords", "--size", "40"], "takes a prompt only"),
    ],
)
def test_options_that_say_nothing_together(audio: Path, options: list[str], said: str) -> None:
    audio.with_name("manifest.tsv").write_text(MANIFEST)
    code, output = audit("recall", audio.with_name("manifest.tsv"), *options, "--out", audio.parent / "out")
    assert (code, said in output.replace("\n", " ")) == (2, True)


def test_a_selection_is_from_a_glossary(audio: Path) -> None:
    code, output = audit("determinism", audio, "--selection", "relevant", "--out", audio.parent / "out")
    assert (code, "--selection needs --glossary" in output) == (2, True)


def test_a_folder_that_cannot_be_written(audio: Path) -> None:
    with other_server(hears_everything) as (url, server):
        code, output = truncation(url, audio, "--out", audio / "below a file")
    assert (code, "Not a directory" in output, server.requests) == (2, True, [])


@pytest.mark.parametrize("url", ["http://[bad", "nowhere", ""])
def test_an_address_that_is_none(audio: Path, url: str) -> None:
    code, output = truncation(url, audio)
    assert (code, "--url" in output) == (2, True)


@pytest.mark.parametrize("stored", ["", "[]", "[1]", "5", "not json", '{"text": "no receipt"}'])
def test_stored_answers_that_are_none_are_no_kept_promise(tmp_path: Path, stored: str) -> None:
    (tmp_path / "stored.jsonl").write_text(stored)
    code, output = audit("replay", tmp_path / "stored.jsonl", "--out", tmp_path / "out")
    assert (code, "Traceback" in output, "identical" in output) == (2, False, False)


def test_a_replay_needs_the_receipts_of_lexicue(audio: Path) -> None:
    receipt = {"prompt": {"sha256": "ab"}, "decoding": {"fingerprint": "f"}}
    answer = {"text": "x", "segments": [], "duration": 2.0, "language": "en", "receipt": receipt}
    audio.with_name("stored.json").write_text(json.dumps(answer))
    with other_server(hears_everything) as (url, server):
        code, output = audit(
            "replay", audio.with_name("stored.json"), "--audio", audio, "--url", url, "--out", audio.parent / "out"
        )
    assert (code, "is no Lexicue" in output, server.requests) == (2, True, [])


@pytest.mark.parametrize("options", [["--from", "1", "--to", "2"], ["--glossary", "brands", "--from", "1"]])
def test_revisions_need_a_glossary_and_two_of_them(audio: Path, options: list[str]) -> None:
    code, output = audit("replay", audio, *options)
    assert (code, "Two revisions are" in output) == (2, True)


def test_two_audits_in_one_folder(audio: Path) -> None:
    with other_server(hears_everything) as (url, server), Journal(audio.parent / "out" / "journal.jsonl", {}):
        code, output = truncation(url, audio)
    assert (code, "Another audit is writing" in output, server.requests) == (2, True, [])


def refuses_the_second(fields: Fields) -> Reply:
    """The files are told apart by the language that the manifest names."""
    if fields.get("language") == "de":
        return 400, {"error": {"message": "no audio stream"}}
    return hears_everything(fields)


def test_a_fault_of_ours_is_no_broken_promise(audio: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("app.cli.audit_truncation.judge", judge)
    with other_server(hears_everything) as (url, _):
        code, output = truncation(url, audio)
    assert (code, "ZeroDivisionError: ours" in output) == (2, True)


def test_a_recording_without_audio_is_no_finding(audio: Path) -> None:
    refusing = 400, {"error": {"message": "no audio stream"}}
    with other_server(lambda _: refusing) as (url, _):
        code, output = truncation(url, audio)
        assert (code, "refused even without a prompt: 400: no audio stream" in output) == (2, True)
        code, output = audit("determinism", audio, "--url", url, "--out", audio.parent / "determinism")
        assert (code, "clip.wav was refused: 400: no audio stream" in output) == (3, True)


def test_a_recording_without_audio_leaves_the_others_their_figures(audio: Path) -> None:
    audio.with_name("video.mp4").write_bytes(b"a picture")
    rows = ["clip.wav\ten\tWe sell Velnora\tVelnora", "video.mp4\tde\tWe sell Sonalift\tSonalift"]
    audio.with_name("manifest.tsv").write_text("\n".join(["file\tlanguage\ttranscript\tterms", *rows]))
    arguments = ["recall", audio.with_name("manifest.tsv"), "--number", 1, "--taken", "spoken"]
    with other_server(refuses_the_second) as (url, server):
        code, output = audit(*arguments, "--url", url, "--out", audio.parent / "out", "--json")
    finding = json.loads(output)
    assert (code, finding["verdict"], finding["unheard"]) == (3, "inconclusive", {"video.mp4": "400: no audio stream"})
    assert [(each["heard"], each["said"]) for each in finding["conditions"]] == [(0, 1), (1, 1)]
    assert len(server.requests) == 3


def test_no_recording_at_all_is_no_finding(audio: Path) -> None:
    audio.with_name("manifest.tsv").write_text(MANIFEST)
    refusing = 400, {"error": {"message": "no audio stream"}}
    with other_server(lambda _: refusing) as (url, _):
        code, output = audit("recall", audio.with_name("manifest.tsv"), "--url", url, "--out", audio.parent / "out")
    assert (code, "the first was refused: 400: no audio stream" in output.replace("\n", " ")) == (2, True)


def test_an_interrupted_audit_goes_on(audio: Path) -> None:
    """As in a terminal: Ctrl-C while an answer is outstanding, then the same command."""
    asked, go_on = threading.Event(), threading.Event()
    seen: list[str] = []

    def answering(fields: Fields) -> Reply:
        seen.append(fields.get("prompt", ""))
        if len(seen) == 5:
            asked.set()
            go_on.wait(30)
        return hears_everything(fields)

    with other_server(answering) as (url, _):
        command = ["audit", "truncation", "--audio", audio, "--terms", ", ".join(TERMS), "--url", url]
        process = subprocess.Popen(
            [sys.executable, "-m", "app.cli.main", *map(str, command), "--out", str(audio.parent / "out")],
            cwd=Path(__file__).parents[2],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"COLUMNS": "200"},
        )
        assert asked.wait(60)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        go_on.set()
        assert (process.returncode, "the same command goes on from" in told) == (2, True)
        journal = audio.parent / "out" / "journal.jsonl"
        with journal.open("ab") as handle:
            handle.write(b'{"kind": "answer", "key": "cut off whi')
        code, output = truncation(url, audio)
    assert (code, "Going on from 4 answers" in output) == (0, True)
    assert [seen.count(prompt) for prompt in seen[:4]] == [1, 1, 1, 1]
    assert json.loads(journal.read_text().splitlines()[-1])["verdict"] == "kept"
