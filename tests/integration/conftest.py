"""A real Postgres for all integration tests, started by the code under test, and a database of its own for each test,
copied from one whose schema Alembic made."""

import asyncio
import itertools
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from finetune_clips import make_clips
from sqlalchemy import make_url

from app.db import Database
from app.embedded_postgres.server import ROLE, EmbeddedPostgres
from app.errors import Conflict
from app.finetune import pool
from app.finetune.chunk import Job, prepare_chunk
from app.glossary.store import GlossaryStore
from app.glossary.term import Placement, Term

TAIL_CHARACTERS = 40


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    with tempfile.TemporaryDirectory(prefix="lexicue-test-") as folder:
        server = EmbeddedPostgres(Path(folder))
        server.start()
        yield server
        server.stop()


@pytest.fixture(scope="session")
def make_database(postgres: EmbeddedPostgres) -> Callable[..., str]:
    """Creates a database and returns its URL; options are those of CREATE DATABASE."""
    numbers = itertools.count()

    def make(options: str = "") -> str:
        name = f"test_{next(numbers)}"
        with psycopg.connect(
            host=str(postgres.socket_dir), user="postgres", dbname="postgres", autocommit=True
        ) as admin:
            admin.execute(f"CREATE DATABASE {name} OWNER {ROLE} {options}")
        return f"postgresql://{ROLE}@/{name}?host={postgres.socket_dir}"

    return make


@pytest.fixture(scope="session")
def template(make_database: Callable[..., str]) -> str:
    url = make_database()

    async def migrate() -> None:
        db = await Database.open(url, Path())
        await db.migrate()
        await db.close()

    asyncio.run(migrate())
    return str(make_url(url).database)


@pytest.fixture
def database_url(make_database: Callable[..., str], template: str) -> str:
    return make_database(f"TEMPLATE {template}")


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    db = await Database.open(database_url, Path())
    await db.wait_up()
    yield db
    await db.close()


def check_tail(terms: object, token_budget: int | None) -> None:
    """Stands in for the planner's check: one token a character, 40 without a budget."""
    tail = sum(len(term.text) for term in terms if term.placement is not Placement.RANKED)  # type: ignore[attr-defined]
    if tail > (budget := token_budget or TAIL_CHARACTERS):
        raise Conflict("over", code="tail_over_budget", details={"tokens": tail, "budget": budget})


@pytest.fixture
async def store(database: Database) -> GlossaryStore:
    return GlossaryStore(database, tail_check=check_tail)


@pytest.fixture
def ranked() -> Callable[..., list[Term]]:
    """Ranked terms of the given texts, the first the most important."""

    def make(*texts: str) -> list[Term]:
        return [Term(text, priority=len(texts) - place) for place, text in enumerate(texts)]

    return make


@pytest.fixture
def audio(tmp_path: Path) -> Path:
    """A recording for servers that do not listen."""
    path = tmp_path / "clip.wav"
    path.write_bytes(b"the stub does not listen")
    return path


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of twelve short recordings for a training set."""
    return make_clips(tmp_path_factory.mktemp("clips"), 12)


@pytest.fixture
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of a training set done in this process, where a test is about what is in them."""

    def run(_self: pool.WorkerPool, jobs: list[Job]) -> object:
        return (prepare_chunk(job, lambda position: None) for job in jobs)

    monkeypatch.setattr(pool.WorkerPool, "run", run)
