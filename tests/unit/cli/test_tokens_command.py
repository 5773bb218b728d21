"""`lexicue tokens`: the numbers of each line, and the exit code."""

import json
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from app.cli import tokens as command
from app.prompt.merges import Vocabulary

APP = Typer()
APP.command()(command.tokens)


class OneTokenACharacter:
    vocabulary = Vocabulary.OTHER

    def encode(self, text: str) -> list[int]:
        return list(map(ord, text))


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "resolve_model", lambda name, cache: Path(name))
    monkeypatch.setattr(command.WhisperTokens, "from_file", lambda path: OneTokenACharacter())


def run(stdin: str | bytes, *options: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(APP, list(options), input=stdin)
    return result.exit_code, result.stdout, result.stderr


def test_each_line_is_one_json_object() -> None:
    code, out, err = run("Grafana\r\n\n  Nguyễn  \n그라파나\n")
    assert (code, err) == (0, "")
    assert [json.loads(line) for line in out.splitlines()] == [
        {"text": "Grafana", "tokens": 8, "estimated": 8},
        {"text": "", "tokens": 0, "estimated": 0},
        {"text": "Nguyễn", "tokens": 7, "estimated": 9},
        {"text": "그라파나", "tokens": 5, "estimated": 13},
    ]


def test_a_line_separator_inside_a_line_does_not_end_its_object() -> None:
    _, out, _ = run("Gra\u2028fana")
    assert [json.loads(line)["text"] for line in out.splitlines()] == ["Gra\u2028fana"]


def test_bytes_that_are_no_text_are_refused() -> None:
    assert run(b"\xff\xfe") == (1, "", "The input is not UTF-8.\n")


def test_no_input_is_no_output() -> None:
    assert run("") == (0, "", "")
