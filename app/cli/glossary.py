"""`lexicue glossary import` and `export`. In: a file, or a slug. Out: what the server did, or the file on stdout. Main
thread, blocking; the server does the work."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from app.cli.client import DEFAULT_URL, Json, Url, call, connect, fail

app = typer.Typer(help="Bring glossaries in and out.", no_args_is_help=True)

_CONTENT_TYPES = {
    ".csv": "text/csv",
    ".tsv": "text/csv",
    ".json": "application/json",
    ".txt": "text/plain",
}
_CHUNK = 64 * 1024


@app.command("import")
def import_glossary(
    slug: Annotated[str, typer.Argument(help="Name of the glossary; created if there is none.")],
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help=".csv, .tsv, .json or .txt")],
    replace: Annotated[bool, typer.Option("--replace", help="Remove terms that are not in the file.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count only.")] = False,
    as_json: Json = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Import terms: all rows or none. In a .txt each line is a ranked term, the first the most important."""
    content_type = _CONTENT_TYPES.get(file.suffix.lower())
    if content_type is None:
        fail(f"The name must end in one of: {', '.join(_CONTENT_TYPES)}")
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f}"), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True)
    query = {"mode": "replace" if replace else "merge", "dry_run": dry_run, "create": True}
    with connect(url) as client, progress:
        result = _send(client, slug, file, content_type, query, progress)
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False))
    else:
        typer.echo(_summary(result))


@app.command("export")
def export_glossary(
    slug: Annotated[str, typer.Argument(help="Name of the glossary.")],
    revision: Annotated[int | None, typer.Option(help="A past revision; none: the newest.")] = None,
    as_json: Json = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Print all terms as CSV, or as JSON with --json; `glossary import` reads both."""
    query = {"format": "json" if as_json else "csv"} | ({"revision": str(revision)} if revision else {})
    with connect(url) as client:
        response = call(client, "GET", f"/glossaries/{slug}/terms:export", params=query)
    sys.stdout.buffer.write(response.content)


def _send(
    client: httpx.Client, slug: str, file: Path, content_type: str, query: dict[str, Any], progress: Progress
) -> dict[str, Any]:
    size = file.stat().st_size
    bar = progress.add_task("Sending bytes", total=size)
    request = client.build_request(
        "POST",
        f"/glossaries/{slug}/terms:import",
        params=query,
        content=_chunks(file, progress, bar),
        headers={"Content-Type": content_type, "Content-Length": str(size), "Accept": "application/x-ndjson"},
    )
    answer: dict[str, Any] = {}
    try:
        response = client.send(request, stream=True)
        for line in response.iter_lines():
            answer = json.loads(line)
            if "rows_written" in answer:
                progress.update(bar, description="Writing rows", completed=answer["rows_written"], total=None)
    except httpx.TransportError as error:
        fail(f"No answer from {client.base_url}: {error}. Is it running? Start one with: lexicue serve")
    if "revision" not in answer:
        fail(_refusal(answer.get("error", {})))
    return answer


def _chunks(file: Path, progress: Progress, bar: TaskID) -> Iterator[bytes]:
    with file.open("rb") as handle:
        while chunk := handle.read(_CHUNK):
            yield chunk
            progress.advance(bar, len(chunk))
    progress.update(bar, description="Checking rows", completed=0, total=None)


def _refusal(error: dict[str, Any]) -> str:
    lines = [f"{error.get('code', 'no_answer')}: {error.get('message', 'The server ended the answer half-way.')}"]
    rows = error.get("details", {}).get("errors", [])
    lines += [f"  line {row['line']}: {row['column'] or 'row'}: {row['message']}" for row in rows]
    return "\n".join(lines)


def _summary(result: dict[str, Any]) -> str:
    rehearsed = " (dry run)" if result["dry_run"] else ""
    return (
        f"{result['slug']}{rehearsed}: {result['rows']:,} rows; {result['added']:,} terms added, "
        f"{result['changed']:,} changed, {result['removed']:,} removed, {result['unchanged']:,} as they were. "
        f"Revision {result['revision']}."
    )
