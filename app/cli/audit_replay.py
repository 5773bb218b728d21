"""`lexicue audit replay`. In: stored answers, or recordings and two revisions of a glossary. Out: whether a request
gives the same answer again, or which terms a revision wins and loses. Main thread, blocking."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

from app.audit.asking import Asking, sha256_of
from app.audit.probe import Answer, Ask
from app.audit.replay import StoredRequest, compared, judge_replay, judge_revisions, replayed, stored_request
from app.audit.replay_report import replay_report, revisions_report
from app.audit.server import LexicueServer, lexicue_answer
from app.audit.transcriber import Transcriber
from app.cli import audit_session as common
from app.cli.client import DEFAULT_URL, Json, Url
from app.errors import InvalidRequest, NotFound


def replay(
    files: Annotated[
        list[Path],
        typer.Argument(
            exists=True, dir_okay=False, help="Stored answers as JSON (lines); with --glossary: recordings."
        ),
    ],
    audio: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="The recording, if the answer does not name it.")
    ] = None,
    glossary: Annotated[str | None, typer.Option(help="Compare two revisions of this glossary.")] = None,
    before: Annotated[int | None, typer.Option("--from", min=1, help="Older revision.")] = None,
    after: Annotated[int | None, typer.Option("--to", min=1, help="Newer revision.")] = None,
    language: common.Language = None,
    url: Url = DEFAULT_URL,
    out: common.Out = Path("audits/replay"),
    as_json: Json = False,
) -> None:
    """Ask again what was asked before: `lexicue transcribe --json` stores answers that can be replayed.

    Exit code 0: identical. 1: another answer to the same prompt on the same system, or a term lost that both revisions
    hold. 3: another answer, but the system changed.
    """
    if glossary is None and (before or after):
        common.stop("Two revisions are of a glossary: name it with --glossary.")
    if glossary is not None and audio is not None:
        common.stop("With --glossary the recordings are the arguments; --audio is for a stored answer.")
    if glossary is None:
        _stored(files, audio, language, url, out, as_json=as_json)
    elif before is None or after is None:
        common.stop("Two revisions are compared: give --from and --to.")
    else:
        _revisions(files, glossary, (before, after), language, url, out, as_json=as_json)


def _stored(files: list[Path], audio: Path | None, language: str | None, url: str, out: Path, *, as_json: bool) -> None:
    requests = [_request(entry, audio) for file in files for entry in _entries(file)]
    if audio is not None and len(requests) > 1:
        common.stop("With --audio one stored answer is replayed; these are more.")
    common.existing([Path(request.file) for request in requests])
    stored = [sha256_of(file) for file in files]
    header = {"audit": "replay", "target": url, "stored": stored, "language": language}
    with ExitStack() as stack:
        client = stack.enter_context(common.client_for(url))
        session = stack.enter_context(common.session(out, header, answers=len(requests)))
        target = _lexicue(client)
        asking = Asking(target, session.journal, session.told)
        results = []
        for number, request in enumerate(requests):
            results.append(replayed(request, _answers(asking, request, number, language)))
        verdict, summary = judge_replay(results)
        report = replay_report(results, verdict, summary, target.name)
        found = [{"file": each.file, "prompt": each.stored.prompt, "parted": each.parted} for each in results]
        common.finish(session, report, {"requests": found}, as_json=as_json)


def _revisions(
    files: list[Path],
    glossary: str,
    revisions: tuple[int, int],
    language: str | None,
    url: str,
    out: Path,
    *,
    as_json: bool,
) -> None:
    recordings = {file.name: sha256_of(file) for file in files}
    header = {
        "audit": "replay",
        "target": url,
        "glossary": glossary,
        "revisions": revisions,
        "files": recordings,
        "language": language,
    }
    with ExitStack() as stack:
        client = stack.enter_context(common.client_for(url))
        session = stack.enter_context(common.session(out, header, answers=2 * len(files)))
        target = _lexicue(client)
        asking = Asking(target, session.journal, session.told)
        results = []
        for file in files:
            answers = [asking(file, Ask(glossary=glossary, revision=each, language=language)) for each in revisions]
            results.append(compared(file.name, *answers))
        verdict, summary = judge_revisions(results, *revisions)
        report = revisions_report(results, verdict, summary, target.name, revisions)
        found = [{"file": each.file, "won": each.won, "lost": each.lost} for each in results]
        common.finish(session, report, {"recordings": found}, as_json=as_json)


def _answers(asking: Asking, request: StoredRequest, number: int, language: str | None) -> Iterator[Answer]:
    """A glossary that is gone is told of this request, and the others go on."""
    for ask in request.asks(language):
        try:
            yield asking(Path(request.file), ask, request=number)
        except NotFound as error:
            yield Answer(refused=error.message, status=error.status)


def _lexicue(client: httpx.Client) -> Transcriber:
    target = common.server(client, "")
    if not isinstance(target, LexicueServer):
        raise InvalidRequest(f"{client.base_url} is no Lexicue: its answers have no receipt to replay by.")
    return target


def _entries(file: Path) -> list[dict[str, Any]]:
    """One JSON object, or one a line, as `lexicue transcribe --json` prints them."""
    text = common.text_of(file)
    try:
        whole = json.loads(text)
        entries = whole if isinstance(whole, list) else [whole]
    except ValueError:
        # Only a line feed ends a line of JSON; transcripts may hold other separators.
        entries = [_line(file, line) for line in text.split("\n") if line.strip()]
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        raise InvalidRequest(f"{file} holds no stored answers of `lexicue transcribe --json`.")
    return entries


def _line(file: Path, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        raise InvalidRequest(f"{file} holds no stored answers: neither JSON nor JSON lines.") from None


def _request(entry: dict[str, Any], audio: Path | None) -> StoredRequest:
    file = str(audio) if audio is not None else entry.get("file")
    if not file:
        raise InvalidRequest("A stored answer does not name its recording: give it with --audio.")
    return stored_request(file, lexicue_answer(entry))
