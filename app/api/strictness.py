"""Nothing that a caller says is ignored in silence. In: query parameters and JSON bodies. Out: nothing, or a refusal
that names what is unknown or said twice. Event loop thread."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from app.api.clients import refuse_repeated, refuse_unknown
from app.errors import TooLarge, Unprocessable
from app.glossary.term_file import refuse_twins

MAX_JSON_BYTES = 1024 * 1024


async def refuse_unknown_query(request: Request) -> None:
    """For routes that declare their query parameters themselves."""
    route: APIRoute = request.scope["route"]
    known = frozenset(field.alias for field in route.dependant.query_params)
    given = [name for name, _ in request.query_params.multi_items()]
    refuse_repeated(given, known)
    refuse_unknown(given, known)


class StrictJsonRoute(APIRoute):
    """A JSON body of at most MAX_JSON_BYTES in which no object has a name twice: of two values for one name the
    parser would keep the last."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def read_and_handle(request: Request) -> Response:
            body = bytearray()
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_JSON_BYTES:
                    raise TooLarge(f"The body is over {MAX_JSON_BYTES} bytes.", code="body_too_large")
            request._body = bytes(body)  # where the framework looks for it
            try:
                json.loads(request._body, object_pairs_hook=refuse_twins)
            except RecursionError:
                raise Unprocessable("The body is nested too deeply.", code="invalid_json") from None
            except ValueError:
                pass  # the framework says it better
            return await handle(request)

        return read_and_handle
