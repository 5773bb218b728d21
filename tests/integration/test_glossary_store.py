"""What transcription gets: fresh within a second, the last good copy when the database is away, past revisions, and a
record of every prompt sent."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from app.db import Database
from app.embedded_postgres.server import EmbeddedPostgres
from app.errors import NotFound, NotReady
from app.glossary.editor import Edit
from app.glossary.metrics import GlossaryMetrics
from app.glossary.store import GlossaryStore
from app.glossary.term import Term

SHA = "ab" * 32
RankedTerms = Callable[..., list[Term]]


def open_store(db: Database, clock: Callable[[], float] | None = None) -> tuple[GlossaryStore, CollectorRegistry]:
    registry = CollectorRegistry()
    extra = {} if clock is None else {"clock": clock}
    metrics = GlossaryMetrics(registry)
    return GlossaryStore(db, tail_check=lambda _terms, _budget: None, metrics=metrics, **extra), registry


def next_notice(db: Database) -> asyncio.Event:
    """Set by the next change that is announced, after the store has heard of it."""
    heard = asyncio.Event()
    db.listen(lambda _: heard.set(), lambda _: None)
    return heard


@pytest.fixture
async def other(database: Database) -> AsyncIterator[Database]:
    """Another server's connection to the same database."""
    db = await Database.open(database.url.render_as_string(hide_password=False), Path())
    await db.wait_up()
    yield db
    await db.close()


@pytest.fixture
async def own_database(make_database: Callable[..., str]) -> AsyncIterator[Database]:
    """A database on an embedded server that only this test uses, so that it may die."""
    with tempfile.TemporaryDirectory(prefix="lexicue-test-") as folder:
        db = await Database.open(None, Path(folder), pool_size=2, pool_timeout=0.5)
        await db.wait_up()
        await db.migrate()
        yield db
        await db.close()


async def test_an_edit_elsewhere_is_seen_because_it_is_announced(
    store: GlossaryStore, other: Database, ranked: RankedTerms
) -> None:
    await store.import_terms("clinic", ranked("A"), actor="ann", create=True)
    here, _ = open_store(other, clock=lambda: 0.0)  # its copies never grow old: only a notice can renew them
    assert (await here.snapshot("clinic")).revision == 2
    heard = next_notice(other)
    await store.import_terms("clinic", ranked("A", "B"), actor="ann")
    async with asyncio.timeout(1):
        await heard.wait()
    snapshot = await here.snapshot("clinic")
    assert snapshot.revision == 3
    assert [term.text for term in snapshot.terms] == ["A", "B"]


