"""What is in the tables, read back. In: a session and names. Out: glossaries, terms in total order, past revisions.
Event loop thread; every function runs inside the caller's transaction."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, collate, func, literal, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from app.db import driver_connection
from app.errors import NotFound
from app.glossary.models import glossaries, is_current, placement_type, revisions, terms
from app.glossary.normalise import match_key, normalise_text
from app.glossary.term import Glossary, GlossarySettings, Placement, Revision, Term, TermChange, TermSelection

SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
MAX_ID = 2**63 - 1
_BATCH = 2000

TERM_COLUMNS = tuple(terms.c[name] for name in Term.__slots__)
TOTAL_ORDER = (terms.c.placement, terms.c.priority.desc(), collate(terms.c.text, "C"), terms.c.id)
"""Total: independent of the order of rows on disk and of the database's locale."""


@dataclass(frozen=True, slots=True)
class TermFilter:
    """Which terms to list. `search`: part of the text, in any spelling that counts as the same."""

    search: str | None = None
    placement: Placement | None = None
    language: str | None = None
    active: bool | None = None


async def find_glossary(session: AsyncSession, slug: str, *, lock: bool = False) -> Glossary:
    """The glossary as it is now; with `lock`, nobody else edits it until the transaction ends. Raises NotFound."""
    if SLUG.fullmatch(slug):
        query = select(glossaries).where(glossaries.c.slug == slug, ~glossaries.c.deleted)
        row = (await session.execute(query.with_for_update() if lock else query)).one_or_none()
        if row is not None:
            return _glossary(row, 0)
    raise NotFound("There is no such glossary; GET /glossaries lists them.", param="slug", code="glossary_not_found")


async def count_terms(session: AsyncSession, glossary: Glossary) -> int:
    return await session.scalar(_now(select(func.count()), glossary)) or 0


async def list_glossaries(session: AsyncSession, *, after: str | None, limit: int) -> Sequence[Glossary]:
    """Glossaries by slug, those behind `after`."""
    count = select(func.count()).where(terms.c.glossary_id == glossaries.c.id, is_current).scalar_subquery()
    query = select(glossaries, count.label("terms")).where(~glossaries.c.deleted, glossaries.c.slug > (after or ""))
    rows = await session.execute(query.order_by(glossaries.c.slug).limit(limit))
    return [_glossary(row, row.terms) for row in rows]


async def page_of_terms(
    session: AsyncSession, glossary: Glossary, wanted: TermFilter, *, after: Term | None, limit: int
) -> Sequence[Term]:
    """Terms in total order, those behind `after`: stable while others edit."""
    query = _now(select(*TERM_COLUMNS), glossary).where(*_conditions(wanted))
    if after is not None:
        query = query.where(_behind(after))
    return [make_term(row) for row in await session.execute(query.order_by(*TOTAL_ORDER).limit(limit))]


async def find_term(session: AsyncSession, glossary: Glossary, term_id: int) -> Term:
    """Raises NotFound."""
    if 0 < term_id <= MAX_ID:
        row = (await session.execute(_now(select(*TERM_COLUMNS), glossary).where(terms.c.id == term_id))).one_or_none()
        if row is not None:
            return make_term(row)
    raise NotFound("There is no such term in this glossary.", param="id", code="term_not_found")


