"""Changes to a glossary: twins, two editors, budgets, and a history that is exact."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from app.db import Database
from app.errors import Conflict, InvalidRequest, InvalidText, NotFound, PreconditionFailed
from app.glossary.bulk import ImportMode
from app.glossary.editor import Edit
from app.glossary.repository import changes_of, find_glossary, list_revisions
from app.glossary.store import GlossaryStore
from app.glossary.term import GlossarySettings, Placement, Term

ANN = Edit("ann")
RankedTerms = Callable[..., list[Term]]


async def texts(store: GlossaryStore, revision: int | None = None) -> list[str]:
    return [term.text for term in (await store.snapshot("clinic", revision=revision)).terms]


@pytest.fixture
async def clinic(store: GlossaryStore, ranked: RankedTerms) -> GlossaryStore:
    await store.import_terms("clinic", ranked("Nguyễn", "Grafana", "Straße"), actor="ann", create=True)
    return store


@pytest.mark.parametrize(
    "twin", ["Nguye\u0302\u0303n", "ＮＧＵＹỄＮ", "nguyễn ", "Ngu\u200byễn", "STRASSE", "\u200fGrafana"]
)
async def test_a_twin_is_refused_with_the_name_of_the_term_that_is_there(clinic: GlossaryStore, twin: str) -> None:
    with pytest.raises(Conflict) as refused:
        await clinic.editor.add_term("clinic", Term(twin), ANN)
    there = {term.text: term.id for term in (await clinic.snapshot("clinic")).terms}
    assert refused.value.code == "twin_term"
    assert there[str(refused.value.details["text"])] == refused.value.details["id"]
    assert await texts(clinic) == ["Nguyễn", "Grafana", "Straße"]


async def test_the_same_text_in_another_language_is_another_term(clinic: GlossaryStore) -> None:
    korean, _ = await clinic.editor.add_term("clinic", Term("Grafana", language="ko"), ANN)
    with pytest.raises(Conflict):
        await clinic.editor.add_term("clinic", Term("grafana", language="ko"), ANN)
    with pytest.raises(Conflict):
        await clinic.editor.update_term("clinic", korean.id, lambda term: replace(term, language=None), ANN)


async def test_a_term_may_change_its_own_spelling(clinic: GlossaryStore) -> None:
    grafana = (await clinic.snapshot("clinic")).terms[1]
    changed, glossary = await clinic.editor.update_term(
        "clinic", grafana.id, lambda term: replace(term, text="GRAFANA"), ANN
    )
    assert (changed.id, changed.text, glossary.revision) == (grafana.id, "GRAFANA", 3)
    same, unchanged = await clinic.editor.update_term("clinic", grafana.id, lambda term: term, ANN)
    assert (same, unchanged.revision) == (changed, 3)


async def test_of_two_editors_the_second_is_told(clinic: GlossaryStore) -> None:
    seen = Edit("ben", frozenset({2}))
    await clinic.editor.add_term("clinic", Term("Loki"), Edit("ann", frozenset({2})))
    grafana = (await clinic.snapshot("clinic")).terms[1]
    for change in (
        clinic.editor.add_term("clinic", Term("Tempo"), seen),
        clinic.editor.update_term("clinic", grafana.id, lambda term: replace(term, priority=9), seen),
        clinic.editor.delete_term("clinic", grafana.id, seen),
        clinic.editor.update("clinic", lambda own: replace(own, token_budget=9), seen),
        clinic.editor.delete("clinic", seen),
        clinic.imports.run("clinic", [Term("Tempo")], seen, mode=ImportMode.MERGE),
    ):
        with pytest.raises(PreconditionFailed) as refused:
            await change
        assert refused.value.details == {"revision": 3}
    assert "Tempo" not in await texts(clinic)


async def test_what_could_not_be_sent_cannot_be_written(clinic: GlossaryStore) -> None:
    pin = Term("x" * 30, Placement.PINNED)
    added, _ = await clinic.editor.add_term("clinic", pin, ANN)
    ranked, _ = await clinic.editor.add_term("clinic", Term("y" * 30), ANN)
    for change in (
        clinic.editor.add_term("clinic", Term("y" * 11, Placement.SEED), ANN),
        clinic.editor.update_term("clinic", ranked.id, lambda term: replace(term, placement=Placement.SEED), ANN),
        clinic.editor.update("clinic", lambda own: replace(own, token_budget=29), ANN),
        clinic.import_terms("clinic", [Term("z" * 11, Placement.PINNED)], actor="ann"),
    ):
        with pytest.raises(Conflict) as refused:
            await change
        assert refused.value.code == "tail_over_budget"
        assert int(str(refused.value.details["tokens"])) > int(str(refused.value.details["budget"]))
    snapshot = await clinic.snapshot("clinic")
    assert (snapshot.revision, snapshot.token_budget) == (4, None)
    await clinic.editor.update_term("clinic", added.id, lambda term: replace(term, active=False), ANN)
    assert (await clinic.editor.add_term("clinic", Term("y" * 11, Placement.SEED), ANN))[1].revision == 6


@pytest.mark.parametrize("slug", ["", "Clinic", "a b", "-a", "a" * 64, "a/b", "ä", "a\0"])
async def test_a_bad_slug_is_refused_when_made_and_unknown_when_read(store: GlossaryStore, slug: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        await store.editor.create(slug, GlossarySettings(), "ann")
    assert refused.value.code == "invalid_slug"
    with pytest.raises(NotFound):
        await store.snapshot(slug)


async def test_a_taken_slug_is_a_conflict_and_a_deleted_one_goes_on_counting(clinic: GlossaryStore) -> None:
    with pytest.raises(Conflict) as taken:
        await clinic.editor.create("clinic", GlossarySettings(), "ann")
    assert taken.value.code == "slug_taken"
    await clinic.editor.delete("clinic", ANN)
    with pytest.raises(NotFound):
        await clinic.snapshot("clinic")
    again = await clinic.editor.create("clinic", GlossarySettings(language="ko"), "ben")
    assert again.revision == 4
    assert await texts(clinic) == []
    assert await texts(clinic, revision=2) == ["Nguyễn", "Grafana", "Straße"]
    with pytest.raises(NotFound):
        await clinic.snapshot("clinic", revision=3)


async def test_every_past_revision_is_exact(database: Database, store: GlossaryStore) -> None:
    """Random edits against a plain dictionary as the model."""
    choice = random.Random(7)
    glossary = await store.editor.create("clinic", GlossarySettings(), "ann")
    model: dict[int, Term] = {}
    expected = {glossary.revision: frozenset[Term]()}
    for step in range(60):
        action = choice.choice(["add", "change", "remove", "merge", "replace", "settings"])
        if action == "add":
            term, glossary = await store.editor.add_term("clinic", Term(f"term {step}", priority=step), ANN)
            model[term.id] = term
        elif action == "change" and model:
            priority = choice.randrange(3)
            term, glossary = await store.editor.update_term(
                "clinic", choice.choice(list(model)), lambda old, new=priority: replace(old, priority=new), ANN
            )
            model[term.id] = term
        elif action == "remove" and model:
            gone = choice.choice(list(model))
            glossary = await store.editor.delete_term("clinic", gone, ANN)
            del model[gone]
        elif action in {"merge", "replace"}:
            rows = [Term(f"term {choice.randrange(60)}", priority=step) for _ in range(1)]
            await store.import_terms("clinic", rows, mode=action, actor="ben")  # type: ignore[arg-type]
            snapshot = await store.snapshot("clinic")
            kept = {} if action == "replace" else model
            model = kept | {term.id: term for term in snapshot.terms if term.text == rows[0].text}
            glossary = replace(glossary, revision=snapshot.revision)
        elif action == "settings":
            glossary = await store.editor.update("clinic", lambda own, n=step: replace(own, token_budget=n + 100), ANN)
        expected[glossary.revision] = frozenset(model.values())
    fresh = GlossaryStore(database, tail_check=lambda _terms, _budget: None)
    assert len(expected) > 40
    for revision, terms in expected.items():
        snapshot = await fresh.snapshot("clinic", revision=revision)
        assert (snapshot.revision, frozenset(snapshot.terms)) == (revision, terms)


async def test_the_log_says_who_did_what(database: Database, clinic: GlossaryStore, ranked: RankedTerms) -> None:
    await clinic.import_terms("clinic", ranked("Grafana", "Loki"), mode="replace", actor="ben")
    async with database.session() as session:
        glossary = await find_glossary(session, "clinic")
        log = await list_revisions(session, glossary, before=None, limit=10)
        changes = await changes_of(session, glossary, 3, after=0, limit=10)
    assert [(r.revision, r.actor, r.action, r.added, r.changed, r.removed) for r in log] == [
        (3, "ben", "import_replace", 1, 0, 2),
        (2, "ann", "import_merge", 3, 0, 0),
        (1, "ann", "create", 0, 0, 0),
    ]
    assert [(c.before and c.before.text, c.after and c.after.text) for c in changes] == [
        ("Nguyễn", None),
        ("Straße", None),
        (None, "Loki"),
    ]


async def test_bad_text_is_refused_before_the_database_sees_it(clinic: GlossaryStore) -> None:
    for text in ("a\0b", "", "\ud800", "x" * 201, "<|endoftext|>"):
        with pytest.raises(InvalidText):
            await clinic.editor.add_term("clinic", Term(text), ANN)
    with pytest.raises(InvalidRequest) as refused:
        await clinic.import_terms("clinic", [Term("fine"), Term("a\0b")], actor="ann")
    assert refused.value.code == "import_rejected"
    assert "fine" not in await texts(clinic)
