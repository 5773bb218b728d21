"""The second prompt of a window. In: a glossary, the request's words, the window's first transcript. Out: the terms
to look at it again with and the plan that holds them. Any thread; pure but for its indexes."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.glossary.term import GlossarySnapshot
from app.prompt.plan import PromptPlan
from app.prompt.planner import PromptPlanner, RequestWords
from app.prompt.relevance import Candidate, Piece, candidates, offered, repeated
from app.prompt.term_indexes import TermIndexes


@dataclass(frozen=True, slots=True)
class WindowTerms:
    """`offered`: what is sent in place of the ranked terms, the most relevant first; all of it is in `plan`. None
    offered: the window is not looked at again."""

    plan: PromptPlan
    offered: tuple[Candidate, ...]


class WindowTermsChooser:
    def __init__(self, planner: PromptPlanner, indexes: TermIndexes) -> None:
        self._planner = planner
        self._indexes = indexes

    def choose(
        self,
        snapshot: GlossarySnapshot,
        pieces: Sequence[Piece],
        *,
        language: str | None,
        words: RequestWords,
        profile: str = "whisper",
    ) -> WindowTerms:
        """Raises what the planner raises. `pieces`: the first transcript; none of it: the first prompt."""
        offers = offered(candidates(pieces, self._indexes.of(snapshot, language))) if pieces else ()
        texts = list(dict.fromkeys(offer.term for offer in offers))
        plan = self._planner.plan(snapshot, language=language, words=words, profile=profile, ranked=texts)
        kept = {term.text for term in plan.kept}
        text = "".join(piece.text for piece in pieces)
        return WindowTerms(plan, repeated([offer for offer in offers if offer.term in kept], text))
