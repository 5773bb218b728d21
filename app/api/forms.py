"""Forms and files on their way in. In: a multipart or plain form, or the bytes of a recording. Out: the same bounded
form for the routes, whichever it was. Event loop thread; files are spooled to disk.

A form is read before the route is entered, so that a client that leaves meanwhile is one that left, and each way to
be over a limit has its own answer."""

import tempfile
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from fastapi import Request, Response, UploadFile
from fastapi.routing import APIRoute
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException

from app.errors import InvalidRequest, TooLarge

_SPOOLED_BYTES = 1024 * 1024
_RAW_KINDS = ("audio/", "video/")
_RAW_TYPES = {"application/octet-stream", "application/ogg"}


@dataclass(frozen=True, slots=True)
class FormLimits:
    """Fields and files in one form, and bytes in one field that is not a file."""

    max_fields: int = 500
    max_field_bytes: int = 32 * 1024


class FormRoute(APIRoute):
    """A route that takes a form. The limits are the application's `state.form_limits`, if it has any."""

    takes_raw = False

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def read_and_handle(request: Request) -> Response:
            if self.takes_raw and is_raw(request):
                request._form = await _raw(request)  # the framework has no public way to hand it a form
            else:
                await _form(request)
            return await handle(request)

        return read_and_handle


class FormOrFileRoute(FormRoute):
    """Takes the file as the whole body too; its options are query parameters then."""

    takes_raw = True


def is_raw(request: Request) -> bool:
    """Whether the body is a recording and nothing else, by its Content-Type."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    return kind.startswith(_RAW_KINDS) or kind in _RAW_TYPES


async def _raw(request: Request) -> FormData:
    spooled = tempfile.SpooledTemporaryFile(_SPOOLED_BYTES)  # noqa: SIM115 - closed with the form
    upload = UploadFile(cast(BinaryIO, spooled), size=0, filename="body")
    try:
        async for chunk in request.stream():
            await upload.write(chunk)
        await upload.seek(0)
    except BaseException:
        await upload.close()
        raise
    return FormData([*request.query_params.multi_items(), ("file", upload)])


async def _form(request: Request) -> None:
    limits: FormLimits = getattr(request.app.state, "form_limits", FormLimits())
    try:
        await request.form(
            max_files=limits.max_fields, max_fields=limits.max_fields, max_part_size=limits.max_field_bytes
        )
    except HTTPException as error:
        raise _refusal(str(error.detail), limits) from None
    except UnicodeError:  # a charset that Python knows and the form is not in; of others the parser takes care
        raise _refusal("", limits) from None


def _refusal(reason: str, limits: FormLimits) -> InvalidRequest | TooLarge:
    if reason.startswith("Too many"):
        return TooLarge(f"The form has over {limits.max_fields} fields.", code="too_many_fields")
    if "exceeded maximum size" in reason:
        return TooLarge(f"A form field is over {limits.max_field_bytes} bytes.", code="field_too_large")
    return InvalidRequest("The body is no valid form data.", code="invalid_body")
