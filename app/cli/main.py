"""The `lexicue` command: one subcommand a file. In: arguments. Out: text or JSON on stdout, messages on stderr."""

import typer

from app.cli import audit, finetune, glossary
from app.cli.demo import demo
from app.cli.key import key
from app.cli.migrate import migrate
from app.cli.preview import preview
from app.cli.serve import serve
from app.cli.tokens import tokens
from app.cli.transcribe import transcribe

app = typer.Typer(
    name="lexicue",
    help="A transcription service that spells your words right and can prove how.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (serve, key, migrate, preview, transcribe, tokens, demo):
    app.command()(command)
app.add_typer(glossary.app, name="glossary")
app.add_typer(audit.app, name="audit")
app.add_typer(finetune.app, name="finetune")

if __name__ == "__main__":
    app()
