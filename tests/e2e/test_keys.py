"""A server with keys, as its operators, its apps and strangers meet it; and a server without, which keeps to itself."""

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from started_server import COMMAND, ROOT, Server, start_server, stop_server

AUDIO = ROOT / "tests" / "data" / "audio" / "jfk.mp3"
APP, ROTATED, OPS = "app-secret-4711", "app-secret-new", "ops-secret-4712"
KEYS = {
    "LEXICUE_APP_KEYS": f"web@clinic={APP}, web@clinic=sha256:{hashlib.sha256(ROTATED.encode()).hexdigest()}",
    "LEXICUE_OPS_KEYS": f"anna={OPS}",
}


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = start_server(tmp_path_factory.mktemp("keys") / "data", "--sample", LEXICUE_ENGINE="scripted", **KEYS)
    yield started
    assert stop_server(started) == 0
    log = started.log.read_text()
    assert '"app": ["web"], "ops": ["anna"]' in log
    assert '"actor": "anna"' in log
    for secret in (APP, ROTATED, OPS, hashlib.sha256(ROTATED.encode()).hexdigest()):
        assert secret not in log


def client(server: Server, secret: str | None) -> httpx.Client:
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    return httpx.Client(base_url=server.url, headers=headers, timeout=60)


def transcribe(web: httpx.Client, **fields: str) -> Any:
    return web.post("/transcribe", files={"file": ("jfk.mp3", AUDIO.read_bytes())}, data=fields)


def lexicue(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LEXICUE_")}
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, env=clean | environment, capture_output=True, text=True, timeout=60
    )


def test_apps_transcribe_with_either_of_two_secrets_and_their_glossary(keyed: Server) -> None:
    for secret in (APP, ROTATED):
        with client(keyed, secret) as web:
            assert transcribe(web).json()["receipt"]["prompt"]["glossary"] == "clinic"
            spelled = transcribe(web, glossary="meeting")
            assert spelled.status_code == 404 or spelled.json()["receipt"]["prompt"]["glossary"] == "meeting"
            assert web.get("/prompt/preview", params={"glossary": "clinic"}).status_code == 403
    with client(keyed, OPS) as anna:
        assert transcribe(anna).json()["receipt"]["prompt"]["glossary"] is None
        assert anna.get("/prompt/preview", params={"glossary": "clinic"}).status_code == 200


def test_the_openai_client_meets_the_errors_it_knows(keyed: Server) -> None:
    def sdk(secret: str) -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{keyed.url}/v1", api_key=secret, max_retries=0)

    with AUDIO.open("rb") as file:
        raw = sdk(APP).audio.transcriptions.with_raw_response.create(model="whisper-1", file=file)
    assert int(raw.headers["x-lexicue-prompt-tokens"]) > 0  # its key's glossary
    with pytest.raises(openai.AuthenticationError) as caught:
        sdk("wrong").models.list()
    assert caught.value.code == "invalid_api_key"
    with pytest.raises(openai.PermissionDeniedError) as denied:
        sdk(APP).get("/../glossaries", cast_to=dict)
    assert denied.value.code == "wrong_role"


def test_probes_and_metrics_are_open_and_the_rest_is_not(keyed: Server) -> None:
    with client(keyed, None) as stranger:
        for path in ("/livez", "/readyz", "/health", "/metrics", "/docs"):
            assert stranger.get(path).status_code == 200
        for path in ("/glossaries", "/prompt/preview?glossary=clinic", "/v1/models", f"/prompts/{'a' * 64}"):
            refused = stranger.get(path)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="lexicue"')
        assert transcribe(stranger).status_code == 401


def test_the_change_log_names_who_edited(keyed: Server, tmp_path: Path) -> None:
    terms = tmp_path / "terms.txt"
    terms.write_text("Velnora\nSonalift\n")
    refused = lexicue("glossary", "import", "mine", str(terms), LEXICUE_URL=keyed.url)
    assert refused.returncode == 1
    assert "missing_api_key" in refused.stderr
    done = lexicue("glossary", "import", "mine", str(terms), LEXICUE_URL=keyed.url, LEXICUE_KEY=OPS)
    assert done.returncode == 0, done.stderr
    with client(keyed, OPS) as anna:
        anna.post("/glossaries/mine/terms", json={"text": "Brelka"}).raise_for_status()
        log = anna.get("/glossaries/mine/revisions").json()["revisions"]
    assert {revision["actor"] for revision in log} == {"anna"}


def test_without_keys_the_log_says_who_may_call(scripted_server: Server) -> None:
    assert "no keys are set: anyone on this machine may transcribe and edit" in scripted_server.log.read_text()
