"""`lexicue audit determinism`. In: recordings, a target, settings, a load. Out: which files come out the same in every
run, and where the others part. Main thread, blocking; mixed load uses four more."""

from collections.abc import Iterator
from contextlib import ExitStack
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Annotated

import typer

from app.audit.asking import Asking, sha256_of
from app.audit.determinism import Load, across, judge, listen
from app.audit.determinism_report import determinism_report
from app.audit.library import Channel, LibrarySettings
from app.audit.probe import Ask
from app.cli import audit_session as common
from app.cli.client import DEFAULT_URL, Json, Url
from app.glossary.term import TermSelection


class Switch(StrEnum):
    """`both`: one setting with it and one without."""

    ON = "on"
    OFF = "off"
    BOTH = "both"

    @property
    def states(self) -> tuple[bool, ...]:
        return {"on": (True,), "off": (False,), "both": (True, False)}[self]


def determinism(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="Recordings; hard ones show most.")],
    url: Url = DEFAULT_URL,
    library: common.LibraryOption = None,
    model: common.ModelName = "whisper-1",
    runs: Annotated[int, typer.Option(min=2, max=1000, help="How often each file is heard.")] = 3,
    load: Annotated[list[Load], typer.Option(help="Repeat to hold loads against each other.")] = [Load.ALONE],  # noqa: B006 - typer copies it
    prompt: Annotated[str, typer.Option(help="Words for every request.")] = "",
    glossary: Annotated[str | None, typer.Option(help="Slug of a glossary of the server's.")] = None,
    selection: Annotated[TermSelection | None, typer.Option(help="How Lexicue takes terms from it.")] = None,
    language: common.Language = None,
    conditioning: Annotated[Switch, typer.Option(help="Library: previous text as context.")] = Switch.ON,
    sampling: Annotated[Switch, typer.Option(help="Library: the ladder of temperatures.")] = Switch.ON,
    batch_size: Annotated[list[int], typer.Option(min=1, help="Library, batched: repeat to compare.")] = [8],  # noqa: B006 - as above
    compute_type: Annotated[list[str], typer.Option(help="Library: repeat to compare.")] = ["int8"],  # noqa: B006 - as above
    out: common.Out = Path("audits/determinism"),
    as_json: Json = False,
) -> None:
    """Hear the same recordings again and again and find where runs part.

    Exit code 0: the same in every run, under every load. 1: at least one file differs. 3: files were refused, or the
    system changed meanwhile.
    """
    if len({file.name for file in files}) < len(files):
        common.stop("Two of the files have the same name; a report could not tell them apart.")
    if library and glossary:
        common.stop("The bare library has no glossary: give its words with --prompt.")
    if selection and not glossary:
        common.stop("--selection needs --glossary: it says how terms are taken from it.")
    settings = tuple(_settings(library, conditioning, sampling, batch_size, compute_type)) if library else (None,)
    header = {
        "audit": "determinism",
        "target": common.target(url, library, model),
        "files": {file.name: sha256_of(file) for file in files},
        "settings": [each.label() if each else "" for each in settings],
        "loads": load,
        "runs": runs,
        "asked": [prompt, glossary, selection, language],
    }
    ask = Ask(prompt=prompt, glossary=glossary, selection=selection, language=language)
    with ExitStack() as stack:
        client = stack.enter_context(common.client_for(url))
        answers = len(files) * runs * len(settings) * len(load)
        session = stack.enter_context(common.session(out, header, answers=answers))
        findings = []
        for each in settings:
            target = common.library(each) if each else common.server(client, model)
            asking = Asking(target, session.journal, session.told)
            label = each.label() if each else ""
            findings += [listen(asking, files, ask, setting=label, load=one, runs=runs) for one in load]
        pairs = across(findings)
        verdict = judge(findings, pairs)
        name = f"bare library ({library})" if library else target.name
        report = determinism_report(findings, verdict, name, runs)
        found = {
            "settings": [
                {"label": f.label, "fingerprints": f.fingerprints, "totals": f.totals, "files": f.files}
                for f in findings
            ],
            "across": pairs,
        }
        common.finish(session, report, found, as_json=as_json)


def _settings(
    channel: Channel, conditioning: Switch, sampling: Switch, batch_sizes: list[int], compute_types: list[str]
) -> Iterator[LibrarySettings]:
    if channel is Channel.BATCHED:
        for size, compute_type in product(batch_sizes, compute_types):
            yield LibrarySettings(channel=channel, batch_size=size, compute_type=compute_type)
        return
    for compute_type, on, sampled in product(compute_types, conditioning.states, sampling.states):
        yield LibrarySettings(channel=channel, conditioning=on, sampling=sampled, compute_type=compute_type)
