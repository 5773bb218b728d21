"""`lexicue key NAME`. In: a name, perhaps a secret on stdin. Out: a secret for the caller, and the entry for the
server's settings that holds its digest only. Main thread; nothing is stored."""

import json
import secrets
import sys
from typing import Annotated

import typer

from app.api.keys import digest_of, parse_keys
from app.cli.client import Json, fail
from app.errors import InvalidRequest


def key(
    name: Annotated[str, typer.Argument(help="Who will call; appears in logs and in the glossaries' change log.")],
    glossary: Annotated[str | None, typer.Option(help="Glossary for requests that name none.")] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Take the secret from stdin instead of making one.")] = False,
    as_json: Json = False,
) -> None:
    """Make a key: the secret for the caller, and the entry for LEXICUE_APP_KEYS or LEXICUE_OPS_KEYS."""
    secret = sys.stdin.readline().strip() if stdin else f"lex_{secrets.token_urlsafe(32)}"
    owner = f"{name}@{glossary}" if glossary else name
    entry = f"{owner}=sha256:{digest_of(secret).hex()}"
    if not _reads_back(f"{owner}={secret}", name, glossary) or not _reads_back(entry, name, glossary):
        fail(
            "A name is 1 to 40 of A-Z a-z 0-9 . _ -, a glossary its slug, a secret visible ASCII characters without "
            "commas."
        )
    if as_json:
        typer.echo(json.dumps({"entry": entry} if stdin else {"secret": secret, "entry": entry}))
        return
    if not stdin:
        typer.echo(f"For the caller, shown once:   {secret}")
    typer.echo(f"For the server's settings:    {entry}")


def _reads_back(entry: str, name: str, glossary: str | None) -> bool:
    """Whether the server would read what was meant."""
    try:
        return [(key.name, key.glossary) for key in parse_keys(entry, "")] == [(name, glossary)]
    except InvalidRequest:
        return False
