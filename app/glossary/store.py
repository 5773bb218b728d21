"""Glossaries as transcription needs them: whole, in order, at once, also while the database is away. In: a slug. Out: a
snapshot no older than a second, or the last good one marked stale. Event loop thread.

Two things keep copies fresh: a notice with each commit, and a look at the revision number once a second of use."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar
from weakref import WeakValueDictionary

from prometheus_client import CollectorRegistry

from app.db import Database
from app.errors import NotFound, NotReady
from app.glossary.bulk import BulkImport, ImportMode
from app.glossary.editor import Edit, GlossaryEditor, TailCheck
from app.glossary.metrics import GlossaryMetrics
from app.glossary.prompt_log import PromptLog, SentPrompt
from app.glossary.repository import active_terms, active_terms_at, find_glossary, settings_at
from app.glossary.term import Glossary, GlossarySettings, GlossarySnapshot, Term
from app.glossary.term_rows import clean_rows
from app.telemetry import logger

log = logger(__name__)

K = TypeVar("K")
V = TypeVar("V")

FRESH_SECONDS = 1.0
FIRST_READ_SECONDS = 20.0
READ_SECONDS = 5.0
"""Longest wait for the database where there is a copy to fall back on."""
_NEVER = float("-inf")
_KEPT_LATEST = 256
_KEPT_PAST = 32


@dataclass(slots=True)
class _Copy:
    """`checked`: when it was last known to be the newest, on the store's clock."""

    id: int
    snapshot: GlossarySnapshot
    checked: float


class GlossaryStore:
    """`editor` and `imports` change glossaries, `prompts` remembers what was sent."""

    def __init__(
        self,
        db: Database,
        *,
        tail_check: TailCheck,
        metrics: GlossaryMetrics | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._db = db
        self._metrics = metrics or GlossaryMetrics(CollectorRegistry())
        self._clock = clock
        self._latest: OrderedDict[str, _Copy] = OrderedDict()
        self._past: OrderedDict[tuple[int, int], GlossarySnapshot] = OrderedDict()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._stale: set[str] = set()
        self._away_until = 0.0
        self._changes_heard = 0
        self.editor = GlossaryEditor(db, tail_check, self._changed)
        self.imports = BulkImport(self.editor)
        self.prompts = PromptLog(db, self._metrics)
        db.listen(self._changed, self._link)

    async def snapshot(self, slug: str, *, revision: int | None = None) -> GlossarySnapshot:
        """The glossary's active terms in total order, now or at a past revision.

        Raises NotFound for an unknown slug or revision; NotReady when the database is away and the glossary was never
        seen here. A copy seen before is served then, with `stale` true.
        """
        copy = self._latest.get(slug)
        if copy is not None and revision in (None, copy.snapshot.revision) and self._is_fresh(copy):
            return copy.snapshot
        lock = self._locks.setdefault(slug, asyncio.Lock())
        async with lock:
            return await self._read(slug, revision)

    async def import_terms(
        self,
        slug: str,
        terms: Sequence[Term],
        *,
        mode: Literal["merge", "replace"] = "merge",
        actor: str,
        create: bool = False,
    ) -> int:
        """Bring terms in, all or none; the revision afterwards. Raises as `BulkImport.run`, and InvalidRequest with the
        number of each bad term."""
        rows = await asyncio.to_thread(clean_rows, list(enumerate(terms, start=1)), check=self.editor.check_term)
        result = await self.imports.run(slug, rows, Edit(actor), mode=ImportMode(mode), create=create)
        return result.revision

    async def remember_prompt(self, *, sha256: str, ids: Sequence[int], text: str, slug: str, revision: int) -> None:
        """Keep a prompt that was sent. Never fails and never waits for a database that is away: it is kept then."""
        await self.prompts.remember(sha256, tuple(ids), text, slug, revision)

    async def prompt(self, sha256: str) -> SentPrompt | None:
        """A prompt that was sent, None if none of that name was. Raises NotReady."""
        return await self.prompts.find(sha256)

    def _is_fresh(self, copy: _Copy) -> bool:
        return self._clock() - copy.checked < FRESH_SECONDS

    async def _read(self, slug: str, revision: int | None) -> GlossarySnapshot:
        copy = self._latest.get(slug)
        try:
            if copy is not None and (not self._db.up or self._clock() < self._away_until):
                return self._last_good(slug, copy, revision)
            async with asyncio.timeout(FIRST_READ_SECONDS if copy is None else READ_SECONDS):
                return await self._read_from_database(slug, revision)
        except (NotReady, TimeoutError) as error:
            self._away_until = self._clock() + FRESH_SECONDS
            if copy is None:
                raise error if isinstance(error, NotReady) else NotReady("The database took too long.") from error
            return self._last_good(slug, copy, revision)

    async def _read_from_database(self, slug: str, revision: int | None) -> GlossarySnapshot:
        checked, heard = self._clock(), self._changes_heard
        async with self._db.session() as session:
            try:
                glossary = await find_glossary(session, slug)
            except NotFound:
                self._latest.pop(slug, None)
                self._set_stale(slug, False)
                raise
            self._set_stale(slug, False)
            if revision is not None and revision != glossary.revision:
                past = self._past.get((glossary.id, revision))
                if past is None:
                    settings = await settings_at(session, glossary, revision)
                    past = _snapshot(glossary, revision, settings, await active_terms_at(session, glossary, revision))
                _keep(self._past, (glossary.id, revision), past, _KEPT_PAST)
                return past
            copy = self._latest.get(slug)
            if copy is None or (copy.id, copy.snapshot.revision) != (glossary.id, glossary.revision):
                terms = await active_terms(session, glossary)
                snapshot = _snapshot(glossary, glossary.revision, glossary.settings, terms)
                copy = _Copy(glossary.id, snapshot, checked)
            copy.checked = checked if heard == self._changes_heard else _NEVER
            _keep(self._latest, slug, copy, _KEPT_LATEST)
            return copy.snapshot

    def _last_good(self, slug: str, copy: _Copy, revision: int | None) -> GlossarySnapshot:
        if revision is not None and revision != copy.snapshot.revision:
            past = self._past.get((copy.id, revision))
            if past is None:
                raise NotReady("The database is away; only the newest revision is at hand.", code="database_away")
            return past
        self._set_stale(slug, True)
        self._metrics.stale_served.inc()
        return replace(copy.snapshot, stale=True)

    def _set_stale(self, slug: str, stale: bool) -> None:
        if stale and slug not in self._stale:
            log.warning("serving a stale glossary", slug=slug)
        (self._stale.add if stale else self._stale.discard)(slug)
        self._metrics.stale.set(len(self._stale))

    def _changed(self, slug: str) -> None:
        self._changes_heard += 1
        if (copy := self._latest.get(slug)) is not None:
            copy.checked = _NEVER

    def _link(self, up: bool) -> None:
        """Whatever was announced while the link was down went unheard: look at every revision again."""
        self._metrics.database_up.set(up)
        self._away_until = 0.0
        for copy in self._latest.values():
            copy.checked = _NEVER


def _snapshot(
    glossary: Glossary, revision: int, settings: GlossarySettings, terms: tuple[Term, ...]
) -> GlossarySnapshot:
    return GlossarySnapshot(
        glossary.slug,
        revision,
        settings.language,
        settings.token_budget,
        settings.max_terms,
        terms,
        selection=settings.selection,
    )


def _keep(cache: OrderedDict[K, V], key: K, value: V, size: int) -> None:
    cache[key] = value
    cache.move_to_end(key)
    while len(cache) > size:
        cache.popitem(last=False)
