"""One answer for one `Idempotency-Key`. In: a request, and the work that answers it. Out: its answer, the first time
and for a bounded time after. Event loop thread; uploads are hashed on a worker thread.

Work under a key goes on when its client leaves: whoever asks again with the key joins it or gets its answer, and
nothing is decoded twice."""

import asyncio
import hashlib
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import IO, Annotated

from fastapi import Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from app.api.access import default_glossary
from app.api.clients import unless_client_leaves
from app.api.uploads import upload_on_disk
from app.errors import InvalidRequest, Unprocessable

_KEY = re.compile(r"[ -~]{1,255}")
_CHUNK = 1024 * 1024
_CHOOSING_HEADERS = ("x-lexicue-glossary", "x-lexicue-selection")
# What an entry holds besides the answer's own bytes: task, response, keys.
_ENTRY_BYTES = 2000

IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="The same key and the same request get the same answer, decoded once."),
]
Work = Callable[[Path], Awaitable[Response]]


@dataclass(slots=True)
class _Entry:
    """`content`: digest of the request. `expires`, `size`: of the answer, once there is one."""

    content: bytes
    work: "asyncio.Task[Response]"
    expires: float = 0.0
    size: int = 0


@dataclass(slots=True)
class _Caller:
    """One caller's work under way and answers kept, the oldest first; `size` is the sum of theirs."""

    running: dict[str, _Entry] = field(default_factory=dict)
    kept: OrderedDict[str, _Entry] = field(default_factory=OrderedDict)
    size: int = 0

    def forget(self, now: float, max_bytes: int) -> None:
        while self.kept and (self.size > max_bytes or next(iter(self.kept.values())).expires <= now):
            _, entry = self.kept.popitem(last=False)
            self.size -= entry.size


class RememberedAnswers:
    """Keeps answers with status 200 for `seconds`, at most `max_bytes` of them a caller, the oldest given up first. A
    failure is never kept: asking again tries again. Callers do not see one another's keys."""

    def __init__(self, *, seconds: float, max_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._clock = clock
        self._callers: dict[str, _Caller] = {}

    async def answer(self, request: Request, upload: UploadFile, work: Work) -> Response:
        """The answer of `work`, which is given the upload on disk, or the one remembered. Without an Idempotency-Key
        work ends when the client leaves.

        Raises Unprocessable for a key that came with another request before, InvalidRequest for what is no key.
        """
        key = request.headers.get("idempotency-key")
        if key is None:
            async with upload_on_disk(upload) as path:
                return await unless_client_leaves(request, work(path))
        _refuse_bad_key(key)
        content = await _content_of(request)
        caller = self._callers.setdefault(getattr(request.state, "actor", ""), _Caller())
        caller.forget(self._clock(), self._max_bytes)
        entry = caller.running.get(key) or caller.kept.get(key)
        if entry is not None and entry.content != content:
            raise Unprocessable(
                "That Idempotency-Key came with another request before; use a new one for each request.",
                param="Idempotency-Key",
                code="idempotency_key_reused",
            )
        replayed = entry is not None
        if entry is None:
            on_disk = asyncio.Event()
            entry = _Entry(content, asyncio.create_task(_run(upload, work, on_disk)))
            caller.running[key] = entry
            entry.work.add_done_callback(lambda _: self._ended(caller, key, entry))
            await on_disk.wait()  # the upload is gone with its request
        answer = await unless_client_leaves(request, asyncio.shield(entry.work))
        return _copy(answer, replayed=replayed)

    async def close(self) -> None:
        """End the work that nobody waits for any more."""
        running = [entry.work for caller in self._callers.values() for entry in caller.running.values()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _ended(self, caller: _Caller, key: str, entry: _Entry) -> None:
        del caller.running[key]
        if entry.work.cancelled() or entry.work.exception() or entry.work.result().status_code != HTTPStatus.OK:
            return
        answer = entry.work.result()
        entry.size = _ENTRY_BYTES + len(answer.body) + sum(len(name) + len(value) for name, value in answer.raw_headers)
        entry.expires = self._clock() + self._seconds
        caller.kept[key] = entry
        caller.size += entry.size
        caller.forget(self._clock(), self._max_bytes)


def refuse_with_stream(request: Request) -> None:
    """A stream is over when it is over; there is no answer of it to keep."""
    if "idempotency-key" in request.headers:
        raise InvalidRequest(
            "Idempotency-Key does not go with stream=true.", param="Idempotency-Key", code="idempotency_with_stream"
        )


def _refuse_bad_key(key: str) -> None:
    if not _KEY.fullmatch(key):
        raise InvalidRequest(
            "Idempotency-Key must be 1 to 255 visible ASCII characters.",
            param="Idempotency-Key",
            code="invalid_idempotency_key",
        )


async def _run(upload: UploadFile, work: Work, on_disk: asyncio.Event) -> Response:
    try:
        async with upload_on_disk(upload) as path:
            on_disk.set()
            return await work(path)
    finally:
        on_disk.set()


def _copy(answer: Response, *, replayed: bool) -> Response:
    """A response is sent once: the server adds its own headers to it."""
    copy = Response(answer.body, answer.status_code)
    copy.raw_headers = list(answer.raw_headers)
    if replayed:
        copy.headers["Idempotent-Replayed"] = "true"
    return copy


async def _content_of(request: Request) -> bytes:
    """Digest of everything that the answer depends on: route, headers that choose, the glossary of the caller's key,
    fields in order, the bytes of files."""
    digest = hashlib.sha256()
    chosen = (request.headers.get(name, "") for name in _CHOOSING_HEADERS)
    for text in (request.url.path, *chosen, default_glossary(request) or ""):
        digest.update(_framed(text.encode()))
    for name, value in (await request.form()).multi_items():
        digest.update(_framed(name.encode("utf-8", "surrogatepass")))
        if isinstance(value, UploadFile):
            digest.update(await run_in_threadpool(_hash, value.file))
        else:
            digest.update(_framed(value.encode("utf-8", "surrogatepass")))
    return digest.digest()


def _framed(data: bytes) -> bytes:
    return len(data).to_bytes(8) + data


def _hash(file: IO[bytes]) -> bytes:
    file.seek(0)
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    file.seek(0)
    return digest.digest()