async def test_an_edit_is_seen_after_a_second_also_when_no_notice_comes(
    store: GlossaryStore, other: Database, ranked: RankedTerms, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.import_terms("clinic", ranked("A"), actor="ann", create=True)
    now = 100.0
    here, _ = open_store(other, clock=lambda: now)
    monkeypatch.setattr(other, "_on_notice", [])
    assert (await here.snapshot("clinic")).revision == 2
    await store.import_terms("clinic", ranked("A", "B"), actor="ann")
    assert (await here.snapshot("clinic")).revision == 2
    now = 101.0
    assert (await here.snapshot("clinic")).revision == 3


async def test_who_edits_reads_it_back_at_once_without_a_notice(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, _ = open_store(database, clock=lambda: 0.0)
    monkeypatch.setattr(database, "_on_notice", [])
    await store.import_terms("clinic", [Term("A")], actor="ann", create=True)
    assert (await store.snapshot("clinic")).revision == 2
    term, glossary = await store.editor.add_term("clinic", Term("B"), Edit("ann"))
    assert (await store.snapshot("clinic")).revision == glossary.revision == 3
    await store.editor.delete_term("clinic", term.id, Edit("ann"))
    assert [left.text for left in (await store.snapshot("clinic")).terms] == ["A"]


async def test_a_glossary_deleted_elsewhere_is_gone_here(store: GlossaryStore, other: Database) -> None:
    await store.import_terms("clinic", [Term("A")], actor="ann", create=True)
    here, _ = open_store(other)
    await here.snapshot("clinic")
    heard = next_notice(other)
    await store.editor.delete("clinic", Edit("ann"))
    async with asyncio.timeout(1):
        await heard.wait()
    with pytest.raises(NotFound):
        await here.snapshot("clinic")


async def test_requests_that_come_together_read_once(database: Database, store: GlossaryStore) -> None:
    await store.import_terms("clinic", [Term("A")], actor="ann", create=True)
    snapshots = await asyncio.gather(*(store.snapshot("clinic") for _ in range(50)))
    assert all(snapshot is snapshots[0] for snapshot in snapshots)


async def test_the_last_good_copy_is_served_and_marked_while_the_database_is_away(
    own_database: Database, ranked: RankedTerms
) -> None:
    store, registry = open_store(own_database)
    await store.import_terms("clinic", ranked("A", "B"), actor="ann", create=True)
    good = await store.snapshot("clinic")
    past = await store.snapshot("clinic", revision=1)
    lost, back = asyncio.Event(), asyncio.Event()

    def link(up: bool) -> None:
        (back if up else lost).set()

    own_database.listen(lambda _: None, link)
    back.clear()
    own_database.embedded = held_back = HeldBack(own_database.embedded)
    held_back.kill()
    await lost.wait()
    stale = await store.snapshot("clinic")
    assert (stale.stale, stale.terms, stale.revision) == (True, good.terms, good.revision)
    assert registry.get_sample_value("lexicue_glossary_stale") == 1
    assert registry.get_sample_value("lexicue_database_up") == 0
    assert await store.snapshot("clinic", revision=1) == past
    for unseen in (store.snapshot("ward"), store.snapshot("clinic", revision=7)):
        with pytest.raises(NotReady):
            await unseen
    with pytest.raises(NotReady):
        await store.import_terms("clinic", ranked("C"), actor="ann")
    await store.remember_prompt(sha256=SHA, ids=[1, 2], text="A, B", slug="clinic", revision=2)
    assert registry.get_sample_value("lexicue_prompts_unsaved") == 1
    found = await store.prompt(SHA)
    assert found is not None
    assert found.ids == (1, 2)
    assert not await own_database.at_head()

    held_back.release()
    await back.wait()
    fresh = await store.snapshot("clinic")
    assert (fresh.stale, fresh.terms) == (False, good.terms)
    assert registry.get_sample_value("lexicue_glossary_stale") == 0
    await store.prompts.settle()
    assert registry.get_sample_value("lexicue_prompts_unsaved") == 0
    elsewhere, _ = open_store(own_database)
    saved = await elsewhere.prompt(SHA)
    assert saved is not None
    assert (saved.text, saved.sources) == ("A, B", (("clinic", 2),))


class HeldBack:
    """The embedded server, dead for as long as the test wants."""

    def __init__(self, server: EmbeddedPostgres | None) -> None:
        assert server is not None
        self._server = server
        self._held = True
        self.stop = server.stop

    def kill(self) -> None:
        process = self._server.postmaster()
        assert process is not None
        process.kill()

    def release(self) -> None:
        self._held = False

    def ensure_running(self) -> None:
        if self._held:
            raise NotReady("held back")
        self._server.ensure_running()


async def test_a_full_pool_answers_and_does_not_hang(own_database: Database) -> None:
    store, _ = open_store(own_database)
    async with own_database.session() as one, own_database.session() as two:
        await one.connection()
        await two.connection()
        with pytest.raises(NotReady) as refused:
            await store.import_terms("clinic", [], actor="ann", create=True)
    assert refused.value.code == "database_busy"
    assert await store.import_terms("clinic", [], actor="ann", create=True) == 1


async def test_a_prompt_is_kept_with_where_it_came_from(store: GlossaryStore) -> None:
    for revision in (2, 3, 3):
        await store.remember_prompt(sha256=SHA, ids=[5], text="A", slug="clinic", revision=revision)
    prompt = await store.prompt(SHA)
    assert prompt is not None
    assert (prompt.ids, prompt.text, prompt.sources) == ((5,), "A", (("clinic", 2), ("clinic", 3)))
    assert await store.prompt("cd" * 32) is None
