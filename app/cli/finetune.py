"""`lexicue finetune prepare` and `check`. In: recordings with their text, or a prepared set. Out: shards for training
Whisper, and what is in them. Main thread, blocking; neither server nor database."""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from app.cli.client import Json, fail
from app.decoding.languages import parse_language
from app.decoding.model_files import resolve_model
from app.decoding.request import Task
from app.errors import LexicueError
from app.glossary.term_file import TermFormat, read_terms
from app.settings import load_settings

if TYPE_CHECKING:
    from app.finetune.check import Findings
    from app.finetune.prepare import Progress as Told

app = typer.Typer(help="Recordings and their text, decoded once, to train Whisper many times.", no_args_is_help=True)

_SECONDS_BETWEEN_LINES = 10.0
_Out = Annotated[str, typer.Argument(help="Folder, or any fsspec address, such as s3://bucket/set.")]
_Model = Annotated[
    str | None, typer.Option(help="`bundled`, or a folder with tokenizer.json; none: that of LEXICUE_MODEL.")
]


@app.command()
def prepare(
    manifest: Annotated[Path, typer.Argument(help=".tsv, .csv or .jsonl; or a folder of recordings and texts.")],
    out: _Out,
    model: _Model = None,
    language: Annotated[str, typer.Option(help="Of entries that name none.")] = "",
    task: Annotated[Task, typer.Option(help="What the text is.")] = Task.TRANSCRIBE,
    long: Annotated[str, typer.Option(help="Over 30 s: `reject`, or `cut` to the first 30 s.")] = "reject",
    validation: Annotated[float, typer.Option(min=0, max=0.5, help="Share of recordings, by hash.")] = 0.05,
    max_rejects: Annotated[float, typer.Option(min=0, max=1, help="Share left out over which it stops.")] = 0.05,
    oversample: Annotated[Path | None, typer.Option(exists=True, help="Glossary file: texts with a term ...")] = None,
    times: Annotated[int, typer.Option(min=1, max=100, help="... are listed so many times for training.")] = 3,
    hold_out: Annotated[Path | None, typer.Option(exists=True, help="Glossary file: a split of their own.")] = None,
    chunk: Annotated[int, typer.Option(min=1, max=10_000, help="Entries in a shard.")] = 500,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; none: one a core.")] = None,
    ray: Annotated[str | None, typer.Option(help="Address of a Ray cluster that does the work.")] = None,
    as_json: Json = False,
) -> None:
    """Turn recordings and texts into Hugging Face shards. Run it again after a crash: it does what is missing."""
    with _refusals():
        from app.finetune.prepare import Options
        from app.finetune.prepare import prepare as run
        from app.finetune.sound import Long

        if long not in list(Long):
            fail("--long is `reject` or `cut`.")
        options = Options(
            model=_model_folder(model),
            task=task,
            language=parse_language(language) or "",
            long=Long(long),
            validation=validation,
            chunk_files=chunk,
            max_rejects=max_rejects,
            oversampled=_terms(oversample),
            times=times if oversample else 1,
            held_out=_terms(hold_out),
            max_audio_seconds=load_settings().max_audio_seconds,
            workers=workers or len(os.sched_getaffinity(0)),
            ray=ray,
        )
        with _Meter("Preparing") as meter:
            told = run(manifest, out, options, meter.tell)
    typer.echo(json.dumps(told) if as_json else _summary(told, out))


@app.command()
def check(
    out: _Out,
    model: _Model = None,
    show: Annotated[int, typer.Option(min=0, help="Examples to show, one a shard.")] = 5,
    plots: Annotated[Path | None, typer.Option(help="Folder for their spectrograms as PNG.")] = None,
    as_json: Json = False,
) -> None:
    """Verify a prepared set: hashes, shapes, numbers, labels; exits with 1 if anything is wrong."""
    with _refusals():
        from app.finetune.check import check as run

        with _Meter("Checking") as meter:
            findings = run(out, _model_folder(model), show=show, tick=meter.step)
        _print_findings(findings, as_json=as_json)
        if plots:
            _plot(findings, plots)
    if findings.count:
        raise typer.Exit(1)


