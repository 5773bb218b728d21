"""Every prompt that was sent, by the sha256 of its ids, so that a transcript can be explained later. In: prompts as
they are sent. Out: rows, at once or as soon as the database is back. Event loop thread."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.db import Database
from app.errors import NotReady
from app.glossary.metrics import GlossaryMetrics
from app.glossary.models import prompt_sources, prompts
from app.telemetry import logger

log = logger(__name__)

WRITE_SECONDS = 1.0
_KEPT_UNSAVED = 10_000
_KEPT_SAVED = 10_000


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """`sources`: the (slug, revision) pairs that it was made from, the first use first; never empty."""

    sha256: str
    ids: tuple[int, ...]
    text: str
    sources: tuple[tuple[str, int], ...]

    @property
    def glossary(self) -> str:
        return self.sources[0][0]

    @property
    def revision(self) -> int:
        return self.sources[0][1]


class PromptLog:
    """Holds what could not be written, 10,000 prompts at most, and writes it when the database returns."""

    def __init__(self, db: Database, metrics: GlossaryMetrics) -> None:
        self._db = db
        self._metrics = metrics
        self._unsaved: OrderedDict[SentPrompt, None] = OrderedDict()
        self._saved: OrderedDict[SentPrompt, None] = OrderedDict()
        self._flushes: set[asyncio.Task[None]] = set()
        db.listen(lambda _: None, self._link)

    async def remember(self, sha256: str, ids: Sequence[int], text: str, slug: str, revision: int) -> None:
        """Record a prompt; never raises for a database that is away, and waits a second for it at most."""
        prompt = SentPrompt(sha256, tuple(ids), text, ((slug, revision),))
        if prompt in self._saved or prompt in self._unsaved:
            return
        self._unsaved[prompt] = None
        if len(self._unsaved) > _KEPT_UNSAVED:
            self._unsaved.popitem(last=False)
            log.error("a sent prompt was dropped unrecorded: the database is away for too long")
        if self._db.up:
            await self._flush()
        self._metrics.prompts_unsaved.set(len(self._unsaved))

    async def find(self, sha256: str) -> SentPrompt | None:
        """The prompt of that name, None if it never was sent. Raises NotReady."""
        waiting = [prompt for prompt in self._unsaved if prompt.sha256 == sha256]
        if waiting:
            return SentPrompt(sha256, waiting[0].ids, waiting[0].text, tuple(p.sources[0] for p in waiting))
        async with self._db.session() as session:
            row = (await session.execute(select(prompts).where(prompts.c.sha256 == sha256))).one_or_none()
            if row is None:
                return None
            query = select(prompt_sources.c.slug, prompt_sources.c.revision).where(prompt_sources.c.sha256 == sha256)
            rows = await session.execute(query.order_by(prompt_sources.c.first_sent, prompt_sources.c.slug).limit(1000))
            return SentPrompt(sha256, tuple(row.ids), row.text, tuple((slug, revision) for slug, revision in rows))

    async def settle(self) -> None:
        """Wait for the writes under way."""
        await asyncio.gather(*self._flushes)

    def _link(self, up: bool) -> None:
        if up and self._unsaved:
            task = asyncio.create_task(self._flush(), name="prompt-log-flush")
            self._flushes.add(task)
            task.add_done_callback(self._flushes.discard)

    async def _flush(self) -> None:
        for prompt in list(self._unsaved):
            try:
                async with asyncio.timeout(WRITE_SECONDS):
                    await self._write(prompt)
            except (NotReady, TimeoutError):
                return
            self._unsaved.pop(prompt, None)
            self._saved[prompt] = None
            if len(self._saved) > _KEPT_SAVED:
                self._saved.popitem(last=False)
        self._metrics.prompts_unsaved.set(len(self._unsaved))

    async def _write(self, prompt: SentPrompt) -> None:
        (slug, revision), *_ = prompt.sources
        values = {"sha256": prompt.sha256, "ids": list(prompt.ids), "text": prompt.text}
        source = {"sha256": prompt.sha256, "slug": slug, "revision": revision}
        async with self._db.session() as session:
            await session.execute(insert(prompts).values(values).on_conflict_do_nothing())
            await session.execute(insert(prompt_sources).values(source).on_conflict_do_nothing())
