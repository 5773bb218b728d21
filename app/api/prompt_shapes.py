"""The shapes of prompts in answers. In: a preview, a stored prompt. Out: JSON. Pure; any thread."""

from pydantic import BaseModel, ConfigDict, Field

from app.api.schemas import OfferShape
from app.glossary.term import TermSelection
from app.prompt.confusables import Likeness
from app.prompt.plan import Block, DropReason
from app.prompt.preview import Preview


class _Shape(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class KeptTermShape(_Shape):
    text: str
    block: Block
    position: int = Field(description="0 is sent first; the most important stands last.")
    tokens: int = Field(description="Exact, joiner included; the costs add up to the prompt's.")


class DroppedTermShape(_Shape):
    text: str
    block: Block
    tokens: int
    reason: DropReason


class BlockTotalShape(_Shape):
    block: Block
    terms: int
    tokens: int


class ConfusableShape(_Shape):
    first: str
    second: str
    reason: Likeness
    similarity: float


class HeardTermShape(OfferShape):
    start: int = Field(description="Of the span in `heard`, in characters.")
    end: int


class RelevanceShape(_Shape):
    """What `selection=relevant` leaves to each window; the prompt shown is fixed for all of them, or, with
    `heard`, that of the second look."""

    searched: int = Field(description="Ranked terms that a window is searched for.")
    room: int = Field(description="Tokens that pinned, seed and request words leave to terms that were heard.")
    most_offered: int = Field(description="Terms that one window is looked at again with, at most.")
    heard: str | None
    offered: list[HeardTermShape] = Field(description="For `heard`, the most relevant first; none: no second look.")


class PreviewShape(_Shape):
    glossary: str
    revision: int
    language: str | None
    selection: TermSelection
    profile: str
    overflow: str = Field(description="What the backend does with more than it accepts; nothing over is ever sent.")
    stale: bool = Field(description="True when the database was away and the last glossary seen was used.")
    text: str
    sha256: str = Field(description="Name of the prompt: sha256 of its token ids in decimal, joined by commas.")
    ids: list[int] = Field(description="Exactly the token ids that are sent.")
    tokens: int
    estimated_tokens: int = Field(description="Upper bound made without the model's tokenizer.")
    budget: int
    headroom: int
    characters: int
    max_characters: int | None
    max_terms: int | None
    other_languages: dict[str, int] = Field(description="Terms that do not apply to `language`, counted by their own.")
    precedence: list[Block] = Field(description="The first gives way last; request words join when they are sent.")
    blocks: list[BlockTotalShape]
    kept: list[KeptTermShape]
    dropped: list[DroppedTermShape]
    dropped_by_reason: dict[DropReason, int]
    confusables: list[ConfusableShape] = Field(description="Kept terms that sound or look alike.")
    relevance: RelevanceShape | None = Field(description="Null where selection is static.")

    @classmethod
    def of(cls, preview: Preview) -> "PreviewShape":
        plan, profile = preview.plan, preview.profile
        return cls(
            glossary=preview.glossary,
            revision=preview.revision,
            language=preview.language,
            selection=TermSelection.STATIC if preview.relevance is None else TermSelection.RELEVANT,
            profile=profile.name,
            overflow=profile.overflow,
            stale=preview.stale,
            other_languages=dict(sorted(preview.other_languages.items())),
            text=plan.text,
            sha256=plan.sha256,
            ids=list(plan.ids),
            tokens=plan.tokens,
            estimated_tokens=plan.estimated_tokens,
            budget=plan.budget,
            headroom=plan.headroom,
            characters=plan.characters,
            max_characters=profile.max_characters,
            max_terms=preview.max_terms,
            precedence=[total.block for total in preview.blocks],
            blocks=[BlockTotalShape.model_validate(total) for total in preview.blocks],
            kept=[KeptTermShape.model_validate(term) for term in plan.kept],
            dropped=[DroppedTermShape.model_validate(term) for term in plan.dropped],
            dropped_by_reason=dict(plan.dropped_by_reason),
            confusables=[ConfusableShape.model_validate(pair) for pair in preview.confusables],
            relevance=RelevanceShape.model_validate(preview.relevance) if preview.relevance else None,
        )


class PromptSourceShape(_Shape):
    glossary: str
    revision: int


class StoredPromptShape(_Shape):
    sha256: str
    text: str
    ids: list[int]
    sources: list[PromptSourceShape] = Field(description="Glossaries that it was made from, the first use first.")
