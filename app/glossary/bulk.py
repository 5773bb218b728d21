"""Many terms in one revision. In: clean terms. Out: what changed, all or nothing. The rows go to Postgres by COPY and
are compared there, set against set. Event loop thread."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db import driver_connection
from app.glossary.editor import Counts, Edit, GlossaryEditor
from app.glossary.normalise import match_key
from app.glossary.term import Glossary, Term
from app.glossary.term_rows import COLUMNS

Progress = Callable[[int], Awaitable[None]]
"""Is told how many rows have gone to the database so far."""

STATEMENT_SECONDS = 300
_REPORT_EVERY = 5000


class ImportMode(StrEnum):
    """`merge` adds and changes terms; `replace` removes those that are not in the import as well."""

    MERGE = "merge"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did, or with `dry_run` would do. `revision` is the newest, unchanged when nothing changed."""

    slug: str
    revision: int
    rows: int
    added: int
    changed: int
    removed: int
    unchanged: int
    created: bool
    dry_run: bool


_FIELDS = "text, match_key, placement, priority, language, sounds_like, note, active"
_TYPES = ["int8", "text", "text", "text", "int4", "text", "text[]", "text", "bool"]

_INCOMING = f"""
CREATE TEMP TABLE incoming ON COMMIT DROP AS
    SELECT 0::bigint AS line, {_FIELDS} FROM terms WITH NO DATA
"""  # noqa: S608 - names of ours

_KEEP = """
UPDATE incoming SET {} FROM terms WHERE terms.glossary_id = :glossary AND terms.valid_to IS NULL
    AND terms.match_key = incoming.match_key AND terms.language IS NOT DISTINCT FROM incoming.language
"""

# `term_id` is the term that an incoming row is a new version of; none: the row is a new term.
_COMPARED = """
CREATE TEMP TABLE compared ON COMMIT DROP AS
    SELECT incoming.*, terms.id AS term_id, terms.version AS old_version,
        terms.id IS NOT NULL AND
        (incoming.text, incoming.placement, incoming.priority, incoming.sounds_like, incoming.note, incoming.active)
            = (terms.text, terms.placement, terms.priority, terms.sounds_like, terms.note, terms.active) AS unchanged
    FROM incoming LEFT JOIN terms ON terms.glossary_id = :glossary AND terms.valid_to IS NULL
        AND terms.match_key = incoming.match_key AND terms.language IS NOT DISTINCT FROM incoming.language
"""

_GONE = """
CREATE TEMP TABLE gone ON COMMIT DROP AS
    SELECT version FROM terms WHERE :replace AND glossary_id = :glossary AND valid_to IS NULL
        AND version NOT IN (SELECT old_version FROM compared WHERE old_version IS NOT NULL)
"""

_COUNTS = """
SELECT count(*) FILTER (WHERE term_id IS NULL), count(*) FILTER (WHERE term_id IS NOT NULL AND NOT unchanged),
    (SELECT count(*) FROM gone)
FROM compared
"""

_CLOSE = """
UPDATE terms SET valid_to = :revision WHERE version IN (
    SELECT old_version FROM compared WHERE NOT unchanged AND old_version IS NOT NULL UNION ALL SELECT version FROM gone)
"""

_OPEN = f"""
INSERT INTO terms (id, glossary_id, {_FIELDS}, valid_from)
    SELECT coalesce(term_id, nextval('term_ids')), :glossary, {_FIELDS}, :revision
    FROM (SELECT * FROM compared WHERE NOT unchanged ORDER BY line) AS rows
"""  # noqa: S608 - names of ours


class _RollBack(Exception):
    """Ends a rehearsal's transaction without keeping anything."""


class BulkImport:
    def __init__(self, editor: GlossaryEditor) -> None:
        self._editor = editor

    async def run(
        self,
        slug: str,
        rows: Sequence[Term],
        edit: Edit,
        *,
        mode: ImportMode,
        create: bool = False,
        dry_run: bool = False,
        columns: frozenset[str] = frozenset(COLUMNS),
        progress: Progress | None = None,
    ) -> ImportResult:
        """Bring `rows`, already clean and without twins among them, into the glossary. A merge leaves in terms that
        exist what is not among `columns`.

        Raises NotFound (unless `create`), PreconditionFailed, Conflict (`tail_over_budget`, `term_over_budget`).
        """
        result: ImportResult | None = None
        try:
            async with self._editor.editing(slug, edit, create=create) as (session, glossary, created):
                result = await self._apply(session, glossary, rows, edit, mode, columns, progress)
                result = replace(result, created=created, dry_run=dry_run)
                if dry_run:
                    raise _RollBack
        except _RollBack:
            pass
        assert result is not None  # noqa: S101 - set on every way out but an error
        return result

    async def _apply(
        self,
        session: AsyncSession,
        glossary: Glossary,
        rows: Sequence[Term],
        edit: Edit,
        mode: ImportMode,
        columns: frozenset[str],
        progress: Progress | None,
    ) -> ImportResult:
        await session.execute(text(f"SET LOCAL statement_timeout = '{STATEMENT_SECONDS}s'"))
        await session.execute(text(_INCOMING))
        await _copy(session, rows, progress)
        await session.execute(text("ANALYZE incoming"))
        scope = {"glossary": glossary.id}
        kept = [name for name in COLUMNS if name not in columns | {"text", "language"}]
        if kept and mode is ImportMode.MERGE:
            await session.execute(text(_KEEP.format(", ".join(f"{name} = terms.{name}" for name in kept))), scope)
        await session.execute(text(_COMPARED), scope)
        await session.execute(text(_GONE), scope | {"replace": mode is ImportMode.REPLACE})
        counts = Counts(*(await session.execute(text(_COUNTS))).one())
        if counts:
            glossary = await self._editor.bump(session, glossary, edit.actor, f"import_{mode}", counts)
            await session.execute(text(_CLOSE), {"revision": glossary.revision})
            await session.execute(text(_OPEN), scope | {"revision": glossary.revision})
            await self._editor.check_tail(session, glossary, *rows)
        unchanged = len(rows) - counts.added - counts.changed
        return ImportResult(
            glossary.slug,
            glossary.revision,
            len(rows),
            counts.added,
            counts.changed,
            counts.removed,
            unchanged,
            created=False,
            dry_run=False,
        )


async def _copy(session: AsyncSession, rows: Sequence[Term], progress: Progress | None) -> None:
    connection = await driver_connection(session)
    async with connection.cursor() as cursor, cursor.copy("COPY incoming FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(_TYPES)
        for line, term in enumerate(rows, start=1):
            await copy.write_row(
                (
                    line,
                    term.text,
                    match_key(term.text),
                    term.placement.value,
                    term.priority,
                    term.language,
                    list(term.sounds_like),
                    term.note,
                    term.active,
                )
            )
            if progress is not None and line % _REPORT_EVERY == 0:
                await progress(line)
    if progress is not None:
        await progress(len(rows))
