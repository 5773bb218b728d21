"""`.env.example` is the documentation of the settings: every one is there, with its default and its meaning."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from app.errors import InvalidRequest
from app.settings import Settings, load_settings

EXAMPLE = (Path(__file__).parents[2] / ".env.example").read_text()


def _types(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) or (annotation,)


def expected_lines(name: str) -> tuple[str, str]:
    field = Settings.model_fields[name]
    variable = f"LEXICUE_{name.upper()}"
    value = f"# {variable}=" if field.default is None else f"{variable}={field.default}"
    return f"# {field.description}", value


@pytest.mark.parametrize("name", list(Settings.model_fields))
def test_example_documents_setting(name: str) -> None:
    comment, line = expected_lines(name)
    assert f"{comment}\n{line}\n" in EXAMPLE


UNITS = re.compile(
    r"seconds?|bytes|tokens|connections|port|batches|windows|hypotheses|glossaries|uploads|requests|fields",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    "name", [name for name, field in Settings.model_fields.items() if {int, float} & {*_types(field.annotation)}]
)
def test_a_number_says_of_what(name: str) -> None:
    """In the name or in the meaning."""
    assert UNITS.search(f"{name} {Settings.model_fields[name].description}".replace("_", " "))


def test_example_has_no_unknown_setting() -> None:
    named = {line.lstrip("# ").split("=")[0] for line in EXAMPLE.splitlines() if "LEXICUE_" in line and "=" in line}
    assert named == {f"LEXICUE_{name.upper()}" for name in Settings.model_fields}


def test_example_loads_as_the_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"LEXICUE_{name.upper()}", raising=False)
    monkeypatch.chdir(tmp_path)
    defaults = load_settings()
    (tmp_path / ".env").write_text(EXAMPLE)
    assert load_settings() == defaults


def test_bad_setting_is_named_and_its_value_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXICUE_PORT", "secret-value")
    with pytest.raises(InvalidRequest) as caught:
        load_settings()
    assert "LEXICUE_PORT" in caught.value.message
    assert "secret-value" not in caught.value.message
