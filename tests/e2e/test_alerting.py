"""Real Prometheus and Alertmanager over a started server: a glossary is filled to the cap, somebody is told, and told
again when it is over."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import httpx
import pytest
from shipped import series_by_metric
from shipped_stack import (
    COMPOSE,
    IMAGE,
    OPS_KEY,
    Stack,
    start_alertmanager,
    start_app,
    start_postgres,
    start_prometheus,
)

ROOT = Path(__file__).parents[2]
ALERT = "LexicuePromptAtCap"
TOO_LONG_SECONDS = 150


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    prometheus, alertmanager = shutil.which("prometheus"), shutil.which("prometheus-alertmanager")
    if prometheus is None or alertmanager is None:
        pytest.skip(
            "Prometheus or Alertmanager is not installed; `apt-get install prometheus prometheus-alertmanager` "
            "(.ci/run does) runs these tests"
        )
    with tempfile.TemporaryDirectory(prefix="lexicue-test-") as folder:
        started = Stack(Path(folder))
        try:
            start_postgres(started)
            start_app(started)
            start_alertmanager(started, alertmanager)
            start_prometheus(started, prometheus)
            yield started
        finally:
            codes = started.stop()
        assert codes == dict.fromkeys(codes, 0)


@pytest.fixture(scope="module")
def app(stack: Stack) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {OPS_KEY}"}
    with httpx.Client(base_url=stack.url("app"), headers=headers, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def clip() -> bytes:
    """The first two seconds of a speech."""
    import av

    written = BytesIO()
    with av.open(str(ROOT / "tests/data/audio/jfk.mp3")) as source, wave.open(written, "wb") as target:
        target.setparams((1, 2, 16_000, 0, "NONE", ""))
        resampler = av.AudioResampler("s16", "mono", 16_000)
        samples = [
            part.to_ndarray().tobytes() for frame in source.decode(audio=0) for part in resampler.resample(frame)
        ]
        target.writeframes(b"".join(samples)[: 2 * 2 * 16_000])
    return written.getvalue()


def fill(app: httpx.Client, terms: int) -> None:
    text = "\n".join(f"Brandname{number:03}" for number in range(terms))
    options = {"mode": "replace", "create": "true"}
    headers = {"Content-Type": "text/plain"}
    app.post("/glossaries/brands/terms:import", params=options, headers=headers, content=text).raise_for_status()


def transcribe(app: httpx.Client, clip: bytes) -> int:
    answer = app.post("/transcribe", files={"file": ("clip.wav", clip)}, data={"glossary": "brands"})
    answer.raise_for_status()
    headroom: int = answer.json()["receipt"]["prompt"]["headroom"]
    return headroom


@contextmanager
def load(app: httpx.Client, clip: bytes) -> Iterator[list[int]]:
    """Recordings one after the other until the block ends; their prompts' headroom so far."""
    headrooms: list[int] = []
    over = threading.Event()

    def send() -> None:
        while not over.is_set():
            headrooms.append(transcribe(app, clip))

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield headrooms
    finally:
        over.set()
        sender.join()


def prometheus_states(stack: Stack) -> dict[str, str]:
    answer = httpx.get(f"{stack.url('prometheus')}/api/v1/alerts").raise_for_status()
    return {alert["labels"]["alertname"]: alert["state"] for alert in answer.json()["data"]["alerts"]}


def told(stack: Stack) -> dict[str, str]:
    """What Alertmanager has, name to description."""
    answer = httpx.get(f"{stack.url('alertmanager')}/api/v2/alerts").raise_for_status()
    return {alert["labels"]["alertname"]: alert["annotations"]["description"] for alert in answer.json()}


def wait_for_answer(stack: Stack, service: str) -> None:
    deadline = time.monotonic() + TOO_LONG_SECONDS
    ready = f"{stack.url(service)}/-/ready"
    with httpx.Client(transport=httpx.HTTPTransport(retries=20)) as client:
        while client.get(ready).status_code != 200:
            assert time.monotonic() < deadline, stack.log(service)


def test_an_alert_goes_from_pending_to_firing_to_somebody_and_is_resolved(
    stack: Stack, app: httpx.Client, clip: bytes
) -> None:
    for service in ("alertmanager", "prometheus"):
        wait_for_answer(stack, service)
    deadline = time.monotonic() + TOO_LONG_SECONDS
    seen: list[str] = []

    fill(app, 60)
    with load(app, clip) as headrooms:
        while not ("firing" in seen and ALERT in told(stack)):
            state = prometheus_states(stack).get(ALERT, "inactive")
            if state not in seen[-1:]:
                seen.append(state)
            assert time.monotonic() < deadline, (seen, headrooms, stack.log("prometheus"))
        assert max(headrooms) < 0.02 * 223
        assert [state for state in seen if state != "inactive"] == ["pending", "firing"]
        assert "brands" in told(stack)[ALERT], "whoever is told learns which glossary"

        fill(app, 3)
        while ALERT in prometheus_states(stack) or ALERT in told(stack):
            assert time.monotonic() < deadline, (prometheus_states(stack), told(stack))
    assert headrooms[-1] > 150

    on_page = httpx.get(f"{stack.url('app')}/metrics").text
    assert 'lexicue_glossary_headroom_tokens{glossary="brands"}' in on_page
    names = httpx.get(f"{stack.url('prometheus')}/api/v1/label/__name__/values").json()["data"]
    assert "lexicue:prompt_budget_used:p99_10m" in names


def test_nothing_else_is_wrong(stack: Stack, app: httpx.Client, clip: bytes) -> None:
    """The shipped rules are silent on a healthy service, and every rule can be evaluated."""
    transcribe(app, clip)
    groups = httpx.get(f"{stack.url('prometheus')}/api/v1/rules").json()["data"]["groups"]
    troubles = {rule["name"]: rule["lastError"] for group in groups for rule in group["rules"] if "lastError" in rule}
    assert troubles == {}
    about_the_prompt = {ALERT, "LexicuePromptHeadroomLow", "LexicueTermsDroppedRising"}
    assert set(prometheus_states(stack)) - about_the_prompt == set()


def test_what_runs_is_what_the_files_say(stack: Stack, app: httpx.Client) -> None:
    """Postgres, app, Alertmanager and Prometheus run by the commands of compose file and image."""
    assert set(stack.commands) == set(COMPOSE) - {"grafana"}, "grafana has no package to run here"
    assert app.get("/health").json()["database"] is True
    assert [Path(stack.commands["app"][0]).name, *stack.commands["app"][1:]] == IMAGE.command()


def test_the_page_has_the_metrics_that_are_documented(app: httpx.Client) -> None:
    """A class of metrics that nobody hung on the registry would be documented and never seen."""
    on_page = set(re.findall(r"^# TYPE (\w+) ", app.get("/metrics").text, re.MULTILINE))
    assert on_page == set(series_by_metric())


def test_the_healthcheck_of_the_image_tells_ready_from_away(stack: Stack) -> None:
    _, *arguments = IMAGE.healthcheck()
    for port, healthy in ((stack.ports["app"], True), (1, False)):
        environment = os.environ | {"LEXICUE_PORT": str(port)}
        check = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=False)
        assert (check.returncode == 0) is healthy
