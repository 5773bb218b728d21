"""The schema by Alembic: one line of revisions, up, down and up again, the same as the tables in code."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from app.db import Database
from app.errors import InvalidRequest, NotReady
from app.glossary.models import metadata
from app.glossary.store import GlossaryStore

OBJECTS = text(
    "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace UNION ALL "
    "SELECT typname FROM pg_type WHERE typnamespace = 'public'::regnamespace UNION ALL "
    "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1"
)


@pytest.fixture
async def empty(make_database: Callable[..., str]) -> AsyncIterator[Database]:
    db = await Database.open(make_database(), Path())
    yield db
    await db.close()


async def objects(db: Database) -> list[str]:
    async with db.session() as session:
        return [name for (name,) in await session.execute(OBJECTS)]


async def test_up_down_and_up_again(empty: Database) -> None:
    assert not await empty.at_head()
    await empty.migrate()
    assert await empty.at_head()
    built = await objects(empty)
    await empty.downgrade("base")
    assert not await empty.at_head()
    assert [name for name in await objects(empty) if "alembic" not in name] == []
    await empty.migrate()
    assert await objects(empty) == built


async def test_the_tables_in_code_are_those_of_the_migrations(database: Database) -> None:
    async with database.session() as session:
        connection = await session.connection()
        options = {"compare_type": True, "compare_server_default": True}
        differences = await connection.run_sync(
            lambda sync: compare_metadata(MigrationContext.configure(sync, opts=options), metadata)
        )
    assert differences == []


def test_there_is_one_head() -> None:
    assert len(ScriptDirectory(str(Path(__file__).parents[2] / "migrations")).get_heads()) == 1


async def test_servers_that_start_together_migrate_once(empty: Database) -> None:
    url = empty.url.set(drivername="postgresql").render_as_string(hide_password=False)
    command = [sys.executable, "-m", "app.cli.main", "migrate"]
    environment = os.environ | {"LEXICUE_DATABASE_URL": url}
    together = [anyio.run_process(command, env=environment, check=False) for _ in range(3)]
    assert [(done.returncode, done.stderr) for done in await asyncio.gather(*together)] == [(0, b"")] * 3
    assert await empty.at_head()


async def test_a_database_without_schema_says_what_to_run(empty: Database) -> None:
    store = GlossaryStore(empty, tail_check=lambda _terms, _budget: None)
    with pytest.raises(NotReady, match="lexicue migrate"):
        await store.snapshot("clinic")


@pytest.mark.parametrize("url", ["sqlite:///x.db", "mysql://u@h/d", "not a url", "postgresql+asyncpg://u@h/d"])
async def test_another_kind_of_database_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequest, match="only Postgres"):
        await Database.open(url, Path())


async def test_the_change_log_cannot_be_rewritten(database: Database, store: GlossaryStore) -> None:
    await store.import_terms("clinic", [], actor="ann", create=True)
    for statement in ("UPDATE revisions SET actor = 'eve'", "DELETE FROM revisions", "TRUNCATE revisions CASCADE"):
        with pytest.raises(Exception, match="append-only"):
            async with database.session() as session:
                await session.execute(text(statement))
