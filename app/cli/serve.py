"""`lexicue serve`. In: settings, overridden by options. Out: the service; its URL as the one line on stdout once it is
ready, progress on stderr. Main thread."""

import asyncio
import ipaddress
import logging
import signal
import socket
from types import FrameType
from typing import Annotated

import typer
import uvicorn

from app.api.connection import ConnectionLimits, bounded
from app.api.keys import KeyRing, Role, parse_keys
from app.api.security_headers import parse_origins
from app.api.state import AppState
from app.cli.client import fail
from app.cli.samples import load_samples
from app.errors import InvalidRequest, LexicueError
from app.main import create_app
from app.settings import Settings, load_settings
from app.telemetry import configure_logging, logger

log = logger(__name__)

_BACKLOG = 2048


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (LEXICUE_HOST).")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 picks a free one (LEXICUE_PORT).")] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Load the sample glossaries if they are missing.")] = False,
) -> None:
    """Start the service and say its URL when it is ready."""
    try:
        settings = load_settings(host=host, port=port)
        keys = parse_keys(*settings.keys())
        parse_origins(settings.cors_origins or "")
        _require_keys_beyond_this_machine(settings, keys)
    except LexicueError as error:
        fail(error.message)
    configure_logging(log_format=settings.log_format, level=settings.log_level)
    _say_who_may_call(settings, keys)
    for number in (signal.SIGINT, signal.SIGTERM):
        # Before the server listens for signals, and after it has drained and raises them again: stopping when asked
        # to is success, exit code 0.
        signal.signal(number, _stopped)
    listener = _listen(settings)
    server = _Server(settings, listener, sample=sample)
    try:
        server.run(sockets=[listener])
    except SystemExit:
        if server.failure is None:
            raise
        fail(server.failure)


def _require_keys_beyond_this_machine(settings: Settings, keys: KeyRing) -> None:
    if not keys and not settings.allow_anyone and not _is_loopback(settings.host):
        raise InvalidRequest(
            f"Without keys the server listens on this machine only, not on {settings.host}. Set LEXICUE_APP_KEYS and "
            "LEXICUE_OPS_KEYS (`lexicue key NAME` makes one), or LEXICUE_ALLOW_ANYONE=true if anyone who can connect "
            "may transcribe and edit.",
            code="keys_needed",
        )


def _say_who_may_call(settings: Settings, keys: KeyRing) -> None:
    if keys:
        names = {role.value: sorted({key.name for key in keys if key.role is role}) for role in Role}
        log.info("callers need a key", **names)
    elif _is_loopback(settings.host):
        log.info("no keys are set: anyone on this machine may transcribe and edit", host=settings.host)
    else:
        log.warning("no keys are set: anyone who can connect may transcribe and edit", host=settings.host)


def _is_loopback(host: str) -> bool:
    """Names other than localhost count as reachable: what they stand for may change."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _stopped(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


class _Server(uvicorn.Server):
    """Says the URL once requests are answered, and keeps the reason when the start fails."""

    def __init__(self, settings: Settings, listener: socket.socket, *, sample: bool) -> None:
        self.failure: str | None = None
        self._url = _url(settings.host, listener.getsockname()[1])
        self._drain_seconds = settings.drain_seconds
        self._service = create_app(settings, on_start=load_samples if sample else None, on_failure=self._failed)
        super().__init__(
            uvicorn.Config(
                self._service,
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=int(settings.drain_seconds) + 10,
                server_header=False,
                http=bounded(ConnectionLimits(settings.max_header_bytes, stall_seconds=settings.stall_seconds)),
                ws="none",
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            typer.echo(self._url)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain while the answers of admitted requests still go out; what is not done in time is answered with 503
        instead of being cut."""
        state: AppState = self._service.state.lexicue
        drain = asyncio.create_task(state.dispatcher.stop(self._drain_seconds))
        await super().shutdown(sockets)
        await drain

    def _failed(self, error: LexicueError) -> None:
        self.failure = error.message
        # The reason is said in one line; the server's own report of it would be a stack trace.
        logging.getLogger("uvicorn.error").disabled = True


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        fail(f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. Choose another with --port.")
    return listener


def _url(host: str, port: int) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"
