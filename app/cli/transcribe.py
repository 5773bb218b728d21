"""`lexicue transcribe FILE...`. In: recordings. Out: their text, or the whole answers as JSON, one a line. Main
thread, blocking; the server does the work."""

import json
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

from app.cli.client import DEFAULT_URL, Json, Refused, Url, call, connect
from app.cli.progress import progress_bar
from app.glossary.term import TermSelection


def transcribe(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, readable=True, help="Recordings.")],
    glossary: Annotated[str | None, typer.Option(help="Slug of the glossary; none: no bias.")] = None,
    language: Annotated[str | None, typer.Option(help="Code or name; none: detect.")] = None,
    selection: Annotated[TermSelection | None, typer.Option(help="Of terms; none: as the glossary says.")] = None,
    as_json: Json = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Transcribe recordings through a running server. One that is refused is named, the others go on; then the exit
    code is 1."""
    progress = progress_bar()
    with connect(url) as client, progress:
        bar = progress.add_task("Transcribing", total=len(files))
        refused = 0
        for file in files:
            progress.update(bar, description=file.name)
            try:
                answer = transcribe_file(client, file, glossary=glossary, language=language, selection=selection)
            except Refused:
                refused += 1
                progress.advance(bar)
                continue
            if as_json:
                typer.echo(json.dumps({"file": str(file), **answer}, ensure_ascii=False))
            else:
                typer.echo(f"{file}: {answer['text']}" if len(files) > 1 else answer["text"])
            progress.advance(bar)
    if refused:
        raise typer.Exit(1)


def transcribe_file(
    client: httpx.Client,
    file: Path,
    *,
    glossary: str | None = None,
    language: str | None = None,
    selection: str | None = None,
) -> dict[str, Any]:
    """The server's answer for one recording. `Refused`, with a line that names the file, when it is an error."""
    given = (("glossary", glossary), ("language", language), ("selection", selection))
    fields = {name: value for name, value in given if value}
    with file.open("rb") as handle:
        response = call(client, "POST", "/transcribe", about=file, files={"file": (file.name, handle)}, data=fields)
    answer: dict[str, Any] = response.json()
    return answer
