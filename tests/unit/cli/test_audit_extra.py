"""A server is installed without the packages that audits need; the command says so instead of failing to import."""

import importlib
import importlib.util
from importlib.machinery import ModuleSpec

import pytest
from typer.testing import CliRunner

from app.cli import audit


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    real = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "jiwer" else real(name, package)

    with monkeypatch.context() as patched:
        patched.setattr(importlib.util, "find_spec", find_spec)
        yield importlib.reload(audit).app
    importlib.reload(audit)


@pytest.mark.parametrize("command", ["truncation", "determinism", "recall", "replay"])
def test_a_missing_extra_is_named(without_extra, command: str) -> None:  # type: ignore[no-untyped-def]
    result = CliRunner().invoke(without_extra, [command, "a.wav", "--runs", "3"])
    assert result.exit_code == 2
    assert "pip install 'lexicue[audit]'" in result.output
