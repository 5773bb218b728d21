"""What is shipped for operators, read as data, and the metrics that the code has."""

import importlib
import inspect
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry

from app.telemetry import Telemetry

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
RULES = sorted((DOCKER / "prometheus" / "rules").glob("*.yml"))
RULE_TESTS = sorted((DOCKER / "prometheus" / "tests").glob("*.yml"))
DASHBOARD = DOCKER / "grafana" / "dashboards" / "lexicue.json"

_NAME = re.compile(r"\blexicue_[a-z_]*[a-z]\b(?=[\s\[({`)]|$)")
_RECORDED = re.compile(r"\blexicue:[a-z_]+:[a-z0-9_]+")
_SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("_total",), "gauge": ("",)}


class _Pool:
    pool_size, pool_in_use, pool_timeouts = 5, 0, 0


def registry() -> CollectorRegistry:
    """A registry with every metric that a server has: the classes of all modules that are named for metrics."""
    telemetry = Telemetry(version="0")
    for path in sorted((ROOT / "app").rglob("*metrics.py")):
        module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for name, station in inspect.getmembers(module, inspect.isclass):
            if name.endswith("Metrics") and station.__module__ == module.__name__:
                if hasattr(station, "collect"):
                    telemetry.registry.register(station(_Pool()))
                else:
                    station(telemetry.registry)
    return telemetry.registry


def series_by_metric() -> dict[str, set[str]]:
    """Metric as it is written in the documentation (a counter with `_total`) to the names of its series."""
    return {
        family.name + ("_total" if family.type == "counter" else ""): {
            family.name + suffix for suffix in _SUFFIXES[family.type]
        }
        for family in registry().collect()
    }


def series_in(text: str) -> set[str]:
    return set(_NAME.findall(text))


def recorded_in(text: str) -> set[str]:
    return set(_RECORDED.findall(text))


def rules() -> list[dict[str, Any]]:
    return [rule for path in RULES for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]]


def alerts() -> dict[str, dict[str, Any]]:
    return {rule["alert"]: rule for rule in rules() if "alert" in rule}


def promtool(*arguments: str | Path) -> None:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not installed; `apt-get install prometheus` (.ci/run does) runs this test")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
