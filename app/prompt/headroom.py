"""Headroom by glossary, for however many glossaries, in a bounded number of series. In: the headroom of each sent
prompt. Out: at a scrape, the glossaries with the least and the least of all others. Event loop thread."""

import heapq
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

OTHER = "other"
FORGET_SECONDS = 3600.0
"""A prompt or a glossary that is not in use any more must not keep an alert alive."""
_REMEMBERED = 10_000


@dataclass(slots=True)
class _Recent:
    """What was sent with a glossary's newest revision, as far as it matters: (when, tokens) of each prompt that has
    less headroom than all later ones. Tokens rise from first to last, so there are never more entries than a budget
    has tokens; the first is the least, the last the newest."""

    revision: int
    prompts: list[tuple[float, int]] = field(default_factory=list)

    def add(self, at: float, tokens: int) -> None:
        while self.prompts and self.prompts[-1][1] >= tokens:
            self.prompts.pop()
        self.prompts.append((at, tokens))

    def forget(self, before: float) -> None:
        while self.prompts and self.prompts[0][0] < before:
            del self.prompts[0]


class GlossaryHeadroom(Collector):
    """`lexicue_glossary_headroom_tokens{glossary}`: `most` series with the slugs of the least headroom and one,
    `other`, with the least of the rest. A glossary with that very slug is part of the rest."""

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._recent: OrderedDict[str, _Recent] = OrderedDict()

    def sent(self, glossary: str, revision: int, headroom: int) -> None:
        """Remember a prompt; a newer revision of the glossary replaces what was known, an older one is passed over."""
        known = self._recent.get(glossary)
        if known is not None and revision < known.revision:
            return
        if known is None or revision > known.revision:
            known = self._recent[glossary] = _Recent(revision)
        known.add(self._clock(), headroom)
        self._recent.move_to_end(glossary)
        if len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily(
            "lexicue_glossary_headroom_tokens",
            "Least headroom of the prompts sent in the past hour with the newest revision of a glossary; those with "
            "the least by name, the rest as `other`.",
            labels=["glossary"],
        )
        self._forget()
        least = {slug: recent.prompts[0][1] for slug, recent in self._recent.items()}
        shown = heapq.nsmallest(self._most, ((tokens, slug) for slug, tokens in least.items() if slug != OTHER))
        for tokens, slug in shown:
            family.add_metric([slug], tokens)
        slugs = {slug for _, slug in shown}
        if rest := [tokens for slug, tokens in least.items() if slug not in slugs]:
            family.add_metric([OTHER], min(rest))
        yield family

    def _forget(self) -> None:
        before = self._clock() - FORGET_SECONDS
        for slug, recent in list(self._recent.items()):
            recent.forget(before)
            if not recent.prompts:
                del self._recent[slug]
