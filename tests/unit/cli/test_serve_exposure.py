"""A server that would be open by mistake, or with keys that cannot be read, does not start and says why."""

import hashlib
import json

import pytest
from typer.testing import CliRunner

from app.cli.main import app


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"LEXICUE_HOST": "0.0.0.0"}, "LEXICUE_ALLOW_ANYONE=true"),  # noqa: S104 - refused, which is the point
        ({"LEXICUE_HOST": "::"}, "LEXICUE_APP_KEYS"),
        ({"LEXICUE_HOST": "this-machine.example"}, "`lexicue key NAME` makes one"),
        ({"LEXICUE_APP_KEYS": "hunter2"}, "LEXICUE_APP_KEYS: entry 1: write name=secret"),
        ({"LEXICUE_OPS_KEYS": "a=fine b=sha256:hunter2"}, "LEXICUE_OPS_KEYS: entry 2"),
        ({"LEXICUE_CORS_ORIGINS": "example.com"}, "LEXICUE_CORS_ORIGINS"),
    ],
)
def test_a_start_that_would_go_wrong_is_refused(settings: dict[str, str], said: str) -> None:
    refused = CliRunner().invoke(app, ["serve", "--port", "0"], env=settings)
    assert refused.exit_code == 1
    assert said in refused.stderr
    assert "hunter2" not in refused.output


def test_a_made_key_is_the_secret_and_an_entry_that_does_not_hold_it() -> None:
    made = json.loads(CliRunner().invoke(app, ["key", "web", "--glossary", "clinic", "--json"]).stdout)
    assert made["entry"] == f"web@clinic=sha256:{hashlib.sha256(made['secret'].encode()).hexdigest()}"
    assert len(made["secret"]) >= 40


@pytest.mark.parametrize("name", ["", "a b", "a=b", "x" * 41])
def test_a_key_for_what_is_no_name_is_refused(name: str) -> None:
    assert CliRunner().invoke(app, ["key", name]).exit_code == 1
