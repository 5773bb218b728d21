"""Headroom by glossary, for however many glossaries, in a bounded number of series. In: the headroom of each sent
prompt. Out: at a scrape, the glossaries with the least and the least of all others. Event loop thread."""

import heapq
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

OTHER = "other"
FORGET_SECONDS = 3600.0
"""A glossary that is not in use any more must not keep an alert alive."""
_REMEMBERED = 10_000


@dataclass(slots=True)
class _Least:
    """The least headroom, in tokens, among the prompts of a glossary's newest revision; `at`: last sent."""

    revision: int
    tokens: int
    at: float


class GlossaryHeadroom(Collector):
    """`lexicue_glossary_headroom_tokens{glossary}`: `most` series with the slugs of the least headroom and one,
    `other`, with the least of the rest. A glossary with that very slug is part of the rest."""

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._least: OrderedDict[str, _Least] = OrderedDict()

    def sent(self, glossary: str, revision: int, headroom: int) -> None:
        """Remember a prompt; a newer revision of the glossary replaces what was known, an older one is passed over."""
        known = self._least.get(glossary)
        if known is not None and revision < known.revision:
            return
        if known is not None and revision == known.revision:
            headroom = min(headroom, known.tokens)
        self._least[glossary] = _Least(revision, headroom, self._clock())
        self._least.move_to_end(glossary)
        if len(self._least) > _REMEMBERED:
            self._least.popitem(last=False)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily(
            "lexicue_glossary_headroom_tokens",
            "Least headroom of the prompts sent in the past hour with the newest revision of a glossary; those with "
            "the least by name, the rest as `other`.",
            labels=["glossary"],
        )
        self._forget()
        named = ((least.tokens, slug) for slug, least in self._least.items() if slug != OTHER)
        shown = heapq.nsmallest(self._most, named)
        for tokens, slug in shown:
            family.add_metric([slug], tokens)
        slugs = {slug for _, slug in shown}
        if rest := [least.tokens for slug, least in self._least.items() if slug not in slugs]:
            family.add_metric([OTHER], min(rest))
        yield family

    def _forget(self) -> None:
        before = self._clock() - FORGET_SECONDS
        while self._least and (oldest := next(iter(self._least))) and self._least[oldest].at < before:
            del self._least[oldest]
