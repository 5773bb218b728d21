"""The README is true: its curl gives its answer, its picture is what `lexicue demo` prints."""

import json
import re
import shlex
import subprocess
from typing import Any

from started_server import ROOT, Server, lexicue

README = (ROOT / "README.md").read_text()


def shape(value: Any) -> Any:
    """Names and kinds of a JSON value, without its figures."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def test_the_curl_gives_the_answer_beside_it(server: Server) -> None:
    command = next(line for line in README.splitlines() if line.startswith("curl") and "/transcribe" in line)
    words = shlex.split(command.replace("http://127.0.0.1:8000", server.url))
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    block = re.search(r"```json\n(.*?)\n```", README, re.DOTALL)
    assert block is not None
    shown = json.loads(block.group(1))
    for brand in shown["receipt"]["prompt"]["kept"][3:]:  # the words around them may differ with the processor
        assert brand in shown["text"]
        assert brand in answer["text"]
    assert shape(answer) == shape(shown)
    assert answer["receipt"]["prompt"]["sha256"] == shown["receipt"]["prompt"]["sha256"]


def test_the_preview_address_works(server: Server) -> None:
    command = next(line for line in README.splitlines() if line.startswith("curl") and "/prompt/preview" in line)
    words = shlex.split(command.replace("http://127.0.0.1:8000", server.url))
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout)["kept"][-1]["text"] == "Sonalift"


def test_the_picture_is_what_the_demo_prints(server: Server) -> None:
    printed = lexicue("demo", url=server.url).stdout
    for line in printed.splitlines():
        if line.startswith(("│ tokens", "│ kept", "│ dropped", "│ warnings", "│ glossary terms", "┃")):
            assert line.strip() in README
