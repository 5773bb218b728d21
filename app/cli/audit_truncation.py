"""`lexicue audit truncation`. In: a recording, the terms said in it, a target. Out: where a long prompt is cut or
refused. Main thread, blocking."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from app.audit.asking import Asking, sha256_of
from app.audit.library import LibrarySettings
from app.audit.limits import judge
from app.audit.probe import Answer, Ask
from app.audit.truncation import TruncationExperiment
from app.audit.truncation_report import truncation_report
from app.cli import audit_session as common
from app.cli.client import DEFAULT_URL, Json, Url
from app.prompt.merges import Vocabulary
from app.prompt.tokens import estimate_tokens


def truncation(
    audio: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="Recording, best under 30 s.")],
    terms: Annotated[str, typer.Option(help='Terms said in it that the model misspells: "a, b".')],
    url: Url = DEFAULT_URL,
    library: common.LibraryOption = None,
    model: common.ModelName = "whisper-1",
    language: common.Language = None,
    most_tokens: Annotated[int, typer.Option(min=64, max=20_000, help="Longest prompt to try.")] = 1000,
    out: common.Out = Path("audits/truncation"),
    as_json: Json = False,
) -> None:
    """Find where a long prompt is cut, or from which length on it is refused.

    Exit code 0: every term arrives, or the caller is told. 1: something is dropped in silence, or the server breaks.
    3: the terms cannot tell.
    """
    wanted = [term.strip() for term in terms.split(",") if term.strip()]
    if not wanted:
        common.stop("Name at least one term that is said in the recording.")
    with ExitStack() as stack:
        client = stack.enter_context(common.client_for(url))
        # Sampling would make the answer to one probe a matter of chance, and has no part in what is cut.
        header = {
            "audit": "truncation",
            "target": common.target(url, library, model),
            "audio": sha256_of(audio),
            "terms": wanted,
            "language": language,
            "most_tokens": most_tokens,
        }
        session = stack.enter_context(common.session(out, header, answers=None))
        target = (
            common.library(LibrarySettings(channel=library, sampling=False, beam_size=1))
            if library
            else common.server(client, model)
        )
        asking = Asking(target, session.journal, session.told)

        def ask(prompt: str) -> Answer:
            return asking(audio, Ask(prompt=prompt, language=language))

        finding = TruncationExperiment(ask, _tokens, wanted, most_tokens=most_tokens).run()
        verdict = judge(finding)
        report = truncation_report(finding, verdict, target.name)
        found = {"cut": verdict.cut, "limit": verdict.limit, "refused_at": verdict.refused_at, "finding": finding}
        common.finish(session, report, found, as_json=as_json)


def _tokens(prompt: str) -> int:
    return estimate_tokens(prompt, Vocabulary.MULTILINGUAL) if prompt else 0
