"""What a glossary was, and who changed it. In: revision numbers. Out: the change log, the changes of one revision, and
what two revisions tell the model. Event loop thread; planning runs on a worker thread."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.concurrency import run_in_threadpool

from app.api.glossary_schemas import ChangePage, ChangeShape, PromptDiffShape, RevisionPage, RevisionShape
from app.api.state import State
from app.decoding.languages import parse_language
from app.glossary.repository import changes_of, find_glossary, list_revisions, settings_at

router = APIRouter(prefix="/glossaries")

RevisionNumber = Annotated[int, Path(ge=1, le=2**63 - 1)]
PageSize = Annotated[int, Query(ge=1, le=1000, description="Most entries on a page.")]


@router.get("/{slug}/revisions", summary="The change log, newest first")
async def all_revisions(
    state: State, slug: str, before: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None, limit: PageSize = 100
) -> RevisionPage:
    async with state.database.session() as session:
        glossary = await find_glossary(session, slug)
        page = await list_revisions(session, glossary, before=before, limit=limit)
    following = page[-1].revision if len(page) == limit else None
    return RevisionPage(revisions=[RevisionShape.of(revision) for revision in page], next=following)


@router.get("/{slug}/revisions/{revision}", summary="What one revision changed, term by term")
async def one_revision(
    state: State,
    slug: str,
    revision: RevisionNumber,
    after: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0,
    limit: PageSize = 100,
) -> ChangePage:
    async with state.database.session() as session:
        glossary = await find_glossary(session, slug)
        await settings_at(session, glossary, revision)
        page = await changes_of(session, glossary, revision, after=after, limit=limit)
    last = (page[-1].after or page[-1].before) if len(page) == limit else None
    shapes = [ChangeShape.of(change) for change in page]
    return ChangePage(revision=revision, changes=shapes, next=last.id if last else None)


@router.get("/{slug}/diff", summary="Which terms two revisions put into the prompt, and which not")
async def prompt_diff(
    state: State,
    slug: str,
    from_revision: Annotated[int, Query(alias="from", ge=1, le=2**63 - 1)],
    to_revision: Annotated[int | None, Query(alias="to", ge=1, le=2**63 - 1, description="None: newest.")] = None,
    language: Annotated[str | None, Query(description="Code or name; none: not known.")] = None,
    profile: Annotated[str, Query(description="Whose limits: `whisper` or `groq`.")] = "whisper",
) -> PromptDiffShape:
    code = parse_language(language)
    old = await state.glossaries.snapshot(slug, revision=from_revision)
    new = await state.glossaries.snapshot(slug, revision=to_revision)
    before = await run_in_threadpool(state.planner.plan, old, language=code, profile=profile)
    after = await run_in_threadpool(state.planner.plan, new, language=code, profile=profile)
    old_texts = [term.text for term in reversed(before.kept)]
    new_texts = [term.text for term in reversed(after.kept)]
    return PromptDiffShape(
        from_revision=old.revision,
        to_revision=new.revision,
        language=code,
        from_sha256=before.sha256,
        to_sha256=after.sha256,
        terms_in=[text for text in new_texts if text not in set(old_texts)],
        terms_out=[text for text in old_texts if text not in set(new_texts)],
        reordered=old_texts != new_texts and set(old_texts) == set(new_texts),
    )
