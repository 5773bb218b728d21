"""Where Whisper's tokenizer cuts text before it merges bytes. In: text. Out: pieces, which are encoded each alone.
Pure after the class table is read from the package, once; any thread.

The rule is GPT-2's expression (openai/gpt-2, encoder.py). Letters, numbers and spaces are those that the tokenizer
itself was seen to use, not those of the running Python, whose Unicode version differs from release to release.
"""

import re
from functools import cache
from importlib.resources import files


@cache
def _classes() -> dict[str, str]:
    """The table as bodies of character classes: letter, number, space, unassigned."""
    lines = (files("app.prompt") / "tables" / "classes.txt").read_text(encoding="ascii").splitlines()
    bodies: dict[str, str] = {}
    for line in lines:
        if line.startswith("#"):
            continue
        name, *ranges = line.split()
        bodies[name] = "".join(_escaped(span) for span in ranges)
    return bodies


def _escaped(span: str) -> str:
    return "-".join(f"\\U{int(bound, 16):08x}" for bound in span.split("-"))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    body = _classes()
    letter, number, space = body["letter"], body["number"], body["space"]
    return (
        re.compile(f"[{space}]+(?![^{space}])| ?[^{space}]+|[{space}]+"),
        re.compile(
            f"'s|'t|'re|'ve|'m|'ll|'d| ?[{letter}]+| ?[{number}]+| ?[^{space}{letter}{number}]+"
            f"|[{space}]+(?![^{space}])|[{space}]+"
        ),
        re.compile(f"[{body['unassigned']}]"),
    )


def chunks(text: str) -> list[str]:
    """Cuts at white space only. No piece crosses such a cut, whatever class an unassigned code point will get: only
    the space alternatives of the expression look ahead, and they look at white space alone."""
    return _patterns()[0].findall(text)


def pieces(chunk: str) -> list[str]:
    """The pieces of a chunk, or of any text. Joined they are the text again."""
    return _patterns()[1].findall(chunk)


def has_unassigned(text: str) -> bool:
    """Whether a code point was without a class when the table was made: a newer tokenizer may call it a letter."""
    return _patterns()[2].search(text) is not None
