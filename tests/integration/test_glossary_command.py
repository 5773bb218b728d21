"""`lexicue glossary` against a running server and a real database."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from glossary_app import build_app
from typer.testing import CliRunner

from app.cli.main import app as command
from app.db import Database


@pytest.fixture
def server(database_url: str) -> Iterator[str]:
    """The same routes behind a real socket, for the command line."""
    started = threading.Event()
    found: dict[str, Any] = {}

    async def serve() -> None:
        db = await Database.open(database_url, Path())
        await db.wait_up()
        config = uvicorn.Config(build_app(db), host="127.0.0.1", port=0, log_config=None, lifespan="off")
        found["server"] = served = Served(config, started)
        await served.serve()
        await db.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert started.wait(30)
    port = found["server"].servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    found["server"].should_exit = True
    thread.join(30)
    assert not thread.is_alive()


class Served(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, told: threading.Event) -> None:
        super().__init__(config)
        self._told = told

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self._told.set()


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(command, ["glossary", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_the_command_line_brings_a_list_in_and_out(server: str, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("Grafana\nKubernetes\n")
    code, out, _ = run("import", "new", str(words), "--url", server)
    assert code == 0
    assert out == "new: 2 rows; 2 terms added, 0 changed, 0 removed, 0 as they were. Revision 2.\n"
    code, out, _ = run("import", "new", str(words), "--url", server, "--json")
    assert (code, json.loads(out)["unchanged"]) == (0, 2)
    code, out, _ = run("export", "new", "--url", server)
    assert [line.split(",")[0] for line in out.splitlines()] == ["text", "Grafana", "Kubernetes"]
    code, out, _ = run("export", "new", "--url", server, "--json")
    assert [term["text"] for term in json.loads(out)["terms"]] == ["Grafana", "Kubernetes"]


def test_the_command_line_says_which_lines_are_bad(server: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    file.write_text("text,priority\nA,1\na,2\nB,x\n")
    code, out, err = run("import", "new", str(file), "--url", server)
    assert (code, out) == (1, "")
    assert "line 3: text: The same term as line 2." in err
    assert "line 4: priority: Must be a whole number." in err
    code, _, err = run("export", "new", "--url", server)
    assert (code, err.split(":")[0]) == (1, "glossary_not_found")
    (tmp_path / "words.xls").write_text("x")
    assert run("import", "new", str(tmp_path / "words.xls"), "--url", server)[0] == 1
    code, _, err = run("import", "new", str(file), "--url", "http://127.0.0.1:9")
    assert (code, "lexicue serve" in err) == (1, True)
