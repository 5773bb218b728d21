"""Every failure as one envelope. In: exceptions from routes and the framework. Out: {"error": {message, type, param,
code}} with an explicit status; the input is never echoed. Event loop thread."""

import re
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from app.errors import (
    InvalidRequest,
    LexicueError,
    MethodNotAllowed,
    NotFound,
    Overloaded,
    TooLarge,
    Unauthorized,
    Unprocessable,
)
from app.telemetry import logger

log = logger(__name__)

# Names that may stand in a message: a caller's own keys are not repeated.
_NAME = re.compile(r"[A-Za-z0-9_.\[\]:-]{1,60}")
# A whole body that does not say it is a recording is taken for a form without one.
_NO_FILE = (
    "`file` is missing: send the recording as that field of a multipart form. POST /transcribe takes it as the whole "
    "body too, with Content-Type: audio/..."
)


def error_body(error: LexicueError) -> dict[str, object]:
    """The one shape in which a failure leaves the service."""
    body: dict[str, object] = {
        "message": error.message,
        "type": error.type,
        "param": error.param,
        "code": error.code,
    }
    if error.details:
        body["details"] = error.details
    return {"error": body}


def error_response(error: LexicueError) -> JSONResponse:
    headers: dict[str, str] = {}
    if isinstance(error, Overloaded):
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = 'Bearer realm="lexicue"'
    return JSONResponse(error_body(error), status_code=error.status, headers=headers)


def install_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(LexicueError, _known)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _framework)


async def _known(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, LexicueError)  # noqa: S101 - registered for this class
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.warning("request failed", code=error.code, status=error.status)
    return error_response(error)


async def _validation(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class
    first: Mapping[str, object] = next(iter(error.errors()), {})
    location = first.get("loc")
    parts = [str(part) for part in location[1:]] if isinstance(location, tuple | list) else []
    where = ".".join(part if _NAME.fullmatch(part) else "(a field)" for part in parts)
    if first.get("type") == "json_invalid":
        return error_response(Unprocessable("The body is no valid JSON.", code="invalid_json"))
    missing = first.get("type") == "missing"
    name = f"`{where}`" if where else "The body"
    absent = _NO_FILE if where == "file" else f"{name} is missing."
    message = absent if missing else f"{name} has the wrong form: {first.get('msg', 'invalid')}."
    return error_response(
        Unprocessable(message, param=where or None, code="missing_parameter" if missing else "invalid_parameter")
    )


async def _framework(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class
    match error.status_code:
        case HTTPStatus.NOT_FOUND:
            known: LexicueError = NotFound("No such route; GET /docs lists them.", code="unknown_route")
        case HTTPStatus.METHOD_NOT_ALLOWED:
            known = MethodNotAllowed("That route does not take this method; GET /docs lists what it takes.")
        case HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            known = TooLarge("The request body is too large.")
        case _:
            known = InvalidRequest(
                "The body cannot be read: it is no valid JSON or form data.",
                code="invalid_body",
            )
    response = error_response(known)
    response.headers.update(error.headers or {})
    return response
