"""`lexicue preview`: asks the API and prints its answer as it is."""

import httpx
import pytest
from typer import Typer
from typer.testing import CliRunner

from app.cli import preview as command

APP = Typer()
APP.command()(command.preview)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[httpx.URL]:
    """The URLs that the command asked for; the server answers with a page, or 404 for `none`."""
    urls: list[httpx.URL] = []

    def answer(request: httpx.Request) -> httpx.Response:
        urls.append(request.url)
        if request.url.params["glossary"] == "none":
            return httpx.Response(404, json={"error": {"code": "glossary_not_found", "message": "No such glossary."}})
        return httpx.Response(200, text="19 of 30 tokens\n")

    def connect(url: str) -> httpx.Client:
        return httpx.Client(base_url=url, transport=httpx.MockTransport(answer))

    monkeypatch.setattr(command, "connect", connect)
    return urls


def test_the_page_of_the_api_is_printed(asked: list[httpx.URL]) -> None:
    result = CliRunner().invoke(APP, ["clinic"])
    assert (result.exit_code, result.stdout) == (0, "19 of 30 tokens\n")
    assert dict(asked[0].params) == {"glossary": "clinic", "profile": "whisper", "format": "text"}


def test_options_become_parameters(asked: list[httpx.URL]) -> None:
    options = [
        "clinic",
        "--language",
        "ko",
        "--revision",
        "3",
        "--profile",
        "groq",
        "--selection",
        "relevant",
        "--heard",
        "sonar line",
        "--json",
        "--url",
        "http://there:1",
    ]
    assert CliRunner().invoke(APP, options).exit_code == 0
    assert asked[0].host == "there"
    assert dict(asked[0].params) == {
        "glossary": "clinic",
        "language": "ko",
        "revision": "3",
        "profile": "groq",
        "selection": "relevant",
        "heard": "sonar line",
        "format": "json",
    }


def test_a_refusal_is_one_line_and_exit_code_1(asked: list[httpx.URL]) -> None:
    result = CliRunner().invoke(APP, ["none"])
    assert (result.exit_code, result.stdout, len(asked)) == (1, "", 1)
    assert result.stderr == "glossary_not_found: No such glossary.\n"
