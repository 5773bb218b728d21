"""Who may reach which route. In: a request's path and key. Out: the request with its caller known, or 401 or 403 before
a byte of its body is read. Pure ASGI, event loop thread."""

from collections.abc import Collection

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.error_handlers import error_response
from app.api.keys import ApiKey, KeyRing, Role
from app.api.middleware import let_finish
from app.errors import Forbidden, LexicueError, Unauthorized

_OPEN = {"/livez", "/readyz", "/health", "/docs", "/docs/oauth2-redirect", "/redoc", "/openapi.json"}
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}


def needed_role(path: str, *, metrics_need_key: bool) -> Role | None:
    """None where anybody may call. A route that is not named here is for ops: a new one starts closed."""
    path = path.rstrip("/")
    if path in _OPEN or (path == "/metrics" and not metrics_need_key):
        return None
    if path == "/transcribe" or path.startswith("/v1/"):
        return Role.APP
    return Role.OPS


class Access:
    """Finds the caller by `Authorization: Bearer` or `X-API-Key`; `request.state` gets `api_key` and `actor`.

    Without keys anybody may call, but no page of another site through its reader's browser: such a request to change
    something is refused unless its origin is in `origins`.
    """

    def __init__(
        self, app: ASGIApp, *, keys: KeyRing, metrics_need_key: bool = False, origins: Collection[str] = ()
    ) -> None:
        self._app = app
        self._keys = keys
        self._metrics_need_key = metrics_need_key
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                self._admit(scope, Headers(scope=scope))
            except LexicueError as error:
                await let_finish(scope, receive)
                await error_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _admit(self, scope: Scope, headers: Headers) -> None:
        secret = _presented(headers)
        key = self._keys.find(secret) if secret else None
        if key is not None:
            scope.setdefault("state", {}).update(api_key=key, actor=key.name)
        needed = needed_role(scope["path"], metrics_need_key=self._metrics_need_key)
        if self._keys and needed is not None:
            _require(needed, key, presented=bool(secret))
        if key is None and scope["method"] not in _SAFE_METHODS:
            self._refuse_other_sites(headers)

    def _refuse_other_sites(self, headers: Headers) -> None:
        from_elsewhere = headers.get("sec-fetch-site", "none") in {"cross-site", "same-site"}
        if from_elsewhere and not {"*", headers.get("origin")} & self._origins:
            raise Forbidden("Pages of that origin may not call here; see LEXICUE_CORS_ORIGINS.", code="cross_site")


def default_glossary(request: Request) -> str | None:
    """The glossary of the caller's key, for requests that name none."""
    key: ApiKey | None = getattr(request.state, "api_key", None)
    return key.glossary if key else None


def _require(needed: Role, key: ApiKey | None, *, presented: bool) -> None:
    if key is None:
        raise Unauthorized(
            "That key is not known here."
            if presented
            else "Send a key: `Authorization: Bearer ...` or `X-API-Key: ...`.",
            code="invalid_api_key" if presented else "missing_api_key",
        )
    if needed is Role.OPS and key.role is not Role.OPS:
        raise Forbidden("This route is for ops keys; this key may transcribe.", code="wrong_role")


def _presented(headers: Headers) -> str:
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "").strip()
