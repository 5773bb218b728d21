"""One order of terms, whatever the table, the planner or the locale of the database do."""

import random
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from app.db import Database
from app.embedded_postgres.server import ROLE, EmbeddedPostgres
from app.glossary.store import GlossaryStore
from app.glossary.term import GlossarySnapshot, Placement, Term, order_key

TRICKY = [
    "zebra",
    "Ofen",
    "Öl",
    "olive",
    "Coop",
    "Co op",
    "Nguyen",
    "Nguyễn",
    "émile",
    "Emile2",
    "-dash",
    "_under",
    "가",
    "日",
]


def tie_patterns() -> list[Term]:
    """1,200 terms and more: each placement, priorities that are all equal, paired and all different, texts that
    language locales sort otherwise than bytes, the same text in two languages."""
    terms = [Term(word, placement, 0) for word, placement in zip(TRICKY, [*Placement] * 5, strict=False)]
    for number in range(400):
        word = f"{TRICKY[number % len(TRICKY)]} {number:03}"
        terms.append(Term(word, Placement.RANKED, 5))
        terms.append(Term(word, Placement.RANKED, number // 2, language="ko"))
        terms.append(Term(word, [*Placement][number % 3], number, language="en"))
    return terms


async def snapshot_of(db: Database) -> GlossarySnapshot:
    return await GlossaryStore(db, tail_check=lambda _terms, _budget: None).snapshot("clinic")


async def fill(db: Database, seed: int) -> None:
    terms = tie_patterns()
    random.Random(seed).shuffle(terms)
    store = GlossaryStore(db, tail_check=lambda _terms, _budget: None)
    await store.import_terms("clinic", terms, actor="ann", create=True)


def texts(snapshot: GlossarySnapshot) -> list[str]:
    """What a prompt is made of. Terms that differ in language alone may change places: their text is the same."""
    return [term.text for term in snapshot.terms]


EXPECTED = [term.text for term in sorted(tie_patterns(), key=order_key)]

SHUFFLES = [
    "UPDATE terms SET note = note || 'x'",
    "WITH gone AS (DELETE FROM terms WHERE version % 3 = 0 RETURNING *) INSERT INTO terms OVERRIDING SYSTEM VALUE "
    "SELECT * FROM gone ORDER BY random()",
    "CLUSTER terms USING terms_pkey",
    "CREATE INDEX scattered ON terms (note, valid_from, priority)",
    "CLUSTER terms USING scattered",
    "VACUUM FULL terms",
    "REINDEX TABLE terms",
]


async def test_moving_rows_about_moves_no_term(database: Database) -> None:
    await fill(database, seed=1)
    before = await snapshot_of(database)
    assert len(before.terms) > 1200
    assert texts(before) == EXPECTED
    options = {"isolation_level": "AUTOCOMMIT"}
    for statement in SHUFFLES:
        async with database.engine.connect() as connection:
            await (await connection.execution_options(**options)).execute(text(statement))
        after = await snapshot_of(database)
        assert [(term.id, term.text) for term in after.terms] == [(term.id, term.text) for term in before.terms]


async def test_parallel_and_unindexed_scans_give_the_same_order(database: Database) -> None:
    await fill(database, seed=2)
    parallel = (
        "SET enable_indexscan = off", "SET enable_bitmapscan = off", "SET enable_indexonlyscan = off",
        "SET debug_parallel_query = on", "SET parallel_setup_cost = 0", "SET parallel_tuple_cost = 0",
        "SET min_parallel_table_scan_size = 0", "SET synchronize_seqscans = on",
    )  # fmt: skip
    for settings in ((), parallel):
        async with database.session() as session:
            for statement in settings:
                await session.execute(text(statement.replace("SET ", "ALTER ROLE CURRENT_USER SET ")))
        fresh = await Database.open(database.url.render_as_string(hide_password=False), Path())
        assert texts(await snapshot_of(fresh)) == EXPECTED
        await fresh.close()
    async with database.session() as session:
        await session.execute(text("ALTER ROLE CURRENT_USER RESET ALL"))


@pytest.mark.parametrize("seed", range(3))
async def test_the_order_of_arrival_does_not_matter(database: Database, seed: int) -> None:
    await fill(database, seed)
    assert texts(await snapshot_of(database)) == EXPECTED


@pytest.mark.parametrize("locale", ["builtin LOCALE 'C'", "builtin LOCALE 'PG_UNICODE_FAST'"])
async def test_built_in_locales_do_not_matter(make_database: Callable[..., str], locale: str) -> None:
    url = make_database(f"TEMPLATE template0 LOCALE_PROVIDER {locale}".replace("LOCALE '", "BUILTIN_LOCALE '"))
    db = await Database.open(url, Path())
    await db.migrate()
    await fill(db, seed=3)
    assert texts(await snapshot_of(db)) == EXPECTED
    await db.close()


@pytest.fixture(scope="module")
def language_locale() -> Iterator[str]:
    """Folder with a compiled en_US.UTF-8, which sorts by dictionary and not by byte."""
    localedef = shutil.which("localedef")
    if localedef is None or not Path("/usr/share/i18n/locales/en_US").exists():
        pytest.skip("needs localedef and the locale sources of the C library (Debian: the package locales)")
    with tempfile.TemporaryDirectory(prefix="lexicue-locale-") as folder:
        Path(folder).chmod(0o755)
        target = Path(folder) / "en_US.utf8"
        subprocess.run([localedef, "-i", "en_US", "-f", "UTF-8", target], check=True, capture_output=True)
        yield folder


@pytest.fixture
async def dictionary_database(language_locale: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    """A database whose own order is that of en_US: its server is told where the locale is."""
    run = EmbeddedPostgres._environment
    monkeypatch.setattr(EmbeddedPostgres, "_environment", run | {"LOCPATH": language_locale})
    with tempfile.TemporaryDirectory(prefix="lexicue-test-") as folder:
        server = EmbeddedPostgres(Path(folder))
        server.start()
        with psycopg.connect(host=str(server.socket_dir), user="postgres", dbname="postgres", autocommit=True) as admin:
            admin.execute(
                f"CREATE DATABASE dictionary OWNER {ROLE} TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'en_US.UTF-8'"
            )
        db = await Database.open(f"postgresql://{ROLE}@/dictionary?host={server.socket_dir}", Path())
        yield db
        await db.close()
        server.stop()


async def test_a_language_locale_does_not_matter(dictionary_database: Database) -> None:
    await dictionary_database.migrate()
    await fill(dictionary_database, seed=4)
    async with dictionary_database.session() as session:
        rows = await session.execute(text("SELECT w FROM unnest(ARRAY['zebra', 'Öl', 'olive', 'Ofen']) w ORDER BY w"))
        assert [word for (word,) in rows] == ["Ofen", "Öl", "olive", "zebra"], "the locale is in force"
    assert texts(await snapshot_of(dictionary_database)) == EXPECTED
