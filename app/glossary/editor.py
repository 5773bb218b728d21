"""Every change to a glossary. In: who wants what. Out: the new revision, or a refusal that changes nothing. One change
is one transaction: terms, revision number, change log entry and the notice to other processes stand or fall together.
Event loop thread; counting tokens runs on a worker thread."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from sqlalchemy import func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db import CHANNEL, Database
from app.errors import Conflict, InvalidRequest, PreconditionFailed
from app.glossary.models import glossaries, is_current, revisions, terms
from app.glossary.normalise import match_key, normalise_term
from app.glossary.repository import SLUG, active_terms, find_glossary, find_term, find_twin
from app.glossary.term import Glossary, GlossarySettings, Placement, Term

TailCheck = Callable[[Sequence[Term], int | None], None]
"""Raises Conflict with the numbers when the pins and seeds among the terms exceed the token budget in some language, or
when one term alone is more than a prompt can hold."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Who edits, and the revisions of the glossary that the edit was made for; None: whatever it is now."""

    actor: str
    if_match: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many terms a revision added, changed and removed."""

    added: int = 0
    changed: int = 0
    removed: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


class GlossaryEditor:
    """`on_change` is told the slug after each committed change made here, so that its maker reads it back at once."""

    def __init__(self, db: Database, tail_check: TailCheck, on_change: Callable[[str], None]) -> None:
        self._db = db
        self._tail_check = tail_check
        self._on_change = on_change

    async def create(self, slug: str, settings: GlossarySettings, actor: str) -> Glossary:
        """A new, empty glossary. Raises InvalidRequest for a bad slug, Conflict (`slug_taken`) if there is one."""
        async with self._db.session() as session:
            glossary = await self._create_in(session, slug, settings, actor)
            if glossary is None:
                raise Conflict("There is a glossary of that name already.", param="slug", code="slug_taken")
        self._on_change(slug)
        return glossary

    async def update(self, slug: str, change: Callable[[GlossarySettings], GlossarySettings], edit: Edit) -> Glossary:
        """`change` is given the settings as they are now.

        Raises NotFound, PreconditionFailed, Conflict (the tail does not fit the new budget).
        """
        async with self.editing(slug, edit) as (session, glossary, _):
            settings = change(glossary.settings)
            if settings == glossary.settings:
                return glossary
            changed = await self.bump(session, replace(glossary, settings=settings), edit.actor, "update")
            await self.check_tail(session, changed)
            return changed

    async def delete(self, slug: str, edit: Edit) -> None:
        """Remove the glossary with its terms; its history stays. Raises NotFound, PreconditionFailed."""
        async with self.editing(slug, edit) as (session, glossary, _):
            gone = await session.scalar(select(func.count()).where(terms.c.glossary_id == glossary.id, is_current))
            counts = Counts(removed=gone or 0)
            ended = await self.bump(session, glossary, edit.actor, "delete", counts, deleted=True)
            await session.execute(
                update(terms).where(terms.c.glossary_id == glossary.id, is_current).values(valid_to=ended.revision)
            )

    async def add_term(self, slug: str, term: Term, edit: Edit) -> tuple[Term, Glossary]:
        """Raises InvalidText, NotFound, PreconditionFailed, Conflict (`twin_term`, `tail_over_budget`)."""
        async with self.editing(slug, edit) as (session, glossary, _):
            clean = await self._clean(session, glossary, replace(term, id=0))
            changed = await self.bump(session, glossary, edit.actor, "add_term", Counts(added=1))
            term_id = await session.scalar(insert(terms).values(**_values(clean, changed)).returning(terms.c.id))
            await self.check_tail(session, changed, clean)
            return replace(clean, id=term_id or 0), changed

    async def update_term(
        self, slug: str, term_id: int, change: Callable[[Term], Term], edit: Edit
    ) -> tuple[Term, Glossary]:
        """`change` is given the term as it is now. Raises as `add_term` does."""
        async with self.editing(slug, edit) as (session, glossary, _):
            before = await find_term(session, glossary, term_id)
            after = await self._clean(session, glossary, replace(change(before), id=term_id))
            if after == before:
                return before, glossary
            changed = await self.bump(session, glossary, edit.actor, "update_term", Counts(changed=1))
            await self._close(session, changed, term_id)
            await session.execute(insert(terms).values(id=term_id, **_values(after, changed)))
            if after.active and (after.text != before.text or after.placement is not Placement.RANKED):
                await self.check_tail(session, changed, after)
            return after, changed

    async def delete_term(self, slug: str, term_id: int, edit: Edit) -> Glossary:
        """Raises NotFound, PreconditionFailed."""
        async with self.editing(slug, edit) as (session, glossary, _):
            await find_term(session, glossary, term_id)
            changed = await self.bump(session, glossary, edit.actor, "delete_term", Counts(removed=1))
            await self._close(session, changed, term_id)
            return changed

    @asynccontextmanager
    async def editing(
        self, slug: str, edit: Edit, *, create: bool = False
    ) -> AsyncIterator[tuple[AsyncSession, Glossary, bool]]:
        """One edit's transaction; no other edit of the glossary runs beside it. With `create` a missing glossary is
        made; the last of the three says whether it was."""
        async with self._db.session() as session:
            made = await self._create_in(session, slug, GlossarySettings(), edit.actor) if create else None
            glossary = made or await find_glossary(session, slug, lock=True)
            if edit.if_match is not None and glossary.revision not in edit.if_match:
                raise PreconditionFailed(
                    "Somebody else changed the glossary first; read it again and repeat the change.",
                    param="If-Match",
                    details={"revision": glossary.revision},
                )
            yield session, glossary, made is not None
        self._on_change(slug)

    async def _create_in(
        self, session: AsyncSession, slug: str, settings: GlossarySettings, actor: str
    ) -> Glossary | None:
        """As `create`, inside the caller's transaction; None if there is one. A slug that was deleted goes on where its
        revisions ended."""
        if not SLUG.fullmatch(slug):
            raise InvalidRequest(
                "A slug is 1 to 63 lower-case letters, digits, `-` or `_`, the first a letter or digit.",
                param="slug",
                code="invalid_slug",
            )
        statement = upsert(glossaries).values(slug=slug, revision=0)
        statement = statement.on_conflict_do_update(
            index_elements=[glossaries.c.slug], set_={"deleted": False}, where=glossaries.c.deleted
        )
        row = (await session.execute(statement.returning(glossaries.c.id, glossaries.c.revision))).one_or_none()
        if row is None:
            return None
        return await self.bump(session, Glossary(slug, row.revision, settings, 0, row.id), actor, "create")

    async def bump(
        self,
        session: AsyncSession,
        glossary: Glossary,
        actor: str,
        action: str,
        counts: Counts = Counts(),
        *,
        deleted: bool = False,
    ) -> Glossary:
        """The glossary at its next revision, logged and announced; other processes hear of it on commit."""
        settings = {
            "language": glossary.settings.language,
            "token_budget": glossary.settings.token_budget,
            "max_terms": glossary.settings.max_terms,
            "selection": glossary.settings.selection,
            "deleted": deleted,
        }
        revision = glossary.revision + 1
        await session.execute(
            update(glossaries).where(glossaries.c.id == glossary.id).values(revision=revision, **settings)
        )
        await session.execute(
            insert(revisions).values(
                glossary_id=glossary.id,
                revision=revision,
                actor=actor,
                action=action,
                added=counts.added,
                changed=counts.changed,
                removed=counts.removed,
                **settings,
            )
        )
        await session.execute(select(func.pg_notify(CHANNEL, glossary.slug)))
        return replace(glossary, revision=revision)

    async def check_tail(self, session: AsyncSession, glossary: Glossary, *touched: Term) -> None:
        """Refuse what could not be sent: the check sees every pin and seed, and the terms just written."""
        tail = await active_terms(session, glossary, tail_only=True)
        ranked = [term for term in touched if term.placement is Placement.RANKED]
        await asyncio.to_thread(self._tail_check, [*tail, *ranked], glossary.settings.token_budget)

    def check_term(self, term: Term) -> None:
        """Raises Conflict for a term that alone is more than a prompt can hold."""
        self._tail_check([replace(term, placement=Placement.RANKED, active=True)], None)

    async def _clean(self, session: AsyncSession, glossary: Glossary, term: Term) -> Term:
        clean = normalise_term(term)
        twin = await find_twin(session, glossary, clean)
        if twin is not None:
            raise Conflict(
                f"The glossary has this term already, as term {twin.id}: {twin.text}",
                param="text",
                code="twin_term",
                details={"id": twin.id, "text": twin.text, "language": twin.language},
            )
        return clean

    async def _close(self, session: AsyncSession, glossary: Glossary, term_id: int) -> None:
        await session.execute(update(terms).where(terms.c.id == term_id, is_current).values(valid_to=glossary.revision))


def _values(term: Term, glossary: Glossary) -> dict[str, object]:
    return {
        "glossary_id": glossary.id,
        "text": term.text,
        "match_key": match_key(term.text),
        "placement": term.placement.value,
        "priority": term.priority,
        "language": term.language,
        "sounds_like": list(term.sounds_like),
        "note": term.note,
        "active": term.active,
        "valid_from": glossary.revision,
    }
