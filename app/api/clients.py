"""What every transcription route owes its client: nothing it sent is ignored in silence, and work for one who left is
dropped. Event loop thread."""

import asyncio
import re
from collections.abc import Awaitable, Iterable, Sequence
from typing import TypeVar

from fastapi import Request

from app.api.forms import is_raw
from app.errors import InvalidRequest, LexicueError

T = TypeVar("T")

_LISTS = {"timestamp_granularities"}
_NEVER = dict.fromkeys(("seed", "temperature"), "decoding never samples, the same audio always gives the same text")
_FIELD_NAME = re.compile(r"[A-Za-z0-9_.\[\]-]{1,40}")


class ClientClosed(LexicueError):
    """The client hung up; nobody reads the answer, the status is for the log."""

    status = 499
    default_code = "client_closed"


async def refuse_unknown_fields(request: Request, known: frozenset[str]) -> None:
    """A field that would be ignored is refused: a misspelt `glossary` must not cost the bias in silence."""
    if request.query_params and not is_raw(request):
        raise InvalidRequest("The options of this route go into its form, not into the address.", code="unknown_query")
    given = [name for name, _ in (await request.form()).multi_items()]
    refuse_repeated(given, known)
    refuse_unknown(given, known)


def refuse_repeated(given: Sequence[str], known: frozenset[str]) -> None:
    """Of two values for one name only one would count."""
    for name in sorted(known):
        if given.count(name) > 1 and not name.endswith("[]") and name not in _LISTS:
            raise InvalidRequest(f"`{name}` was given more than once.", param=name, code="repeated_field")


def refuse_unknown(given: Iterable[str], known: frozenset[str]) -> None:
    unknown = sorted(set(given) - known)
    if unknown:
        sane = unknown[0] if _FIELD_NAME.fullmatch(unknown[0]) else None
        if sane in _NEVER:
            raise InvalidRequest(
                f"`{sane}` is not supported: {_NEVER[sane]}.", param=sane, code=f"{sane}_not_supported"
            )
        raise InvalidRequest(
            f"{f'`{sane}`' if sane else 'A field'} is not known here; this route takes: "
            f"{', '.join(sorted(known)) or 'none'}.",
            param=sane,
            code="unknown_field",
        )


async def unless_client_leaves(request: Request, work: Awaitable[T]) -> T:
    """The result of `work`; cancels it and raises ClientClosed when the connection is closed first."""
    task = asyncio.ensure_future(work)
    gone = asyncio.create_task(_hang_up(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientClosed("The client closed the connection.")
        return task.result()
    finally:
        for pending in (task, gone):
            pending.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _hang_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
