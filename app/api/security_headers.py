"""What a browser is told about every answer, and which pages of other origins may call. In: answers. Out: the same with
headers. Pure ASGI, event loop thread."""

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.error_handlers import error_response
from app.errors import Forbidden, InvalidRequest

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",  # transcripts and prompts are nobody else's to keep
}
_CSP = "Content-Security-Policy"
_DATA_CSP = "default-src 'none'; frame-ancestors 'none'"
_PAGE_CSP = "frame-ancestors 'none'"

_ORIGIN = re.compile(r"https?://[^/\s,@?#]+|\*")


class SecurityHeaders:
    """Adds each header that the route has not set itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                page = headers.get("content-type", "").startswith("text/html")
                headers.setdefault(_CSP, _PAGE_CSP if page else _DATA_CSP)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class Cors(CORSMiddleware):
    """Pages of `origins` may call, with a key of their own and never with cookies."""

    def __init__(self, app: ASGIApp, origins: tuple[str, ...]) -> None:
        super().__init__(
            app,
            allow_origins=origins,
            allow_methods=("GET", "POST", "PATCH", "DELETE"),
            allow_headers=(
                "Authorization",
                "Content-Type",
                "Idempotency-Key",
                "If-Match",
                "X-API-Key",
                "X-Lexicue-Glossary",
                "X-Request-Id",
            ),
            expose_headers=(
                "ETag",
                "Idempotent-Replayed",
                "Location",
                "Retry-After",
                "X-Lexicue-Fallbacks",
                "X-Lexicue-Prompt-Headroom",
                "X-Lexicue-Prompt-Sha256",
                "X-Lexicue-Prompt-Tokens",
                "X-Lexicue-Warnings",
                "X-Request-Id",
            ),
        )

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code < 400:
            return response
        return error_response(Forbidden("That origin, method or header may not be used here.", code="cors_refused"))


def parse_origins(text: str) -> tuple[str, ...]:
    """Origins of LEXICUE_CORS_ORIGINS. Raises InvalidRequest for what no browser would send as one."""
    origins = tuple(filter(None, re.split(r"[,\s]+", text)))
    if not all(_ORIGIN.fullmatch(origin) for origin in origins):
        raise InvalidRequest(
            "Bad settings. LEXICUE_CORS_ORIGINS: write origins as https://host or http://host:port, separated by "
            "commas; * for all.",
            code="bad_settings",
        )
    return origins
