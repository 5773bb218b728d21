"""Terms in a glossary of the server's, for as long as an audit needs them. In: terms, which of them are said, a
placement. Out: a request that names glossary and revision. Blocking."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import httpx

from app.audit.probe import Ask
from app.audit.recall import Placement
from app.errors import InvalidRequest, NotReady


class GlossaryOnServer:
    """One glossary, filled anew when other terms are asked for; needs a key that may edit."""

    def __init__(self, client: httpx.Client, slug: str) -> None:
        self._client = client
        self._slug = slug
        self._filled: tuple[list[dict[str, Any]], int] = ([], 0)

    def placed(self, ask: Ask, said: frozenset[str], placement: Placement) -> Ask:
        """`ask` with its keywords, in the order of a prompt, as terms: those in `said` in the block of `placement`, the
        others ranked. Raises what `filled` raises."""
        blocks = [placement if text in said else Placement.RANKED for text in ask.keywords]
        return self._with(replace(ask, keywords=()), list(zip(ask.keywords, blocks, strict=True)))

    def filled(self, ask: Ask, terms: Sequence[str]) -> Ask:
        """`ask` with a glossary of just these, the most important first, all ranked. Raises InvalidRequest when the
        server takes no glossary, NotReady when it is gone."""
        return self._with(ask, [(text, Placement.RANKED) for text in reversed(terms)])

    def _with(self, ask: Ask, terms: Sequence[tuple[str, Placement]]) -> Ask:
        """`terms`: the least important first."""
        rows = [
            {"text": text, "placement": placement, "priority": priority}
            for priority, (text, placement) in enumerate(terms, start=1)
        ]
        if rows != self._filled[0]:
            self._filled = (rows, self._fill(rows))
        return replace(ask, glossary=self._slug, revision=self._filled[1])

    def _fill(self, rows: list[dict[str, Any]]) -> int:
        try:
            response = self._client.post(
                f"/glossaries/{self._slug}/terms:import",
                params={"mode": "replace", "create": "true", "format": "json"},
                json=rows,
                timeout=None,
            )
        except httpx.TransportError as error:
            raise NotReady(f"{self._client.base_url} went away during the audit.") from error
        if response.is_error:
            raise InvalidRequest(f"The server takes no glossary from this audit: {_reason(response)}")
        return int(response.json()["revision"])


@contextmanager
def glossary_on_server(client: httpx.Client, slug: str) -> Iterator[GlossaryOnServer]:
    """Deletes the glossary at the end, if one was made."""
    try:
        yield GlossaryOnServer(client, slug)
    finally:
        # A server that went away keeps it until the audit, given again, has ended.
        with suppress(httpx.TransportError):
            client.delete(f"/glossaries/{slug}")


def _reason(response: httpx.Response) -> str:
    try:
        error: dict[str, Any] = response.json()["error"]
        return f"{response.status_code}: {error['message']}"
    except (ValueError, KeyError, TypeError):
        return f"{response.status_code}"
