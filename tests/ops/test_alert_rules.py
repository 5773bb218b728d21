"""Alerts that fire when they should, say what they mean, and lead to a page that says what to do."""

import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml
from shipped import DOCKER, ROOT, RULE_TESTS, RULES, alerts, promtool, recorded_in, registry, rules, series_by_metric
from shipped import series_in as series

from app.api import openai, transcriptions
from app.decoding.ladder import LADDER
from app.decoding.request import Outcome
from app.prompt.plan import DropReason
from app.telemetry import OUTCOMES

RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
SECTIONS = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", RUNBOOK, re.MULTILINE | re.DOTALL))
EXPRESSIONS = "\n".join(rule["expr"] for rule in rules())


def test_promtool_accepts_the_configuration_and_every_rule() -> None:
    promtool("check", "config", DOCKER / "prometheus" / "prometheus.yml")
    promtool("check", "rules", *RULES)


def test_alertmanager_accepts_its_configuration() -> None:
    amtool = shutil.which("amtool")
    if amtool is None:
        pytest.skip("amtool is not installed; `apt-get install prometheus-alertmanager` (.ci/run does) runs this test")
    command = [amtool, "check-config", str(DOCKER / "alertmanager" / "alertmanager.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", RULE_TESTS, ids=lambda path: path.stem)
def test_alerts_fire_and_stay_silent_as_promtool_sees_them(path: Any) -> None:
    promtool("test", "rules", path)


@pytest.mark.parametrize("name", alerts())
def test_an_alert_has_a_firing_and_a_silent_case(name: str) -> None:
    checks = [
        check
        for path in RULE_TESTS
        for case in yaml.safe_load(path.read_text())["tests"]
        for check in case["alert_rule_test"]
        if check["alertname"] == name
    ]
    assert {bool(check["exp_alerts"]) for check in checks} == {True, False}


@pytest.mark.parametrize("name", alerts())
def test_an_alert_says_what_is_wrong_with_its_number_and_where_to_read_on(name: str) -> None:
    alert = alerts()[name]
    assert alert["labels"]["severity"] in {"critical", "warning"}
    notes = alert["annotations"]
    assert set(notes) == {"summary", "description", "runbook_url"}
    assert "$value" in notes["description"] or re.search(r"\d", notes["description"])
    assert notes["runbook_url"] == f"docs/runbook.md#{name.lower()}"


def test_the_runbook_has_a_heading_for_each_alert_and_no_other() -> None:
    assert set(SECTIONS) == set(alerts())


@pytest.mark.parametrize("name", SECTIONS)
def test_a_runbook_section_says_what_it_means_how_to_confirm_and_what_to_do(name: str) -> None:
    assert re.findall(r"^\*\*(\w+)\.\*\*", SECTIONS[name], re.MULTILINE) == ["Means", "Confirm", "Do"]


def test_links_within_the_runbook_lead_somewhere() -> None:
    assert set(re.findall(r"\(#(\w+)\)", RUNBOOK)) <= {name.lower() for name in SECTIONS}


def test_rules_and_runbook_name_series_that_the_code_has() -> None:
    known = set().union(*series_by_metric().values())
    assert series(EXPRESSIONS) - known == set()
    metrics = set(series_by_metric())
    assert series(RUNBOOK) - known - metrics == set()
    queries = "\n".join(str(alert["annotations"]) for alert in alerts().values())
    assert series(queries) - known == set()


def test_recorded_series_are_used_and_used_ones_are_recorded() -> None:
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    dashboard = (DOCKER / "grafana" / "dashboards" / "lexicue.json").read_text()
    assert recorded_in(EXPRESSIONS + dashboard) == recorded
    assert recorded_in(RUNBOOK) <= recorded


def test_the_table_of_metrics_is_the_code_s() -> None:
    documented = re.findall(r"^\| `(lexicue_[a-z_]+)(?:\{([a-z,]+)\})?` \| (\w+) \|", OPERATIONS, re.MULTILINE)
    in_code = {
        family.name + ("_total" if family.type == "counter" else ""): family.type for family in registry().collect()
    }
    assert {name: kind for name, _, kind in documented} == in_code


def test_labels_that_rules_select_by_exist() -> None:
    """A misspelt value selects nothing, and an alert on nothing never fires."""

    def selected(label: str) -> set[str]:
        found = re.findall(rf'\b{label}=~?"([^"]+)"', EXPRESSIONS)
        return {value for text in found for value in text.split("|")}

    assert selected("reason") <= {reason.value for reason in DropReason}
    assert selected("outcome") <= {*OUTCOMES, *(outcome.value for outcome in Outcome)}
    assert selected("rung") <= {rung.name for rung in LADDER}
    assert selected("job") == {"lexicue"}
    edges = {sample.labels.get("le") for family in registry().collect() for sample in family.samples}
    assert selected("le") <= edges


def test_the_selected_routes_are_those_that_transcribe() -> None:
    paths = {
        str(getattr(route, "path", "")) for router in (openai.router, transcriptions.router) for route in router.routes
    }
    (pattern,) = set(re.findall(r'route=~"([^"]+)"', EXPRESSIONS))
    selected = {path for path in paths if re.fullmatch(pattern, path)}
    assert selected == {"/transcribe", "/v1/audio/transcriptions", "/v1/audio/translations"}
