"""`lexicue preview SLUG`. In: a glossary and for what. Out: its prompt as a page of text, or as the API's JSON. Main
thread, blocking; the server does the work, so the numbers are those of the API."""

from typing import Annotated

import typer

from app.cli.client import DEFAULT_URL, Json, Url, call, connect


def preview(
    slug: Annotated[str, typer.Argument(help="Slug of the glossary.")],
    language: Annotated[str | None, typer.Option(help="Code or name; none: not known yet.")] = None,
    revision: Annotated[int | None, typer.Option(help="Of the glossary; none: the newest.")] = None,
    profile: Annotated[str, typer.Option(help="Whose limits: whisper or groq.")] = "whisper",
    selection: Annotated[str | None, typer.Option(help="static or relevant; none: the glossary's own.")] = None,
    heard: Annotated[
        str | None, typer.Option(help="First transcript of a window: the terms it would be looked at again with.")
    ] = None,
    as_json: Json = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Show the exact prompt of a glossary: terms, tokens, what is left out and why."""
    wanted = {
        "glossary": slug,
        "language": language,
        "revision": revision,
        "profile": profile,
        "selection": selection,
        "heard": heard,
        "format": "json" if as_json else "text",
    }
    with connect(url) as client:
        answer = call(client, "GET", "/prompt/preview", params={k: v for k, v in wanted.items() if v is not None})
    typer.echo(answer.text.rstrip("\n"))
