"""The shapes of glossaries on the wire. In: JSON bodies, cursors, ETags. Out: typed values of the glossary station, and
back. Pure; any thread."""

import base64
import binascii
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Header
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from app.decoding.languages import parse_language
from app.errors import InvalidRequest
from app.glossary.bulk import ImportResult
from app.glossary.repository import MAX_ID
from app.glossary.term import Glossary, GlossarySettings, Placement, Revision, Term, TermChange, TermSelection

_ETAG = re.compile(r'(?:W/)?"(\d{1,18})"')
_SYNONYM = AliasChoices("text", "term")

IfMatch = Annotated[
    str | None, Header(description="ETag of the glossary that this change was made for; 412 if it moved on.")
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Shape(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class SettingsBody(_Body):
    """Fields left out keep their value (of a new glossary: null)."""

    language: str | None = Field(None, description="Language that it is meant for, code or name; null: any.")
    token_budget: int | None = Field(None, ge=1, le=223, description="Prompt tokens; null: the server's.")
    max_terms: int | None = Field(None, ge=1, le=1_000_000, description="Most terms in a prompt; null: no limit.")
    selection: TermSelection = Field(
        TermSelection.STATIC,
        description="`static`: the most important terms in every window; `relevant`: those that a window sounds like.",
    )

    def onto(self, settings: GlossarySettings) -> GlossarySettings:
        given: dict[str, Any] = self.model_dump(include=self.model_fields_set - {"slug"})
        if "language" in given:
            given["language"] = parse_language(given["language"])
        return replace(settings, **given)


class GlossaryBody(SettingsBody):
    slug: str = Field(description="Name in addresses: lower-case letters, digits, `-`, `_`; at most 63.")


class TermBody(_Body):
    """A whole term, or with PATCH the fields to change."""

    text: str = Field("", validation_alias=_SYNONYM, description="At most 200 characters; line breaks become spaces.")
    placement: Placement = Placement.RANKED
    priority: int = Field(0, description="Higher is more important.")
    language: str | None = Field(None, description="Code or name; null: any.")
    sounds_like: list[str] = Field([], description="How it may be misheard; at most 20.")
    note: str = Field("", description="For editors; never sent to the model.")
    active: bool = True

    def onto(self, term: Term) -> Term:
        given: dict[str, Any] = self.model_dump(include=self.model_fields_set)
        if "language" in given:
            given["language"] = parse_language(given["language"])
        if "sounds_like" in given:
            given["sounds_like"] = tuple(given["sounds_like"])
        return replace(term, **given)


class GlossaryShape(BaseModel):
    slug: str
    revision: int = Field(description="Counts up with every change; also the ETag.")
    language: str | None
    token_budget: int | None
    max_terms: int | None
    selection: TermSelection
    terms: int = Field(description="Number of terms, inactive ones too.")

    @classmethod
    def of(cls, glossary: Glossary) -> "GlossaryShape":
        own = glossary.settings
        return cls(
            slug=glossary.slug,
            revision=glossary.revision,
            language=own.language,
            token_budget=own.token_budget,
            max_terms=own.max_terms,
            selection=own.selection,
            terms=glossary.terms,
        )


class TermShape(_Shape):
    id: int
    text: str
    placement: Literal["pinned", "seed", "ranked"]
    priority: int
    language: str | None
    sounds_like: list[str]
    note: str
    active: bool

    @classmethod
    def of(cls, term: Term) -> "TermShape":
        return cls.model_validate(term)


class GlossaryPage(BaseModel):
    glossaries: list[GlossaryShape]
    next: str | None = Field(description="Pass as `after` for the next page; null at the end.")


class TermPage(BaseModel):
    terms: list[TermShape]
    next: str | None = Field(description="Pass as `after` for the next page; null at the end.")
    revision: int


class ImportShape(_Shape):
    slug: str
    revision: int = Field(description="The newest one; the same as before when nothing changed.")
    rows: int
    added: int
    changed: int
    removed: int
    unchanged: int
    created: bool
    dry_run: bool

    @classmethod
    def of(cls, result: ImportResult) -> "ImportShape":
        return cls.model_validate(result)


class RevisionShape(_Shape):
    revision: int
    at: datetime
    actor: str
    action: str
    added: int
    changed: int
    removed: int

    @classmethod
    def of(cls, revision: Revision) -> "RevisionShape":
        return cls.model_validate(revision)


class RevisionPage(BaseModel):
    revisions: list[RevisionShape]
    next: int | None = Field(description="Pass as `before` for older ones; null at the end.")


class ChangeShape(BaseModel):
    before: TermShape | None = Field(description="Null: the term is new.")
    after: TermShape | None = Field(description="Null: the term was removed.")

    @classmethod
    def of(cls, change: TermChange) -> "ChangeShape":
        before, after = (None if term is None else TermShape.of(term) for term in (change.before, change.after))
        return cls(before=before, after=after)


class ChangePage(BaseModel):
    revision: int
    changes: list[ChangeShape]
    next: int | None = Field(description="Pass as `after` for more; null at the end.")


class PromptDiffShape(BaseModel):
    """What a transcription at one revision was told that at the other it was not. Texts, most important first."""

    from_revision: int
    to_revision: int
    language: str | None
    from_sha256: str
    to_sha256: str
    terms_in: list[str]
    terms_out: list[str]
    reordered: bool = Field(description="The same terms in another order.")


def etag(revision: int) -> str:
    return f'"{revision}"'


def parse_if_match(header: str | None) -> frozenset[int] | None:
    """Revisions that the caller accepts; None for any. Raises InvalidRequest."""
    if header is None or header.strip() == "*":
        return None
    tags = [_ETAG.fullmatch(tag.strip()) for tag in header.split(",")]
    if not all(tags):
        raise InvalidRequest("If-Match must be an ETag that this service gave.", param="If-Match", code="invalid_etag")
    return frozenset(int(tag[1]) for tag in tags if tag)


def term_cursor(page: Sequence[Term], limit: int) -> str | None:
    """Where the next page starts; None when this one is not full."""
    if len(page) < limit:
        return None
    last = page[-1]
    fields = json.dumps([last.placement, last.priority, last.text, last.id], ensure_ascii=False)
    return base64.urlsafe_b64encode(fields.encode()).decode().rstrip("=")


def parse_term_cursor(cursor: str | None) -> Term | None:
    """Raises InvalidRequest for anything that `term_cursor` did not make."""
    if cursor is None:
        return None
    try:
        fields = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        placement, priority, text, term_id = fields
        if not (isinstance(text, str) and text.isprintable() and abs(int(priority)) < 2**31 and 0 < term_id <= MAX_ID):
            raise ValueError
        return Term(text, Placement(placement), int(priority), id=int(term_id))
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error):
        raise InvalidRequest(
            "`after` must be the `next` of a page before.", param="after", code="invalid_cursor"
        ) from None
