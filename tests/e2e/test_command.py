"""The `lexicue` command against a started server: the same numbers as the API."""

import json

import httpx
from started_server import ROOT, Server, lexicue

CLINIC = str(ROOT / "samples" / "clinic.flac")
JFK = str(ROOT / "tests" / "data" / "audio" / "jfk.mp3")


def test_transcribe_prints_the_text(server: Server) -> None:
    done = lexicue("transcribe", CLINIC, "--glossary", "clinic", url=server.url)
    assert done.returncode == 0, done.stderr
    assert "Sonalift" in done.stdout


def test_transcribe_json_is_one_answer_a_line(server: Server) -> None:
    done = lexicue("transcribe", CLINIC, JFK, "--json", url=server.url)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["file"] for answer in answers] == [CLINIC, JFK]
    assert "fellow Americans" in answers[1]["text"]


def test_a_refusal_is_one_line_and_exit_code_one(server: Server) -> None:
    done = lexicue("transcribe", JFK, "--glossary", "no-such", url=server.url)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{JFK}: glossary_not_found: ")
    assert "Traceback" not in done.stderr


def test_a_refused_file_is_named_and_the_others_go_on(server: Server) -> None:
    page = str(ROOT / "README.md")
    done = lexicue("transcribe", page, JFK, url=server.url)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{page}: invalid_audio: ")
    assert "fellow Americans" in done.stdout


def test_no_server_is_said_with_the_way_out() -> None:
    done = lexicue("transcribe", JFK, url="http://127.0.0.1:9")
    assert done.returncode == 1
    assert "lexicue serve" in done.stderr


def test_preview_prints_what_the_api_says(server: Server, client: httpx.Client) -> None:
    done = lexicue("preview", "clinic", "--json", url=server.url)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ids"] == client.get("/prompt/preview", params={"glossary": "clinic"}).json()["ids"]


def test_import_and_export_are_inverse(server: Server) -> None:
    exported = lexicue("glossary", "export", "clinic", url=server.url)
    assert exported.returncode == 0, exported.stderr
    assert exported.stdout.splitlines()[0] == "text,placement,priority,language,sounds_like,note,active"
    assert [line.split(",")[0] for line in exported.stdout.splitlines()[1:4]] == ["Sonalift", "Velnora", "Qarvelle"]


def test_tokens_needs_no_server() -> None:
    done = lexicue("tokens", stdin="Sonalift\n타벨린\n")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["text"] for row in rows] == ["Sonalift", "타벨린"]
    assert all(0 < row["tokens"] <= row["estimated"] for row in rows)


def test_demo_shows_it_wrong_without_and_right_with_the_glossary(server: Server) -> None:
    done = lexicue("demo", url=server.url)
    assert done.returncode == 0, done.stderr
    assert "glossary terms spelled right: 1" in done.stdout
    assert "glossary terms spelled right: 7" in done.stdout
    assert "headroom" in done.stdout


def test_every_command_explains_itself() -> None:
    for command in ([], ["serve"], ["migrate"], ["glossary"], ["preview"], ["transcribe"], ["tokens"], ["demo"]):
        done = lexicue(*command, "--help")
        assert done.returncode == 0
        assert "Usage" in done.stdout
