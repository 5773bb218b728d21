"""Harmless words to fill a prompt with. In: how many tokens, long or short words. Out: a list of words of exactly that
cost. Pure; any thread.

Two kinds, because a limit in tokens and a limit in characters look the same until the characters of a token change.
A list with commas, because that is what a glossary looks like: running words make small models loop.
"""

from enum import StrEnum
from itertools import cycle, islice


class Filler(StrEnum):
    """`short`: about 2.6 characters a token. `long`: about 7."""

    SHORT = "short"
    LONG = "long"


_SHORT = (
    "cat dog box pen cup hat map bus egg key sun fish tree bird ship rock road door desk lamp milk rice salt corn "
    "wood wool iron gold coat shoe ring bell drum song farm lake hill park city town"
)
_LONG = (
    "information development environment communication international organization understanding experience "
    "performance relationship opportunity significant traditional independent administration circumstances "
    "application professional association conversation responsible particularly construction investigation"
)
# One token each, with the space in front, in both of Whisper's vocabularies: held to that by a test.
WORDS = {Filler.SHORT: _SHORT.split(), Filler.LONG: _LONG.split()}


def filler(kind: Filler, tokens: int) -> str:
    """Always the same words in the same order, `tokens` of cost with the comma that follows the last of them when more
    is joined on. Below 2 there is no such list: empty."""
    pairs, odd = divmod(tokens, 2)
    if not pairs:
        return ""
    words = list(islice(cycle(WORDS[kind]), pairs + odd))
    if odd:
        words[:2] = [f"{words[0]} {words[1]}"]
    return ", ".join(words)


def joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
