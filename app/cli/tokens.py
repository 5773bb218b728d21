"""`lexicue tokens`. In: lines of text on stdin. Out: what each costs as a term, exact and estimated, and all together.
Main thread; needs the model's tokenizer, neither server nor database."""

import json
import sys

import platformdirs
import typer

from app.cli.client import Json, fail
from app.decoding.model_files import resolve_model
from app.errors import InvalidText, LexicueError
from app.prompt.profiles import WHISPER_PROMPT_TOKENS
from app.prompt.safety import request_text
from app.prompt.tokens import WhisperTokens, estimate_tokens
from app.settings import load_settings


def tokens(as_json: Json = False) -> None:
    """Count the prompt tokens of each line on stdin, by the model's tokenizer and by the estimator without one."""
    try:
        settings = load_settings()
        model = resolve_model(settings.model, settings.cache_dir or platformdirs.user_cache_path("lexicue"))
        counter = WhisperTokens.from_file(model / "tokenizer.json")
        lines = sys.stdin.buffer.read().decode("utf-8-sig").splitlines()
    except LexicueError as error:
        fail(error.message)
    except UnicodeDecodeError:
        fail("The input is not UTF-8.")
    terms, refused = _terms(lines)
    for term in terms:
        _show(term, counter, as_json=as_json)
    if len(terms) > 1 and not as_json:
        whole = ", ".join(terms)
        exact, bound = _costs(whole, counter)
        typer.echo(f"{exact:>6}  {bound:>6}  all in one prompt, which holds {WHISPER_PROMPT_TOKENS}")
    if refused:
        fail("\n".join(refused))


def _terms(lines: list[str]) -> tuple[list[str], list[str]]:
    """Tidied lines that are not empty, and a complaint for each that cannot be in a prompt."""
    terms, refused = [], []
    for number, line in enumerate(lines, start=1):
        try:
            if term := request_text(line, param="text"):
                terms.append(term)
        except InvalidText as error:
            refused.append(f"line {number}: {error.message}")
    return terms, refused


def _show(term: str, counter: WhisperTokens, *, as_json: bool) -> None:
    exact, bound = _costs(term, counter)
    if as_json:
        typer.echo(json.dumps({"text": term, "tokens": exact, "estimated_tokens": bound}, ensure_ascii=False))
    else:
        typer.echo(f"{exact:>6}  {bound:>6}  {term}")


def _costs(text: str, counter: WhisperTokens) -> tuple[int, int]:
    return len(counter.encode(f" {text}")), estimate_tokens(text, counter.vocabulary)