async def find_twin(session: AsyncSession, glossary: Glossary, term: Term) -> Term | None:
    """The term of the glossary, other than itself, that counts as the same text in the same language."""
    query = _now(select(*TERM_COLUMNS), glossary).where(
        terms.c.match_key == match_key(term.text),
        terms.c.language.is_not_distinct_from(term.language),
        terms.c.id != term.id,
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None else make_term(row)


async def active_terms(session: AsyncSession, glossary: Glossary, *, tail_only: bool = False) -> tuple[Term, ...]:
    """Terms in use now, in total order; with `tail_only` those that every prompt must hold: pins and seeds."""
    query = _now(select(*TERM_COLUMNS), glossary).where(terms.c.active)
    if tail_only:
        query = query.where(terms.c.placement != Placement.RANKED)
    return await _collect(session, query)


async def active_terms_at(session: AsyncSession, glossary: Glossary, revision: int) -> tuple[Term, ...]:
    """Terms that were in use at a past revision, exactly, in total order."""
    query = select(*TERM_COLUMNS).where(terms.c.glossary_id == glossary.id, _alive(revision), terms.c.active)
    return await _collect(session, query)


async def all_terms_at(session: AsyncSession, glossary: Glossary, revision: int) -> tuple[Term, ...]:
    """As `active_terms_at`, inactive terms too."""
    return await _collect(session, select(*TERM_COLUMNS).where(terms.c.glossary_id == glossary.id, _alive(revision)))


async def settings_at(session: AsyncSession, glossary: Glossary, revision: int) -> GlossarySettings:
    """Raises NotFound for a revision that never was, or at which the glossary was deleted."""
    if 0 < revision <= glossary.revision:
        query = select(revisions).where(revisions.c.glossary_id == glossary.id, revisions.c.revision == revision)
        row = (await session.execute(query)).one_or_none()
        if row is not None and not row.deleted:
            return GlossarySettings(row.language, row.token_budget, row.max_terms, TermSelection(row.selection))
    raise NotFound(
        "The glossary has no such revision; GET /glossaries/{slug}/revisions lists them.",
        param="revision",
        code="revision_not_found",
    )


async def list_revisions(
    session: AsyncSession, glossary: Glossary, *, before: int | None, limit: int
) -> Sequence[Revision]:
    """The change log, newest first, those before `before`."""
    query = select(*(revisions.c[name] for name in Revision.__slots__)).where(revisions.c.glossary_id == glossary.id)
    if before is not None:
        query = query.where(revisions.c.revision < before)
    rows = await session.execute(query.order_by(revisions.c.revision.desc()).limit(limit))
    return [Revision(*row) for row in rows]


async def changes_of(
    session: AsyncSession, glossary: Glossary, revision: int, *, after: int, limit: int
) -> Sequence[TermChange]:
    """What a revision did, by term id, those behind the id `after`."""
    old, new = terms.alias("old"), terms.alias("new")
    opened = select(new).where(new.c.glossary_id == glossary.id, new.c.valid_from == revision).subquery("opened")
    closed = select(old).where(old.c.glossary_id == glossary.id, old.c.valid_to == revision).subquery("closed")
    names = Term.__slots__
    query = (
        select(*(closed.c[name] for name in names), *(opened.c[name] for name in names))
        .select_from(closed.join(opened, closed.c.id == opened.c.id, full=True))
        .where(func.coalesce(opened.c.id, closed.c.id) > after)
        .order_by(func.coalesce(opened.c.id, closed.c.id))
        .limit(limit)
    )
    width = len(names)
    return [TermChange(_maybe_term(row[:width]), _maybe_term(row[width:])) for row in await session.execute(query)]


def make_term(row: Sequence[Any]) -> Term:
    text, placement, priority, language, sounds_like, *rest = row
    return Term(text, Placement(placement), priority, language, tuple(sounds_like), *rest)


def _maybe_term(row: Sequence[Any]) -> Term | None:
    return None if row[-1] is None else make_term(row)


def _glossary(row: Any, count: int) -> Glossary:
    settings = GlossarySettings(row.language, row.token_budget, row.max_terms, TermSelection(row.selection))
    return Glossary(row.slug, row.revision, settings, count, row.id)


def _now(query: Select[Any], glossary: Glossary) -> Select[Any]:
    return query.where(terms.c.glossary_id == glossary.id, is_current)


def _alive(revision: int) -> ColumnElement[bool]:
    return and_(terms.c.valid_from <= revision, or_(is_current, terms.c.valid_to > revision))


def _conditions(wanted: TermFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.search:
        key = match_key(normalise_text(wanted.search, param="q"))
        conditions.append(terms.c.match_key.contains(key, autoescape=True))
    if wanted.placement is not None:
        conditions.append(terms.c.placement == wanted.placement)
    if wanted.language is not None:
        conditions.append(terms.c.language == wanted.language)
    if wanted.active is not None:
        conditions.append(terms.c.active.is_(wanted.active))
    return conditions


def _behind(term: Term) -> ColumnElement[bool]:
    """Behind `term` in total order; rows compare column by column, so priority, which descends, is negated."""
    place = literal(term.placement, placement_type)
    return tuple_(terms.c.placement, -terms.c.priority, collate(terms.c.text, "C"), terms.c.id) > tuple_(
        place, -term.priority, term.text, term.id
    )


async def _collect(session: AsyncSession, query: Select[Any]) -> tuple[Term, ...]:
    """Terms in total order. The driver's own cursor turns rows into values batch by batch, so that other requests get
    their turn between; 100,000 rows at once would hold the event loop for a third of a second."""
    connection = await driver_connection(session)
    compiled = query.order_by(*TOTAL_ORDER).compile(dialect=session.get_bind().dialect)
    found: list[Term] = []
    async with connection.cursor() as cursor:
        await cursor.execute(str(compiled), compiled.params)
        while rows := await cursor.fetchmany(_BATCH):
            found.extend(map(make_term, rows))
            await asyncio.sleep(0)
    return tuple(found)
