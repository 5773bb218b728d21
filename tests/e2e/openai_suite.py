"""The cases of tests/data/openai_cases.json, run by OpenAI's own clients. In: cases and a server. Out: one plain result
a case, of the same shape from the Python and the Node client: value, deltas, headers, error, calls made."""

import json
import os
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from started_server import ROOT

CASES: list[dict[str, Any]] = json.loads((ROOT / "tests" / "data" / "openai_cases.json").read_text())
NODE = ROOT / "tests" / "e2e" / "node"
FOLDERS = (ROOT / "tests" / "data" / "audio", ROOT / "samples")

Result = dict[str, Any]


def audio(name: str) -> Path:
    return next(folder / name for folder in FOLDERS if (folder / name).exists())


def run_python(cases: list[dict[str, Any]], url: str) -> dict[str, Result]:
    return {case["name"]: _run(case, url) for case in cases}


def run_node(cases: list[dict[str, Any]], url: str) -> dict[str, Result]:
    _install_node_client()
    jobs = [case | ({"path_of_file": str(audio(case["file"]))} if "file" in case else {}) for case in cases]
    ran = subprocess.run(
        ["node", "suite.mjs", url], cwd=NODE, input=json.dumps(jobs), capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    results: dict[str, Result] = json.loads(ran.stdout)
    return results


def _install_node_client() -> None:
    """From the lock, once; kept beside it in a folder that git ignores."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("Node is not installed; `apt-get install nodejs npm` (.ci/run does) runs this")
    lock = json.loads((NODE / "package-lock.json").read_text())["packages"]["node_modules/openai"]["version"]
    there = NODE / "node_modules" / "openai" / "package.json"
    if there.exists() and json.loads(there.read_text())["version"] == lock:
        return
    environment = os.environ | {"NO_UPDATE_NOTIFIER": "1"}
    command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    made = subprocess.run(command, cwd=NODE, env=environment, capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stderr


def _run(case: dict[str, Any], url: str) -> Result:
    calls: list[str] = []
    http = openai.DefaultHttpxClient(
        event_hooks={"request": [lambda request: calls.append(request.method)]}, timeout=120
    )
    options = {"max_retries": case["retries"]} if "retries" in case else {}
    with openai.OpenAI(base_url=f"{url}/v1", api_key=case.get("key", "none"), http_client=http, **options) as client:
        try:
            result = _call(case, url, client)
        except openai.APIStatusError as error:
            seen = {"class": type(error).__name__, "status": error.status_code, "message": error.message}
            result = {"error": seen | {"code": error.code, "param": error.param, "type": error.type}}
    return result | {"calls": len(calls)}


def _call(case: dict[str, Any], url: str, client: openai.OpenAI) -> Result:
    if case["call"] == "models":
        return {"value": [model.to_dict() for model in client.models.list()]}
    if case["call"] == "get":
        return {"value": client.get(f"{url}{case['path']}", cast_to=httpx.Response).json()}
    params = {"model": "whisper-1"} | case["params"]
    create = getattr(client.audio, case["call"]).with_raw_response.create
    with audio(case["file"]).open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the client marks its whole translation route so
        raw = create(file=file, **params, extra_body=case.get("extra"), extra_headers=case.get("headers"))
    parsed = raw.parse()
    result: Result = {"headers": {name.lower(): value for name, value in raw.headers.items()}}
    if params.get("stream"):
        events = [event.to_dict() for event in parsed]
        deltas = [event["delta"] for event in events if event["type"] == "transcript.text.delta"]
        return result | {"value": events[-1], "deltas": deltas}
    return result | {"value": parsed if isinstance(parsed, str) else parsed.to_dict()}
