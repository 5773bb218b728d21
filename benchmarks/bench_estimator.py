"""How far the estimate without a tokenizer lies from the count, beside the per-script coefficients in circulation and
beside UTF-8 bytes. In: the token fixtures, the shipped tables. Out: two tables on stdout. Seeded; no model needed."""

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from app.prompt.merges import Vocabulary
from app.prompt.tokens import estimate_tokens

FIXTURES = json.loads(
    (Path(__file__).parents[1] / "tests" / "data" / "tokens" / "fixtures.json").read_text(encoding="utf-8")
)
BUDGET = 223
VOCABULARIES = ((Vocabulary.MULTILINGUAL, "tokens_multilingual"), (Vocabulary.ENGLISH, "tokens_en"))
# First and last code point, tokens for each; the first that fits counts, the rest costs 1.
PUBLISHED = (
    (0x1100, 0x11FF, 1.4),
    (0x3040, 0x30FF, 1.4),
    (0x3130, 0x318F, 1.4),
    (0x3400, 0x4DBF, 1.4),
    (0x4E00, 0x9FFF, 1.4),
    (0xA960, 0xA97F, 1.4),
    (0xAC00, 0xD7FF, 1.4),
    (0xF900, 0xFAFF, 1.4),
    (0xFF65, 0xFFDC, 1.4),
    (0x0400, 0x04FF, 0.55),
    (0x0600, 0x06FF, 0.55),
    (0x10000, 0x10FFFF, 2.0),
)


class Method(NamedTuple):
    name: str
    estimate: Callable[[str, Vocabulary], int]


def published(text: str, _vocabulary: Vocabulary = Vocabulary.OTHER) -> int:
    """Tokens per code point by script, rounded up at the end: 1.4 Chinese, Japanese, Korean; 0.55 Cyrillic, Arabic;
    0.45 Latin letters, digits, space; 2.0 beyond the BMP; 1.0 all else, Thai too."""
    return math.ceil(round(sum(map(_coefficient, text)), 6))


def _coefficient(character: str) -> float:
    if character.isascii() and (character.isalnum() or character == " "):
        return 0.45
    code_point = ord(character)
    return next((each for first, last, each in PUBLISHED if first <= code_point <= last), 1.0)


def utf8_bytes(text: str, _vocabulary: Vocabulary) -> int:
    return len(f" {text.strip()}".encode())


METHODS = (Method("shipped", estimate_tokens), Method("published", published), Method("UTF-8 bytes", utf8_bytes))


def slack() -> None:
    """Over all fixtures but those that spell control tokens, which no prompt may hold."""
    ordinary = [each for each in FIXTURES if each["class"] != "special_token_text"]
    print(f"{'estimate':<12} {'vocabulary':<13} {'under':>13} {'worst':>7} {'mean slack':>11}")
    for method in METHODS:
        for vocabulary, column in VOCABULARIES:
            pairs = [(method.estimate(each["text"], vocabulary), each[column]) for each in ordinary]
            under = sum(estimate < count for estimate, count in pairs)
            worst = min(estimate / count for estimate, count in pairs)
            mean = sum(estimate for estimate, _ in pairs) / sum(count for _, count in pairs) - 1
            print(f"{method.name:<12} {vocabulary:<13} {under:>4} of {len(pairs):>4} {worst:>8.2f} {mean:>+11.1%}")


def fill() -> None:
    """Terms of every fixture class in random order, added while the estimate of the whole allows it."""
    terms = [each["text"] for each in FIXTURES if each["class"].endswith(("_brand", "_medical"))]
    print(f"\n{'estimate':<12} {'real tokens, % of 223':>22} {'really over':>12}")
    for method in METHODS:
        draw, used = random.Random(7), []
        for _ in range(200):
            text = ""
            for term in draw.sample(terms, len(terms)):
                longer = f"{text}, {term}" if text else term
                if method.estimate(longer, Vocabulary.MULTILINGUAL) > BUDGET:
                    break
                text = longer
            used.append(estimate_tokens(text, Vocabulary.MULTILINGUAL))
        over = sum(tokens > BUDGET for tokens in used)
        print(f"{method.name:<12} {sum(used) / len(used) / BUDGET:>22.1%} {over / len(used):>12.1%}")


def main() -> None:
    wrong = [each["text"] for each in FIXTURES if published(each["text"]) != each["estimate_published"]]
    assert not wrong, f"the published coefficients are not those that the fixtures were made with: {wrong[:5]}"
    slack()
    fill()


if __name__ == "__main__":
    main()
