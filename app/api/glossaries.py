"""`/glossaries`: create, read, change and delete glossaries and their terms. In: JSON. Out: JSON, with the revision as
ETag. Event loop thread.

A change may say with `If-Match` what it was made for: then two editors cannot overwrite one another."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response

from app.api import glossary_files, glossary_history
from app.api.glossary_editing import EditOf
from app.api.glossary_schemas import (
    GlossaryBody,
    GlossaryPage,
    GlossaryShape,
    SettingsBody,
    TermBody,
    TermPage,
    TermShape,
    etag,
    parse_term_cursor,
    term_cursor,
)
from app.api.state import State
from app.api.strictness import StrictJsonRoute, refuse_unknown_query
from app.decoding.languages import parse_language
from app.errors import InvalidRequest
from app.glossary.repository import (
    SLUG,
    TermFilter,
    count_terms,
    find_glossary,
    find_term,
    list_glossaries,
    page_of_terms,
)
from app.glossary.term import GlossarySettings, Placement, Term

entries = APIRouter(prefix="/glossaries", route_class=StrictJsonRoute)

PageSize = Annotated[int, Query(ge=1, le=1000, description="Most entries on a page.")]
TermId = Annotated[int, Path(ge=1, le=2**63 - 1)]


@entries.get("", summary="All glossaries, by slug")
async def all_glossaries(state: State, after: str | None = None, limit: PageSize = 100) -> GlossaryPage:
    if after is not None and not SLUG.fullmatch(after):
        raise InvalidRequest("`after` must be the `next` of a page before.", param="after", code="invalid_cursor")
    async with state.database.session() as session:
        page = await list_glossaries(session, after=after, limit=limit)
    following = page[-1].slug if len(page) == limit else None
    return GlossaryPage(glossaries=[GlossaryShape.of(glossary) for glossary in page], next=following)


@entries.post("", status_code=201, summary="Create a glossary")
async def create_glossary(state: State, edit: EditOf, body: GlossaryBody, response: Response) -> GlossaryShape:
    glossary = await state.glossaries.editor.create(body.slug, body.onto(GlossarySettings()), edit.actor)
    response.headers["ETag"] = etag(glossary.revision)
    response.headers["Location"] = f"/glossaries/{glossary.slug}"
    return GlossaryShape.of(glossary)


@entries.get("/{slug}", summary="One glossary")
async def one_glossary(state: State, slug: str, response: Response) -> GlossaryShape:
    async with state.database.session() as session:
        glossary = await find_glossary(session, slug)
        shape = GlossaryShape.of(glossary).model_copy(update={"terms": await count_terms(session, glossary)})
    response.headers["ETag"] = etag(shape.revision)
    return shape


@entries.patch("/{slug}", summary="Change language, budget or number of terms")
async def change_glossary(
    state: State, edit: EditOf, slug: str, body: SettingsBody, response: Response
) -> GlossaryShape:
    await state.glossaries.editor.update(slug, body.onto, edit)
    return await one_glossary(state, slug, response)


@entries.delete("/{slug}", status_code=204, summary="Delete a glossary; its history stays")
async def delete_glossary(state: State, edit: EditOf, slug: str) -> None:
    await state.glossaries.editor.delete(slug, edit)


@entries.get("/{slug}/terms", summary="Terms, the most important first")
async def all_terms(
    state: State,
    slug: str,
    response: Response,
    q: Annotated[str | None, Query(max_length=200, description="Part of the text, in any spelling of it.")] = None,
    placement: Placement | None = None,
    language: Annotated[str | None, Query(description="Code or name.")] = None,
    active: bool | None = None,
    after: str | None = None,
    limit: PageSize = 100,
) -> TermPage:
    wanted = TermFilter(q, placement, parse_language(language), active)
    cursor = parse_term_cursor(after)
    async with state.database.session() as session:
        glossary = await find_glossary(session, slug)
        page = await page_of_terms(session, glossary, wanted, after=cursor, limit=limit)
    response.headers["ETag"] = etag(glossary.revision)
    shapes = [TermShape.of(term) for term in page]
    return TermPage(terms=shapes, next=term_cursor(page, limit), revision=glossary.revision)


@entries.post("/{slug}/terms", status_code=201, summary="Add a term")
async def add_term(state: State, edit: EditOf, slug: str, body: TermBody, response: Response) -> TermShape:
    term, glossary = await state.glossaries.editor.add_term(slug, body.onto(Term("")), edit)
    response.headers["ETag"] = etag(glossary.revision)
    response.headers["Location"] = f"/glossaries/{slug}/terms/{term.id}"
    return TermShape.of(term)


@entries.get("/{slug}/terms/{term_id}", summary="One term")
async def one_term(state: State, slug: str, term_id: TermId, response: Response) -> TermShape:
    async with state.database.session() as session:
        glossary = await find_glossary(session, slug)
        term = await find_term(session, glossary, term_id)
    response.headers["ETag"] = etag(glossary.revision)
    return TermShape.of(term)


@entries.patch("/{slug}/terms/{term_id}", summary="Change fields of a term")
async def change_term(
    state: State, edit: EditOf, slug: str, term_id: TermId, body: TermBody, response: Response
) -> TermShape:
    term, glossary = await state.glossaries.editor.update_term(slug, term_id, body.onto, edit)
    response.headers["ETag"] = etag(glossary.revision)
    return TermShape.of(term)


@entries.delete("/{slug}/terms/{term_id}", status_code=204, summary="Remove a term; its history stays")
async def remove_term(state: State, edit: EditOf, slug: str, term_id: TermId, response: Response) -> None:
    glossary = await state.glossaries.editor.delete_term(slug, term_id, edit)
    response.headers["ETag"] = etag(glossary.revision)


router = APIRouter(tags=["glossaries"], dependencies=[Depends(refuse_unknown_query)])
for part in (glossary_files.router, glossary_history.router, entries):
    router.include_router(part)
