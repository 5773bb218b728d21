"""`lexicue tokens`. In: lines of text on stdin. Out: what each costs in a prompt, exact and estimated.
Main thread; needs the model's tokenizer, neither server nor database."""

import json
import sys

import typer

from app.cli.client import Json, fail
from app.decoding.model_files import resolve_model
from app.errors import LexicueError
from app.prompt.tokens import WhisperTokens, estimate_tokens
from app.settings import load_settings

# Characters that some readers take for the end of a line, and JSON leaves as they are.
_LINE_BREAKS = {ord(character): f"\\u{ord(character):04x}" for character in "\u0085\u2028\u2029"}


def tokens(as_json: Json = False) -> None:
    """Count what each line on stdin costs as a prompt: exactly, and by the estimator without a tokenizer.

    One JSON object for each line (text, tokens, estimated); a table when stdout is a terminal and --json is not given.
    """
    try:
        settings = load_settings()
        model = resolve_model(settings.model, settings.model_cache())
        counter = WhisperTokens.from_file(model / "tokenizer.json")
        lines = sys.stdin.buffer.read().decode("utf-8-sig").split("\n")
    except LexicueError as error:
        fail(error.message)
    except UnicodeDecodeError:
        fail("The input is not UTF-8.")
    if not lines[-1]:
        lines.pop()
    for text in map(str.strip, lines):
        exact, bound = _costs(text, counter)
        if as_json or not sys.stdout.isatty():
            row = json.dumps({"text": text, "tokens": exact, "estimated": bound}, ensure_ascii=False)
            typer.echo(row.translate(_LINE_BREAKS))
        else:
            typer.echo(f"{exact:>6}  {bound:>6}  {text}")


def _costs(text: str, counter: WhisperTokens) -> tuple[int, int]:
    if not text:
        return 0, 0
    return len(counter.encode(f" {text}")), estimate_tokens(text, counter.vocabulary)
