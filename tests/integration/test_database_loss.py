"""`kill -9` of the database server under load: nothing acknowledged is lost, reading goes on, and it comes back."""

import asyncio
import itertools
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.db import Database
from app.errors import NotReady
from app.glossary.editor import Edit
from app.glossary.store import GlossaryStore
from app.glossary.term import GlossarySettings, Term

OPERATIONS = 200
KILL_AFTER = (40, 110)


@pytest.fixture
async def embedded() -> AsyncIterator[Database]:
    with tempfile.TemporaryDirectory(prefix="lexicue-test-") as folder:
        db = await Database.open(None, Path(folder))
        await db.wait_up()
        await db.migrate()
        yield db
        await db.close()


def kill(db: Database) -> None:
    process = db.embedded and db.embedded.postmaster()
    assert process
    process.kill()


async def test_two_deaths_under_200_reads_and_writes(embedded: Database) -> None:
    store = GlossaryStore(embedded, tail_check=lambda _terms, _budget: None)
    await store.editor.create("clinic", GlossarySettings(), "ann")
    await store.snapshot("clinic")
    acknowledged: dict[str, int] = {}
    refused: list[str] = []
    reads = {True: 0, False: 0}
    numbers = itertools.count()

    async def write(number: int) -> None:
        text = f"term {number}"
        try:
            _, glossary = await store.editor.add_term("clinic", Term(text), Edit("ann"))
        except NotReady:
            refused.append(text)
            await embedded.wait_up()
            return
        acknowledged[text] = glossary.revision

    async def read() -> None:
        snapshot = await store.snapshot("clinic")  # never raises: there is a copy
        reads[snapshot.stale] += 1

    async def worker() -> None:
        while (number := next(numbers)) < OPERATIONS:
            if number in KILL_AFTER:
                kill(embedded)
            await (read() if number % 2 else write(number))

    async with asyncio.timeout(120):
        await asyncio.gather(*(worker() for _ in range(4)))
        await embedded.wait_up()
        text, revision = "after", (await store.editor.add_term("clinic", Term("after"), Edit("ann")))[1].revision
    acknowledged[text] = revision

    snapshot = await GlossaryStore(embedded, tail_check=lambda _terms, _budget: None).snapshot("clinic")
    kept = {term.text for term in snapshot.terms}
    assert set(acknowledged) <= kept, "an acknowledged change was lost"
    assert kept <= set(acknowledged) | set(refused)
    assert refused, "the deaths were not noticed: the test proves nothing"
    assert reads[True] + reads[False] == OPERATIONS // 2
    assert len(set(acknowledged.values())) == len(acknowledged)
    assert snapshot.revision >= max(acknowledged.values())


async def test_a_session_that_dies_leaves_the_database_usable(embedded: Database) -> None:
    """One connection's process is killed: Postgres then restarts all of them by itself."""
    store = GlossaryStore(embedded, tail_check=lambda _terms, _budget: None)
    await store.import_terms("clinic", [Term("A")], actor="ann", create=True)
    postmaster = embedded.embedded and embedded.embedded.postmaster()
    assert postmaster
    lost = asyncio.Event()
    embedded.listen(lambda _: None, lambda up: None if up else lost.set())
    session = next(child for child in postmaster.children() if any("idle" in part for part in child.cmdline()))
    session.kill()
    await lost.wait()
    await embedded.wait_up()
    assert await store.import_terms("clinic", [Term("B")], actor="ann") == 3
    assert postmaster.is_running()
