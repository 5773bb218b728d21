"""What bringing 100,000 terms in costs: read, check, write; and the same by one INSERT a row, which is what COPY and
sets replace. Then reading them back, and the look at the revision number that a transcription pays at most once a
second. In: nothing. Out: a table on stdout, seconds of one run and ratios. Starts an embedded Postgres of its own."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path

from sqlalchemy import insert

from app.db import Database
from app.glossary.bulk import ImportMode
from app.glossary.editor import Edit, GlossaryEditor
from app.glossary.models import terms
from app.glossary.normalise import match_key
from app.glossary.store import GlossaryStore
from app.glossary.term import GlossarySettings, Placement, Term
from app.glossary.term_file import TermFormat, read_terms, write_csv
from app.glossary.term_rows import clean_rows

ROWS = 100_000
SINGLE_ROWS = 2_000
EDITOR = Edit("bench")
LIMIT_SECONDS = 30


def invented() -> list[Term]:
    scripts = ("Velnora", "타벨린", "Нувриск", "クラビオ", "Zäpfel")
    return [Term(f"{scripts[n % 5]} {n}", Placement.RANKED, n, ("ko", None, "en")[n % 3]) for n in range(ROWS)]


async def timed(work: Awaitable[object]) -> float:
    start = time.perf_counter()
    await work
    return time.perf_counter() - start


async def one_by_one(editor: GlossaryEditor, rows: list[Term]) -> None:
    """A plain INSERT for each row, in one transaction: no better than what most importers do."""
    await editor.create("single", GlossarySettings(), "bench")
    async with editor.editing("single", EDITOR) as (session, glossary, _):
        for row in rows:
            values = {"text": row.text, "match_key": match_key(row.text), "placement": row.placement.value}
            values |= {"priority": row.priority, "language": row.language, "glossary_id": glossary.id}
            await session.execute(insert(terms).values(valid_from=glossary.revision, **values))


async def measure() -> None:
    with tempfile.TemporaryDirectory(prefix="lexicue-bench-") as folder:
        db = await Database.open(None, Path(folder))
        await db.migrate()
        store = GlossaryStore(db, tail_check=lambda _terms, _budget: None)
        data = "".join(write_csv(invented())).encode()
        start = time.perf_counter()
        read = read_terms(data, TermFormat.CSV, lambda code: code or None)
        rows = clean_rows(read.rows, read.problems, check=store.editor.check_term)
        checked = time.perf_counter() - start
        merge = {"mode": ImportMode.MERGE, "create": True}
        written = await timed(store.imports.run("big", rows, EDITOR, **merge))
        again = await timed(store.imports.run("big", rows, EDITOR, **merge))
        loaded = await timed(store.snapshot("big"))
        fresh = GlossaryStore(db, tail_check=lambda _terms, _budget: None, clock=iter(range(10**9)).__next__)
        await fresh.snapshot("big")
        looked = await timed(asyncio.gather(*[fresh.snapshot("big") for _ in range(200)])) / 200
        single = await timed(one_by_one(store.editor, rows[:SINGLE_ROWS])) * ROWS / SINGLE_ROWS
        await db.close()
    total = checked + written
    print(f"{'':42}{'seconds':>9}")
    for name, seconds in (
        (f"read and check {ROWS:,} rows of CSV", checked),
        ("write them (COPY, set against set)", written),
        ("write them again, nothing new", again),
        ("one INSERT a row (from 2,000)", single),
        ("read them back in total order", loaded),
        ("look at the revision number", looked),
    ):
        print(f"{name:42}{seconds:9.4f}")
    print(f"one INSERT a row takes {single / written:.1f} times as long; whole import {total:.1f} s of {LIMIT_SECONDS}")
    assert total < LIMIT_SECONDS


asyncio.run(measure())
