"""What the audit commands share. In: where to write, what is audited. Out: a journal and a progress bar, then the page,
the lines for people and the exit code. Main thread, blocking."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn

import httpx
import typer

from app.audit.journal import Journal
from app.audit.library import Channel, Library, LibrarySettings
from app.audit.report import Report, write
from app.audit.server import server_at
from app.audit.transcriber import Transcriber
from app.cli.client import connect
from app.cli.progress import progress_bar
from app.decoding.model_files import resolve_model
from app.errors import LexicueError
from app.settings import load_settings

WRONG_USE = 2

Out = Annotated[Path, typer.Option("--out", file_okay=False, help="Folder for journal.jsonl and report.html.")]
LibraryOption = Annotated[
    Channel | None, typer.Option("--library", help="Audit the bare library instead of a server, this way of its.")
]
ModelName = Annotated[str, typer.Option(help="Model to ask another server for; Lexicue needs none.")]
Language = Annotated[str | None, typer.Option(help="Code; none: detect.")]


@dataclass(frozen=True, slots=True)
class Session:
    """`told` moves the progress bar by one answer."""

    journal: Journal
    told: Callable[[], None]
    out: Path


@contextmanager
def session(out: Path, header: dict[str, Any], *, answers: int | None) -> Iterator[Session]:
    """`answers`: how many there will be, None where that shows only on the way. A refusal of ours ends the command with
    exit code 2 and one line that says why; interrupted, the audit goes on from where it was."""
    progress = progress_bar()
    try:
        with Journal(out / "journal.jsonl", {"kind": "audit", **header}) as journal, progress:
            if journal.resumed:
                typer.echo(f"Going on from {journal.resumed} answers in {out / 'journal.jsonl'}.", err=True)
            bar = progress.add_task(f"{header['audit']} audit", total=answers)
            yield Session(journal, lambda: progress.advance(bar), out)
    except LexicueError as error:
        stop(error.message)
    except KeyboardInterrupt:
        stop(f"Interrupted; the same command goes on from {out / 'journal.jsonl'}.")


def finish(session: Session, report: Report, finding: dict[str, Any], *, as_json: bool) -> NoReturn:
    """Writes the page and the journal's last line, prints the result, exits with the verdict's code."""
    page = session.out / "report.html"
    write(report, page)
    plain = {"verdict": report.verdict, "summary": list(report.summary), "target": report.target, **_plain(finding)}
    session.journal.finish(plain)
    if as_json:
        typer.echo(json.dumps(plain, ensure_ascii=False))
    else:
        typer.echo("\n".join([f"{report.title}: {report.verdict}", *report.summary, f"Page: {page}"]))
    raise typer.Exit(report.verdict.exit_code)


def library(settings: LibrarySettings) -> Transcriber:
    """The bare library with the model that the server would use. Raises NotReady when there is none."""
    own = load_settings()
    return Library(resolve_model(own.model, own.model_cache()), settings)


def client_for(url: str) -> httpx.Client:
    """OpenAI's clients are given addresses that end in /v1, so those are taken as well."""
    return connect(url.rstrip("/").removesuffix("/v1"))


def server(client: httpx.Client, model: str) -> Transcriber:
    return server_at(client, model=model)


def stop(message: str) -> NoReturn:
    """For what is no finding: a wrong option, a server that is away."""
    typer.secho(message, err=True, fg=typer.colors.RED)
    raise typer.Exit(WRONG_USE)


def existing(files: Sequence[Path]) -> None:
    for file in files:
        if not file.is_file():
            stop(f"There is no file {file}.")


def _plain(value: Any) -> Any:
    """Dataclasses and enums as JSON; a dictionary keeps its keys as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value
