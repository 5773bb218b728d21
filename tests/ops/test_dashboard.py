"""The dashboard as data: what it asks for exists, can be asked, and shows every metric there is. Grafana itself has no
package to run here."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from shipped import DASHBOARD, DOCKER, promtool, recorded_in, rules, series_by_metric, series_in

PANELS: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
GRAPHS = [panel for panel in PANELS if panel["type"] != "row"]
QUERIES = [target["expr"] for panel in GRAPHS for target in panel["targets"]]
PROVISIONING = DOCKER / "grafana" / "provisioning"


def test_every_query_is_valid_promql(tmp_path: Path) -> None:
    """promtool reads expressions as rules only, so each becomes one."""
    spelled_out = [query.replace("$__rate_interval", "5m") for query in QUERIES]
    assert not any("$" in query for query in spelled_out)
    as_rules = [{"record": f"panel:query:{number}", "expr": query} for number, query in enumerate(spelled_out)]
    path = tmp_path / "queries.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": as_rules}]}))
    promtool("check", "rules", path)


def test_every_query_names_what_exists() -> None:
    text = "\n".join(QUERIES)
    assert series_in(text) <= set().union(*series_by_metric().values())
    assert recorded_in(text) <= {rule["record"] for rule in rules() if "record" in rule}


def test_every_metric_is_shown_as_it_is_or_through_a_recorded_one() -> None:
    recorded = {rule["record"]: rule["expr"] for rule in rules() if "record" in rule}
    text = "\n".join(QUERIES)
    shown = series_in(text + "\n".join(recorded[name] for name in recorded_in(text)))
    hidden = {metric for metric, series in series_by_metric().items() if not series & shown}
    assert hidden == set()


@pytest.mark.parametrize("panel", GRAPHS, ids=lambda panel: panel["title"])
def test_a_panel_asks_the_provisioned_source(panel: dict[str, Any]) -> None:
    sources = yaml.safe_load((PROVISIONING / "datasources" / "prometheus.yml").read_text())["datasources"]
    uids = {source["uid"] for source in sources}
    assert {panel["datasource"]["uid"], *(target["datasource"]["uid"] for target in panel["targets"])} == uids


def test_panels_are_told_apart_and_do_not_overlap() -> None:
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {(place["x"] + column, place["y"] + row) for column in range(place["w"]) for row in range(place["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells


def test_labels_in_legends_are_labels_that_the_query_keeps() -> None:
    """A legend that names a label which the query sums away shows nothing."""
    for panel in GRAPHS:
        for target in panel["targets"]:
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                kept = re.findall(r"by \(([^)]*)\)", target["expr"])
                if kept:
                    assert any(label in labels.replace(" ", "").split(",") for labels in kept), target


def test_the_provider_reads_the_folder_that_the_compose_file_mounts() -> None:
    provider = yaml.safe_load((PROVISIONING / "dashboards" / "lexicue.yml").read_text())["providers"][0]
    compose = yaml.safe_load((DOCKER.parent / "docker-compose.yml").read_text())
    mounts = dict(volume.split(":")[:2] for volume in compose["services"]["grafana"]["volumes"])
    assert mounts["./docker/grafana/dashboards"] == provider["options"]["path"]
    assert (DOCKER.parent / "docker/grafana/dashboards" / DASHBOARD.name).is_file()
