"""Imports: all rows or none, one revision, nothing lost that the file does not speak of."""

from collections.abc import Callable

import pytest

from app.errors import Conflict, NotFound
from app.glossary.bulk import ImportMode
from app.glossary.editor import Edit
from app.glossary.store import GlossaryStore
from app.glossary.term import Placement, Term

ANN = Edit("ann")
RankedTerms = Callable[..., list[Term]]


async def test_merge_keeps_ids_and_adds(store: GlossaryStore, ranked: RankedTerms) -> None:
    first = await store.imports.run("clinic", ranked("A", "B", "C"), ANN, mode=ImportMode.MERGE, create=True)
    assert (first.revision, first.added, first.created) == (2, 3, True)
    before = {term.text: term.id for term in (await store.snapshot("clinic")).terms}
    rows = [Term("b", priority=9), Term("C", priority=1), Term("D")]
    second = await store.imports.run("clinic", rows, ANN, mode=ImportMode.MERGE)
    assert (second.added, second.changed, second.removed, second.unchanged) == (1, 1, 0, 1)
    after = {term.text: term.id for term in (await store.snapshot("clinic")).terms}
    assert after == {"b": before["B"], "A": before["A"], "C": before["C"], "D": after["D"]}


async def test_replace_leaves_what_the_file_holds(store: GlossaryStore, ranked: RankedTerms) -> None:
    await store.import_terms("clinic", ranked("A", "B", "C"), actor="ann", create=True)
    result = await store.imports.run("clinic", ranked("C", "D"), ANN, mode=ImportMode.REPLACE)
    assert (result.added, result.changed, result.removed, result.unchanged) == (1, 1, 2, 0)
    assert [term.text for term in (await store.snapshot("clinic")).terms] == ["C", "D"]


async def test_the_same_file_again_changes_nothing(store: GlossaryStore, ranked: RankedTerms) -> None:
    rows = ranked("A", "B")
    await store.import_terms("clinic", rows, actor="ann", create=True)
    for mode in ImportMode:
        result = await store.imports.run("clinic", rows, ANN, mode=mode)
        assert (result.revision, result.unchanged) == (2, 2)


async def test_a_merge_leaves_alone_what_the_file_has_no_column_for(store: GlossaryStore) -> None:
    full = Term("A", Placement.PINNED, 5, None, ("ay",), "see ward 5", active=True)
    await store.import_terms("clinic", [full], actor="ann", create=True)
    await store.imports.run(
        "clinic", [Term("A", priority=7)], ANN, mode=ImportMode.MERGE, columns=frozenset({"text", "priority"})
    )
    (kept,) = (await store.snapshot("clinic")).terms
    assert (kept.placement, kept.priority, kept.sounds_like, kept.note) == (Placement.PINNED, 7, ("ay",), "see ward 5")


async def test_a_rehearsal_counts_and_keeps_nothing(store: GlossaryStore, ranked: RankedTerms) -> None:
    await store.import_terms("clinic", ranked("A", "B"), actor="ann", create=True)
    result = await store.imports.run("clinic", ranked("B", "C"), ANN, mode=ImportMode.REPLACE, dry_run=True)
    assert (result.added, result.removed, result.dry_run) == (1, 1, True)
    snapshot = await store.snapshot("clinic")
    assert (snapshot.revision, [term.text for term in snapshot.terms]) == (2, ["A", "B"])
    await store.imports.run("ward", ranked("A"), ANN, mode=ImportMode.MERGE, create=True, dry_run=True)
    with pytest.raises(NotFound):
        await store.snapshot("ward")


async def test_a_refused_import_creates_no_glossary(store: GlossaryStore) -> None:
    with pytest.raises(Conflict):
        await store.import_terms("clinic", [Term("x" * 41, Placement.PINNED)], actor="ann", create=True)
    with pytest.raises(NotFound):
        await store.snapshot("clinic")
    with pytest.raises(NotFound):
        await store.import_terms("clinic", [], actor="ann")


async def test_progress_counts_every_row(store: GlossaryStore) -> None:
    told: list[int] = []

    async def progress(rows: int) -> None:
        told.append(rows)

    rows = [Term(f"term {number}") for number in range(12_000)]
    await store.imports.run("clinic", rows, ANN, mode=ImportMode.MERGE, create=True, progress=progress)
    assert told == [5000, 10_000, 12_000]
    assert len((await store.snapshot("clinic")).terms) == 12_000
