"""What the audit commands share. In: where to write, what is audited. Out: a journal and a progress bar, then the page,
the lines for people and the exit code. Main thread, blocking."""

import json
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from functools import wraps
from importlib.metadata import version
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
from app.errors import InvalidRequest, LexicueError
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


def ending_plainly(command: Callable[..., None]) -> Callable[..., None]:
    """What is no finding ends a command with exit code 2: with one line for a refusal of ours, a file or folder that
    cannot be used, or an interruption, after which the same command goes on; with its trace for a fault of ours."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except LexicueError as error:
            stop(error.message)
        except OSError as error:
            stop(f"{error.filename}: {error.strerror}." if error.filename and error.strerror else str(error))
        except KeyboardInterrupt:
            stop(f"Interrupted; the same command goes on from {options['out'] / 'journal.jsonl'}.")
        except typer.Exit:
            raise
        except Exception:  # noqa: BLE001 - left alone it would end with 1, which says that a promise is broken
            stop(traceback.format_exc())

    return run


@contextmanager
def session(out: Path, header: dict[str, Any], *, answers: int | None) -> Iterator[Session]:
    """`header`: every setting on which an answer depends, so that no answer of other settings is taken for one of
    these. `answers`: how many there will be, None where that shows only on the way. Raises what a journal raises."""
    progress, settings = progress_bar(), {"kind": "audit", "lexicue": version("lexicue"), **header}
    with Journal(out / "journal.jsonl", settings) as journal, progress:
        if journal.resumed:
            typer.echo(f"Going on from {journal.resumed} answers in {out / 'journal.jsonl'}.", err=True)
        bar = progress.add_task(f"{header['audit']} audit", total=answers)
        yield Session(journal, lambda: progress.advance(bar), out)


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


def target(url: str, channel: Channel | None, model: str) -> list[str]:
    """What is audited, for a journal's header."""
    return [f"bare library: {channel}", load_settings().model] if channel else [url, model]


def client_for(url: str) -> httpx.Client:
    """OpenAI's clients are given addresses that end in /v1, so those are taken as well. Raises InvalidRequest."""
    try:
        return connect(url.rstrip("/").removesuffix("/v1"))
    except httpx.InvalidURL as error:
        raise InvalidRequest(f"--url is no address: {error}.", param="url") from None


def server(client: httpx.Client, model: str) -> Transcriber:
    return server_at(client, model=model)


def stop(message: str) -> NoReturn:
    """For what is no finding: a wrong option, a server that is away."""
    typer.secho(message, err=True, fg=typer.colors.RED)
    raise typer.Exit(WRONG_USE)


def text_of(file: Path) -> str:
    """Raises InvalidRequest for a file that is not UTF-8, such as one that a spreadsheet saved in its own way."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidRequest(f"{file} is not UTF-8 text; save it as UTF-8.") from None


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
