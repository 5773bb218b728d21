"""`lexicue audit recall`. In: a manifest of recordings with transcripts and terms, a list of terms, a target. Out: how
many terms come out right under which conditions, and how many are too many. Main thread, blocking."""

from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

from app.audit.advice import advise, rates
from app.audit.asking import Asking, sha256_of
from app.audit.hearing import words
from app.audit.library import LibrarySettings
from app.audit.placing import GlossaryOnServer, glossary_on_server
from app.audit.recall import Placement, Position, Taken, glossary_of, read_manifest
from app.audit.recall_report import recall_report
from app.audit.recalling import Questions, conditions_of, hear_under
from app.cli import audit_session as common
from app.cli.client import DEFAULT_URL, Json, Url
from app.glossary.term import TermSelection

NUMBERS = (5, 10, 20, 40)
IN_A_REQUEST = {Placement.PROMPT, Placement.KEYWORDS}


def recall(
    manifest: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="Tab-separated: file, transcript, terms, language.")
    ],
    terms: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="List of terms, one a line.")] = None,
    url: Url = DEFAULT_URL,
    library: common.LibraryOption = None,
    model: common.ModelName = "whisper-1",
    number: Annotated[
        list[int] | None,
        typer.Option(min=1, help="How many terms to give; repeat. Else 5, 10, 20, 40 if no glossary is asked."),
    ] = None,
    taken: Annotated[
        list[Taken], typer.Option(help="spoken: those said, among others. head: the first of the list. Repeat.")
    ] = [Taken.SPOKEN, Taken.HEAD],  # noqa: B006 - typer copies it
    position: Annotated[list[Position], typer.Option(help="Where the spoken ones stand; repeat.")] = [Position.LAST],  # noqa: B006 - as above
    placement: Annotated[list[Placement], typer.Option(help="How they are given; repeat.")] = [Placement.PROMPT],  # noqa: B006 - as above
    glossary: Annotated[str | None, typer.Option(help="Slug of a glossary that is on the server.")] = None,
    size: Annotated[
        list[int] | None, typer.Option(min=1, help="Glossary of so many, those said in any file among them; repeat.")
    ] = None,
    selection: Annotated[
        list[TermSelection] | None, typer.Option(help="How Lexicue takes terms from a glossary; repeat.")
    ] = None,
    at_least: Annotated[float, typer.Option(min=0, max=1, help="Recall that the best condition must reach.")] = 0,
    out: common.Out = Path("audits/recall"),
    as_json: Json = False,
) -> None:
    """Count the terms that come out right, with and without a glossary, by number, position and placement.

    Exit code 0: terms help, or do no harm. 1: they make it worse than none, a request is refused, or no condition
    reaches --at-least.
    """
    _check(library is not None, set(taken), set(placement), glossary is not None or bool(size), bool(selection))
    samples = read_manifest(common.text_of(manifest))
    common.existing([manifest.parent / sample.file for sample in samples])
    lines = [line.strip() for line in common.text_of(terms).splitlines()] if terms else []
    listed = list({words(line): line for line in reversed(lines) if words(line)}.values())[::-1]
    numbers = number or (() if glossary or size else NUMBERS)
    conditions = conditions_of(
        numbers, taken, position, placement, sizes=size or (), selections=selection or (), stored=glossary is not None
    )
    fillings = {each: glossary_of(each, samples, listed) for each in size or ()}
    header = {
        "audit": "recall",
        "target": common.target(url, library, model),
        "manifest": sha256_of(manifest),
        "terms": sha256_of(terms) if terms else None,
        "conditions": [condition.label for condition in conditions],
        "glossary": glossary,
    }
    with ExitStack() as stack:
        client = stack.enter_context(common.client_for(url))
        session = stack.enter_context(common.session(out, header, answers=len(conditions) * len(samples)))
        target = common.library(LibrarySettings(channel=library)) if library else common.server(client, model)
        made = _glossary(stack, client, [header, str(out.resolve())]) if size or set(placement) - IN_A_REQUEST else None
        asking = Asking(target, session.journal, session.told)
        heard = hear_under(asking, manifest.parent, samples, conditions, listed, Questions(glossary, fillings, made))
        advice = advise(heard.figures, at_least=at_least, unheard=heard.unheard)
        report = recall_report(heard, advice, target.name)
        files = {condition.label: figures for condition, figures in heard.figures.items()}
        found = {"most": advice.most, "conditions": rates(heard.figures), "files": files, "unheard": heard.unheard}
        common.finish(session, report, found, as_json=as_json)


def _check(library: bool, taken: set[Taken], placements: set[Placement], glossary: bool, selection: bool) -> None:
    if library and (glossary or placements != {Placement.PROMPT}):
        common.stop("The bare library takes a prompt only: leave out --glossary, --size and --placement.")
    if taken - {Taken.SPOKEN, Taken.HEAD}:
        common.stop("--taken is spoken or head; no terms are always heard, a glossary with --glossary or --size.")
    if selection and not glossary:
        common.stop("--selection needs --glossary or --size: it says how terms are taken from a glossary.")


def _glossary(stack: ExitStack, client: httpx.Client, audit: list[Any]) -> GlossaryOnServer:
    """Of a name that no other audit has, and the same one when this audit goes on."""
    slug = f"audit-{sha256(repr(audit).encode()).hexdigest()[:12]}"
    return stack.enter_context(glossary_on_server(client, slug))
