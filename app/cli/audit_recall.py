"""`lexicue audit recall`. In: a manifest of recordings with transcripts and terms, a list of terms, a target. Out: how
many terms come out right under which conditions, and how many are too many. Main thread, blocking."""

from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import typer

from app.audit.advice import advise, rates
from app.audit.asking import Asking, sha256_of
from app.audit.library import LibrarySettings
from app.audit.placing import glossary_on_server
from app.audit.probe import Ask
from app.audit.recall import Condition, Placement, Position, Sample, Taken, read_manifest
from app.audit.recall_report import recall_report
from app.audit.recalling import AskFor, Prepare, conditions_of, hear_under
from app.cli import audit_session as common
from app.cli.client import DEFAULT_URL, Json, Url


def recall(
    manifest: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="Tab-separated: file, transcript, terms, language.")
    ],
    terms: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="List of terms, one a line.")] = None,
    url: Url = DEFAULT_URL,
    library: common.LibraryOption = None,
    model: common.ModelName = "whisper-1",
    number: Annotated[list[int], typer.Option(min=1, help="How many terms to give; repeat.")] = [5, 10, 20, 40],  # noqa: B006 - typer copies it
    taken: Annotated[
        list[Taken], typer.Option(help="spoken: those said, among others. head: the first of the list. Repeat.")
    ] = [Taken.SPOKEN, Taken.HEAD],  # noqa: B006 - as above
    position: Annotated[list[Position], typer.Option(help="Where the spoken ones stand; repeat.")] = [Position.LAST],  # noqa: B006 - as above
    placement: Annotated[list[Placement], typer.Option(help="How they are given; repeat.")] = [Placement.PROMPT],  # noqa: B006 - as above
    glossary: Annotated[
        str | None, typer.Option(help="Slug of a glossary of the server's, as one more condition.")
    ] = None,
    selection: Annotated[str | None, typer.Option(help="How Lexicue chooses from that glossary.")] = None,
    at_least: Annotated[float, typer.Option(min=0, max=1, help="Recall that the best condition must reach.")] = 0,
    out: common.Out = Path("audits/recall"),
    as_json: Json = False,
) -> None:
    """Count the terms that come out right, with and without a glossary, by number, position and placement.

    Exit code 0: terms help, or do no harm. 1: they make it worse than none, a request is refused, or no condition
    reaches --at-least.
    """
    if library and (glossary or set(placement) != {Placement.PROMPT}):
        common.stop("The bare library takes a prompt only: leave out --glossary and --placement.")
    samples = read_manifest(common.text_of(manifest))
    common.existing([manifest.parent / sample.file for sample in samples])
    listed = [line.strip() for line in common.text_of(terms).splitlines() if line.strip()] if terms else []
    conditions = conditions_of(number, taken, position, placement, stored=glossary is not None)
    header = {
        "audit": "recall",
        "target": common.target(url, library, model),
        "manifest": sha256_of(manifest),
        "terms": sha256_of(terms) if terms else None,
        "conditions": [condition.label for condition in conditions],
        "glossary": [glossary, selection],
    }
    with ExitStack() as stack:
        client = stack.enter_context(common.client_for(url))
        session = stack.enter_context(common.session(out, header, answers=len(conditions) * len(samples)))
        target = common.library(LibrarySettings(channel=library)) if library else common.server(client, model)
        asking = Asking(target, session.journal, session.told)
        ask_for = _ask_for(stack, client, set(placement), glossary, selection, header)
        results, heard = hear_under(asking, manifest.parent, samples, conditions, listed, ask_for)
        advice = advise(results, at_least=at_least)
        report = recall_report(results, heard, advice, target.name)
        found = {"most": advice.most, "conditions": rates(results), "files": _by_label(results)}
        common.finish(session, report, found, as_json=as_json)


def _ask_for(
    stack: ExitStack,
    client: Any,
    placements: set[Placement],
    glossary: str | None,
    selection: str | None,
    header: dict[str, Any],
) -> AskFor:
    on_server = None
    if placements - {Placement.PROMPT, Placement.KEYWORDS}:
        slug = f"audit-{sha256(repr(header).encode()).hexdigest()[:12]}"
        on_server = stack.enter_context(glossary_on_server(client, slug))

    def ask_for(condition: Condition, sample: Sample, terms: tuple[str, ...]) -> tuple[Ask, Prepare | None]:
        if condition.taken is Taken.GLOSSARY:
            return Ask(glossary=glossary, selection=selection, language=sample.language), None
        if not terms or condition.placement is Placement.PROMPT:
            return Ask(prompt=", ".join(terms), language=sample.language), None
        if condition.placement is Placement.KEYWORDS:
            # Keywords come most important first, and the most important ends up last in a prompt.
            return Ask(keywords=terms[::-1], language=sample.language), None
        assert on_server is not None  # noqa: S101 - opened above for just these placements
        said = frozenset(sample.terms) if condition.taken is Taken.SPOKEN else frozenset()
        return (
            Ask(keywords=terms, language=sample.language),
            lambda ask: on_server.placed(ask, said, condition.placement),
        )

    return ask_for


def _by_label(results: dict[Condition, Any]) -> dict[str, Any]:
    return {condition.label: figures for condition, figures in results.items()}
