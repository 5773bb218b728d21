"""The commands' way to a server. In: a URL and a request. Out: its JSON, or one clear line on stderr and exit code 1.
Main thread, blocking."""

import os
from typing import Annotated, NoReturn

import httpx
import typer

DEFAULT_URL = "http://127.0.0.1:8000"

Url = Annotated[str, typer.Option("--url", envvar="LEXICUE_URL", help="Server to talk to.", show_default=True)]
Json = Annotated[bool, typer.Option("--json", help="Print data as JSON.")]


def connect(url: str) -> httpx.Client:
    """A client for the server at `url`; LEXICUE_KEY, if set, goes along as the bearer key."""
    key = os.environ.get("LEXICUE_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.Client(base_url=url, headers=headers, timeout=httpx.Timeout(30, read=None))


class Refused(typer.Exit):
    """The server answered one request with an error, which has been printed; the next may fare better."""


def call(client: httpx.Client, method: str, path: str, *, about: object = None, **request: object) -> httpx.Response:
    """One request; on a refusal (`Refused`) or an unreachable server prints why and exits with 1. `about` names what
    was refused."""
    try:
        response = client.request(method, path, **request)  # type: ignore[arg-type]
    except httpx.TransportError as error:
        fail(
            f"No answer from {client.base_url}: {error}. Start a server with: lexicue serve; "
            "or name a running one with --url or LEXICUE_URL."
        )
    if response.is_error:
        reason = _reason(response)
        _complain(f"{about}: {reason}" if about else reason)
        raise Refused(1)
    return response


def fail(message: str) -> NoReturn:
    _complain(message)
    raise typer.Exit(1)


def _complain(message: str) -> None:
    typer.secho(message, err=True, fg=typer.colors.RED)


def _reason(response: httpx.Response) -> str:
    try:
        error = response.json()["error"]
        return f"{error['code']}: {error['message']}"
    except (ValueError, KeyError, TypeError):
        return f"The server answered {response.status_code} without saying why."
