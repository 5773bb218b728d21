"""The OpenAPI document, with every failure that an operation can answer. In: the framework's document, which knows the
successes. Out: the same with the one error shape under each status, by what the operation is. Pure; any thread."""

from typing import Any

from fastapi import FastAPI

from app.api.schemas import ErrorShape

Operation = dict[str, Any]

_MEANINGS = {
    400: "A parameter, a text or a recording that cannot be used.",
    401: "The server has keys, and none or an unknown one was sent.",
    403: "The key is for other routes, or a page of another origin called.",
    404: "What the path or the glossary names is not there.",
    408: "The body came too slowly.",
    409: "In conflict with what is stored.",
    412: "Somebody else edited first: the revision is not the newest.",
    413: "Too large: bytes, seconds or form fields.",
    422: "Another shape than described here.",
    429: "Too much is waiting, or too many are sending: see Retry-After.",
    431: "The headers are too long.",
    500: "A fault of the service; the request id finds it in the log.",
    503: "Starting, draining, or without what the request needs.",
    504: "Not decoded within the deadline.",
}
_ERROR = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorShape"}}}
_PROBES = {"/livez", "/readyz"}


class DescribedApp(FastAPI):
    """An application whose document describes its failures, too."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            with_errors(super().openapi())
        return super().openapi()


def with_errors(document: dict[str, Any]) -> None:
    """Writes the failures into `document`; those that the framework put there are replaced."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    shape = ErrorShape.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= shape.pop("$defs") | {"ErrorShape": shape}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            answers: dict[str, Any] = operation["responses"]
            for framework in [status for status in answers if status >= "400"]:
                del answers[framework]
            for status in sorted(statuses(path, method, operation)):
                answers[str(status)] = {"description": _MEANINGS[status], "content": _ERROR}
            if path in _PROBES:
                answers["503"] = {"description": "No.", "content": answers["200"]["content"]}


def statuses(path: str, method: str, operation: Operation) -> set[int]:
    """What may go wrong: with the headers, the caller, the question, the body, the glossaries, the model."""
    found = {431, 500, 503}
    if operation.get("security"):
        found |= {401, 403}
    if operation.get("parameters") or "requestBody" in operation:
        found |= {400, 422}
    if "requestBody" in operation:
        found |= {408, 413, 429}
    if "{" in path or path == "/prompt/preview" or _transcribes(path):
        found |= {404}
    if path.startswith("/glossaries") and method != "get":
        found |= {409, 412}
    if _transcribes(path):
        found |= {504}
    return found


def _transcribes(path: str) -> bool:
    return path == "/transcribe" or path.startswith("/v1/audio/")