@contextmanager
def _refusals() -> Iterator[None]:
    """What stops a command, in a line that says what to do."""
    try:
        yield
    except ModuleNotFoundError as error:
        fail(f"{error.name} is missing; install it with: pip install 'lexicue[finetune]'")
    except LexicueError as error:
        fail(error.message)
    except OSError as error:
        fail(f"A file cannot be read or written: {error}. What is finished stays; put it right and run again.")


def _model_folder(name: str | None) -> Path:
    """A folder to train, in whatever format, needs its tokenizer only."""
    settings = load_settings()
    wanted = name or settings.model
    if Path(wanted, "tokenizer.json").is_file():
        return Path(wanted)
    return resolve_model(wanted, settings.model_cache())


def _terms(file: Path | None) -> tuple[str, ...]:
    if file is None:
        return ()
    suffix = file.suffix.lower().removeprefix(".")
    if suffix not in [*TermFormat, "tsv"]:
        fail("A glossary file ends in .csv, .tsv, .json or .txt.")
    rows = read_terms(file.read_bytes(), TermFormat("csv" if suffix == "tsv" else suffix), parse_language).rows
    return tuple(term.text for _, term in rows if term.active)


class _Meter:
    """How far it is, how fast it goes and how long it takes: a bar on a terminal, a line every 10 s elsewhere."""

    def __init__(self, doing: str) -> None:
        columns = (
            *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TaskProgressColumn()),
            *(TextColumn("{task.fields[rate]}"), TimeRemainingColumn()),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True)
        self._task = self._bar.add_task(doing, total=None, rate="")
        self._begun = self._said = time.monotonic()

    def __enter__(self) -> "_Meter":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def step(self) -> None:
        self._bar.advance(self._task)

    def tell(self, told: "Told") -> None:
        now = time.monotonic()
        rate = (told.done - told.resumed) / max(now - self._begun, 1e-3)
        self._bar.update(self._task, completed=told.done, total=told.total, rate=f"{rate:.1f} files/s")
        if self._bar.disable and now - self._said >= _SECONDS_BETWEEN_LINES:
            self._said = now
            left = (told.total - told.done) / max(rate, 1e-3)
            typer.echo(
                f"{told.done:,} of {told.total:,} files, {rate:.1f} files/s, {left:,.0f} s left, "
                f"{told.rejected:,} left out",
                err=True,
            )


def _summary(told: dict[str, Any], out: str) -> str:
    rows = "  ".join(f"{split} {count:,} ({told['hours'][split]:.2f} h)" for split, count in told["rows"].items())
    reasons = ", ".join(f"{reason} {count}" for reason, count in told["rejects"].items())
    return (
        f"{out}: {rows}\nLeft out: {told['rejected']:,} of {told['entries']:,}{f' ({reasons})' if reasons else ''}\n"
        f"sha256 {told['sha256']}"
    )


def _print_findings(findings: "Findings", *, as_json: bool) -> None:
    from app.finetune.picture import as_line

    if as_json:
        shown = [{"shard": s.shard, "source": s.source, "duration": s.seconds, "text": s.text} for s in findings.shown]
        facts = {name: getattr(findings, name) for name in ("shards", "rows", "hours", "count", "problems")}
        typer.echo(json.dumps(facts | {"shown": shown}, ensure_ascii=False))
        return
    for each in findings.shown:
        typer.echo(f"{as_line(each.features, each.seconds)}  {each.seconds:5.2f} s  {each.source}\n  {each.text}")
    for problem in findings.problems:
        typer.secho(problem, err=True, fg=typer.colors.RED)
    found = f"{findings.count} problem{'s' if findings.count > 1 else ''}"
    verdict = found if findings.count else "sound"
    typer.echo(f"{findings.shards} shards, {findings.rows:,} rows, {findings.hours:.2f} h: {verdict}")


def _plot(findings: "Findings", folder: Path) -> None:
    from app.finetune.picture import as_png

    folder.mkdir(parents=True, exist_ok=True)
    for number, each in enumerate(findings.shown, start=1):
        name = f"mel-{number:03}-{Path(each.source).stem}.png"
        (folder / name).write_bytes(as_png(each.features, each.seconds))
        typer.echo(f"{folder / name}: {each.seconds:.2f} s")
