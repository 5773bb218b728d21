"""What a scrape costs: the page of metrics with 30 and with 1,000 glossaries, every route, outcome and rung seen.

python benchmarks/bench_scrape.py
"""

import statistics
import time

from prometheus_client import CollectorRegistry, generate_latest

from app.audio.metrics import AudioMetrics
from app.db_metrics import DatabaseMetrics
from app.decoding.ladder import LADDER, Reason
from app.decoding.metrics import DecodingMetrics
from app.decoding.request import Fallback, Outcome, WindowResult
from app.glossary.metrics import GlossaryMetrics
from app.main import create_app
from app.prompt.metrics import PromptMetrics
from app.prompt.plan import Block, DroppedTerms, DropReason, PromptPlan
from app.prompt.relevance_metrics import RelevanceMetrics
from app.settings import Settings
from app.telemetry import Telemetry

SCRAPES = 200
STATUSES = (200, 303, 404, 429, 503, 499)
GOAL_SECONDS = 0.010


class Pool:
    pool_size, pool_in_use, pool_timeouts = 5, 1, 0


def used_registry(glossaries: int, routes: list[str]) -> CollectorRegistry:
    """A registry as after a long day: every label that there can be has been seen."""
    telemetry = Telemetry(version="0")
    telemetry.expect(routes)
    for route in routes:
        for status in STATUSES:
            telemetry.request_ended(route, status, 0.1)
    audio, decoding = AudioMetrics(telemetry.registry), DecodingMetrics(telemetry.registry, queue_limit=7200)
    GlossaryMetrics(telemetry.registry)
    RelevanceMetrics(telemetry.registry).tried(offered=5, won=1, seconds=0.5)
    telemetry.registry.register(DatabaseMetrics(Pool()))
    audio.observe(30, 29)
    audio.finished(31, 3)
    for outcome in Outcome:
        steps = tuple(Fallback(rung.name, reason.value) for rung in LADDER for reason in Reason)
        decoding.decoded(WindowResult(0, "en", 1.0, outcome, "first", fallbacks=steps, seconds=1.0))
    decoding.worker(0, up=True)
    prompts = PromptMetrics(telemetry.registry)
    for number in range(glossaries):
        dropped = DroppedTerms()
        for reason in DropReason:
            dropped.add(["term"], Block.RANKED, [3], reason)
        plan = PromptPlan("x", tuple(range(number % 224)), number % 224, 223, (), dropped)
        prompts.sent(plan, glossary=f"glossary-{number}", revision=1)
    return telemetry.registry


def main() -> None:
    routes = list(create_app(Settings()).openapi()["paths"])
    medians = {}
    for glossaries in (30, 1000):
        registry = used_registry(glossaries, routes)
        seconds = []
        for _ in range(SCRAPES):
            start = time.perf_counter()
            page = generate_latest(registry)
            seconds.append(time.perf_counter() - start)
        medians[glossaries] = statistics.median(seconds)
        lines = [line for line in page.splitlines() if not line.startswith(b"#")]
        p95 = statistics.quantiles(seconds, n=20)[-1]
        print(
            f"{glossaries:>5} glossaries, {len(routes)} routes: {len(lines)} series, {len(page) / 1024:.0f} KiB, "
            f"milliseconds: shortest {min(seconds) * 1000:.2f}, median {medians[glossaries] * 1000:.2f}, "
            f"p95 {p95 * 1000:.2f}"
        )
    print(f"ratio of 1,000 to 30 glossaries: {medians[1000] / medians[30]:.2f}")
    print(f"under {GOAL_SECONDS * 1000:.0f} ms with 1,000 glossaries: {medians[1000] < GOAL_SECONDS}")


if __name__ == "__main__":
    main()
