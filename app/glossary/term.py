"""What a term is and which of two is the more important. In: text as typed. Out: normalised terms in one total
order, the same on every machine. Pure; any thread."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Placement(StrEnum):
    """Where in the prompt a term stands; pinned is the most important."""

    PINNED = "pinned"
    SEED = "seed"
    RANKED = "ranked"


class TermSelection(StrEnum):
    """Which ranked terms a window is decoded with. `static`: the most important ones that fit, the same for every
    window; `relevant`: those that sound like something in the window's first transcript."""

    STATIC = "static"
    RELEVANT = "relevant"


PLACEMENT_ORDER: dict[Placement, int] = {Placement.PINNED: 0, Placement.SEED: 1, Placement.RANKED: 2}


@dataclass(frozen=True, slots=True)
class Term:
    """One glossary entry. `priority`: higher is more important. `language`: ISO code, or None for any.
    `id`: database identity, the last tie-break; 0 for a term that is in no database."""

    text: str
    placement: Placement = Placement.RANKED
    priority: int = 0
    language: str | None = None
    sounds_like: tuple[str, ...] = ()
    note: str = ""
    active: bool = True
    id: int = 0


@dataclass(frozen=True, slots=True)
class GlossarySnapshot:
    """A glossary at one revision, terms in total order (most important first), active ones only.

    `language` is the glossary's own, None for any. `token_budget` and `max_terms` are the glossary's own limits, None
    for the server's. `stale` is true when the database was away and this is the last one seen.
    """

    slug: str
    revision: int
    language: str | None = None
    token_budget: int | None = None
    max_terms: int | None = None
    terms: tuple[Term, ...] = ()
    stale: bool = False
    selection: TermSelection = TermSelection.STATIC

    def languages(self) -> tuple[str, ...]:
        """The languages that have terms of their own, sorted."""
        return tuple(sorted({term.language for term in self.terms if term.language is not None}))

    def terms_for(self, language: str | None) -> tuple[Term, ...]:
        """Terms that apply to speech in `language`: those of that language and those of any. With None (language
        not known yet) only the latter."""
        return tuple(term for term in self.terms if term.language is None or term.language == language)


@dataclass(frozen=True, slots=True)
class GlossarySettings:
    """What a glossary is apart from its terms. `language`: the one it is meant for, None for any; `token_budget`: 1 to
    223 tokens, `max_terms`: at least 1, each None for the server's."""

    language: str | None = None
    token_budget: int | None = None
    max_terms: int | None = None
    selection: TermSelection = TermSelection.STATIC


@dataclass(frozen=True, slots=True)
class Glossary:
    """A glossary as it is now; `terms` counts all of its terms, inactive ones too."""

    slug: str
    revision: int
    settings: GlossarySettings
    terms: int
    id: int


@dataclass(frozen=True, slots=True)
class Revision:
    """One entry of the change log: who did what when, and how many terms it touched."""

    revision: int
    at: datetime
    actor: str
    action: str
    added: int
    changed: int
    removed: int


@dataclass(frozen=True, slots=True)
class TermChange:
    """What one revision did to one term: `before` None: added; `after` None: removed."""

    before: Term | None
    after: Term | None


def order_key(term: Term) -> tuple[int, int, bytes, int]:
    """Sort key of the total order: placement, priority descending, text by UTF-8 bytes (as COLLATE "C"), id."""
    return (PLACEMENT_ORDER[term.placement], -term.priority, term.text.encode(), term.id)
