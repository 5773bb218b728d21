"""`terms:import` and `terms:export`. In: a file as request body. Out: what it did, as one JSON answer or line by line
while it runs; a file. Event loop thread; reading and checking the file runs on a worker thread."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from app.api.error_handlers import error_response
from app.api.glossary_editing import EditOf
from app.api.glossary_schemas import ImportShape, etag
from app.api.state import State
from app.decoding.languages import parse_language
from app.errors import InternalError, InvalidRequest, LexicueError, TooLarge
from app.glossary.bulk import ImportMode, ImportResult, Progress
from app.glossary.editor import Edit
from app.glossary.repository import all_terms_at, find_glossary, settings_at
from app.glossary.store import GlossaryStore
from app.glossary.term import Term
from app.glossary.term_file import TermFormat, read_terms, term_as_json, write_csv
from app.glossary.term_rows import clean_rows
from app.telemetry import logger

log = logger(__name__)

MAX_IMPORT_BYTES = 64 * 1024 * 1024
NDJSON = "application/x-ndjson"
_FORMATS = {
    "text/csv": TermFormat.CSV,
    "text/tab-separated-values": TermFormat.CSV,
    "application/vnd.ms-excel": TermFormat.CSV,
    "application/json": TermFormat.JSON,
    "text/plain": TermFormat.TXT,
}
_BODY = {"content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in _FORMATS}, "required": True}

router = APIRouter(prefix="/glossaries")


@router.post(
    "/{slug}/terms:import",
    response_model=ImportShape,
    responses={200: {"content": {NDJSON: {}}}},
    openapi_extra={"requestBody": _BODY},
    summary="Import terms from CSV, JSON or a plain list; all rows or none",
)
async def import_terms(
    request: Request,
    state: State,
    edit: EditOf,
    slug: str,
    mode: Annotated[ImportMode, Query(description="`replace` removes what the file lacks.")] = ImportMode.MERGE,
    dry_run: Annotated[bool, Query(description="Check and count only.")] = False,
    create: Annotated[bool, Query(description="Create the glossary if there is none.")] = False,
    file_format: Annotated[TermFormat | None, Query(alias="format", description="None: by Content-Type.")] = None,
) -> Response:
    """With `Accept: application/x-ndjson` the answer is one JSON object a line: `{"rows_written": n}` while it runs,
    at the end the result or `{"error": ...}`."""
    format_ = file_format or _format_of(request)
    job = _Job(state.glossaries, slug, format_, await _body(request), edit, mode, dry_run, create)
    if NDJSON in request.headers.get("accept", ""):
        return StreamingResponse(_told(job), media_type=NDJSON)
    result = await job.run(None)
    body = ImportShape.of(result).model_dump_json()
    return Response(body, media_type="application/json", headers={"ETag": etag(result.revision)})


@router.get(
    "/{slug}/terms:export",
    responses={200: {"content": {"text/csv": {}, "application/json": {}}}},
    response_class=Response,
    summary="All terms as a file that `terms:import` reads",
)
async def export_terms(
    state: State,
    slug: str,
    file_format: Annotated[Literal["csv", "json"], Query(alias="format")] = "csv",
    revision: Annotated[int | None, Query(ge=1, description="None: the newest.")] = None,
) -> Response:
    async with state.database.session() as session:
        glossary = await find_glossary(session, slug)
        await settings_at(session, glossary, revision or glossary.revision)
        terms = await all_terms_at(session, glossary, revision or glossary.revision)
    body, media_type = await run_in_threadpool(_written, terms, file_format)
    headers = {
        "Content-Disposition": f'attachment; filename="{slug}.{file_format}"',
        "ETag": etag(glossary.revision),
    }
    return Response(body, media_type=media_type, headers=headers)


@dataclass(frozen=True, slots=True)
class _Job:
    """One import, from bytes to result."""

    store: GlossaryStore
    slug: str
    file_format: TermFormat
    data: bytes
    edit: Edit
    mode: ImportMode
    dry_run: bool
    create: bool

    async def run(self, progress: Progress | None) -> ImportResult:
        terms, columns = await run_in_threadpool(self._read)
        return await self.store.imports.run(
            self.slug,
            terms,
            self.edit,
            mode=self.mode,
            dry_run=self.dry_run,
            create=self.create,
            columns=columns,
            progress=progress,
        )

    def _read(self) -> tuple[list[Term], frozenset[str]]:
        read = read_terms(self.data, self.file_format, parse_language)
        return clean_rows(read.rows, read.problems, check=self.store.editor.check_term), read.columns


async def _told(job: _Job) -> AsyncIterator[bytes]:
    """Progress line by line; when the client leaves, the import ends with nothing kept."""
    written: asyncio.Queue[int] = asyncio.Queue()
    work = asyncio.create_task(job.run(written.put))
    work.add_done_callback(lambda _: written.put_nowait(-1))
    try:
        while (rows := await written.get()) >= 0:
            yield json.dumps({"rows_written": rows}).encode() + b"\n"
        try:
            yield ImportShape.of(work.result()).model_dump_json().encode() + b"\n"
        except LexicueError as error:
            yield bytes(error_response(error).body) + b"\n"
        except Exception as error:  # the status is sent; only a line can still say it
            log.exception("import failed", error=type(error).__name__)
            fault = InternalError("Something went wrong here; the request id finds it in the log.")
            yield bytes(error_response(fault).body) + b"\n"
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


def _written(terms: tuple[Term, ...], file_format: str) -> tuple[bytes, str]:
    if file_format == "csv":
        return "".join(write_csv(terms)).encode(), "text/csv; charset=utf-8"
    body = {"terms": [term_as_json(term) for term in terms]}
    return (json.dumps(body, ensure_ascii=False, indent=1) + "\n").encode(), "application/json"


def _format_of(request: Request) -> TermFormat:
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind not in _FORMATS:
        raise InvalidRequest(
            f"Say what the file is, by Content-Type ({', '.join(_FORMATS)}) or `format` (csv, json, txt).",
            param="format",
            code="unknown_format",
        )
    return _FORMATS[kind]


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_IMPORT_BYTES:
            raise TooLarge(f"The file is over {MAX_IMPORT_BYTES} bytes; split it.", code="import_too_large")
    return bytes(body)
