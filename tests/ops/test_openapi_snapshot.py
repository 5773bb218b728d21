"""What callers rely on changes on purpose only, and every failure stands in the document."""

import json
from typing import Any

import pytest
from openapi_document import KEPT, document

DOCUMENT: dict[str, Any] = json.loads(document())
ERROR = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorShape"}}}


def operations() -> dict[str, dict[str, Any]]:
    return {f"{method.upper()} {path}": made for path, by in DOCUMENT["paths"].items() for method, made in by.items()}


def test_the_document_is_the_one_that_was_agreed() -> None:
    """Written anew by: .venv/bin/python tests/ops/openapi_document.py"""
    assert json.loads(KEPT.read_text()) == DOCUMENT


@pytest.mark.parametrize(
    ("operation", "failures"),
    [
        ("POST /transcribe", {400, 401, 403, 404, 408, 413, 422, 429, 431, 500, 503, 504}),
        ("POST /v1/audio/transcriptions", {400, 401, 403, 404, 408, 413, 422, 429, 431, 500, 503, 504}),
        ("GET /v1/models", {401, 403, 431, 500, 503}),
        ("GET /prompt/preview", {400, 401, 403, 404, 422, 431, 500, 503}),
        ("GET /glossaries", {400, 401, 403, 422, 431, 500, 503}),
        ("PATCH /glossaries/{slug}", {400, 401, 403, 404, 408, 409, 412, 413, 422, 429, 431, 500, 503}),
        ("GET /livez", {431, 500, 503}),
    ],
)
def test_an_operation_describes_each_way_to_fail(operation: str, failures: set[int]) -> None:
    answers = operations()[operation]["responses"]
    assert {int(status) for status in answers if status >= "400"} == failures
    assert all(answers[str(status)]["content"] == ERROR for status in failures - {503})


def test_every_operation_has_a_summary_and_every_parameter_of_a_form_a_type() -> None:
    for name, operation in operations().items():
        assert operation["summary"], name
        for parameter in operation.get("parameters", ()):
            assert parameter["schema"], name
