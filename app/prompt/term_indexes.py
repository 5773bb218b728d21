"""Sound indexes of the glossaries in use. In: a snapshot and a language. Out: the index of its ranked terms, made once
a revision and from the one before it. Any thread; whoever needs an index that is being made waits for it."""

from threading import Lock

from app.glossary.term import GlossarySnapshot, Placement
from app.prompt.recent import RecentlyUsed
from app.prompt.sound_index import SoundIndex

_REMEMBERED_TERMS = 250_000
_REMEMBERED_INDEXES = 8


class TermIndexes:
    """Pinned and seed terms are in every prompt and need no finding."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: RecentlyUsed[SoundIndex] = RecentlyUsed(most_terms=_REMEMBERED_TERMS)
        self._newest: dict[tuple[str, str | None], SoundIndex] = {}

    def of(self, snapshot: GlossarySnapshot, language: str | None) -> SoundIndex:
        """The index of the terms that apply to `language`."""
        key = (snapshot.slug, snapshot.revision, language)
        with self._lock:
            index = self._made.get(key, snapshot.terms)
            if index is None:
                terms = {
                    term.text: (term.text, *term.sounds_like)
                    for term in snapshot.terms_for(language)
                    if term.placement is Placement.RANKED
                }
                before = self._newest.get((snapshot.slug, language))
                index = before.updated(terms) if before is not None else SoundIndex(terms, language=language)
                self._made.put(key, snapshot.terms, index)
                self._newest.pop((snapshot.slug, language), None)
                self._newest[snapshot.slug, language] = index
                if len(self._newest) > _REMEMBERED_INDEXES:
                    del self._newest[next(iter(self._newest))]
            return index
