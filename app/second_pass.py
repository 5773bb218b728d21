"""Selection by relevance for one request. In: the first result of each window. Out: what else it may have been, then
the window with the terms that were won, and the account of both. Event loop thread; matching on a thread of its own,
since 100,000 terms take longer than the loop may stand still."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from app.decoding.request import (
    ANY_LANGUAGE,
    DecodedSegment,
    DecodedWord,
    Outcome,
    PromptSet,
    SecondLook,
    TextScore,
    WindowResult,
)
from app.glossary.term import GlossarySnapshot, TermSelection
from app.prompt.acceptance import (
    PROMPT_COST,
    Change,
    Gain,
    WindowSelection,
    accepted,
    at_several_places,
    weighed,
)
from app.prompt.planner import RequestWords
from app.prompt.relevance import Candidate, Piece
from app.prompt.relevance_metrics import RelevanceMetrics
from app.prompt.tokens import TokenCounter
from app.prompt.window_terms import WindowTermsChooser

# Positions of the decoder, less the control tokens of a second look: its prompt's and its text's have to share them.
_MOST_TOKENS = 448 - 8
# A window that no rung was content with says what was heard all the same, and names that the model does not know are
# often why.
_HEARD = (Outcome.DECODED, Outcome.GIVEN_UP)


class SecondPass:
    """One request's. `follow_up` is for the dispatcher, `settle` for each result in turn; `selections` lists the
    windows that were looked at again."""

    def __init__(
        self,
        chooser: WindowTermsChooser,
        counter: TokenCounter,
        metrics: RelevanceMetrics,
        snapshot: GlossarySnapshot,
        words: RequestWords,
    ) -> None:
        self._chooser = chooser
        self._counter = counter
        self._metrics = metrics
        self._snapshot = snapshot
        self._words = words
        self._offers: dict[int, WindowSelection] = {}
        self.selections: list[WindowSelection] = []

    async def follow_up(self, result: WindowResult) -> SecondLook | None:
        """The texts that the window may have been, too, or None when nothing of the glossary was heard."""
        if result.outcome not in _HEARD or not result.pieces:
            return None
        with self._metrics.matching():
            selection = await asyncio.to_thread(self._select, result)
        if selection is None:
            return None
        self._offers[result.index], look = selection
        return look

    def settle(self, result: WindowResult) -> WindowResult:
        """The first result with the changes that the second look justifies; the same object if there are none."""
        selection = self._offers.pop(result.index, None)
        again = result.again
        if selection is None or again is None:
            return result
        offers = weighed(selection.offered, _gains(result, again.scores, selection.offered))
        changes = accepted(offers)
        self.selections.append(replace(selection, offered=offers, changes=changes))
        self._metrics.tried(len(selection.offered), len(changes), again.seconds)
        return replace(result, segments=self._changed(result.segments, changes), again=None)

    def _select(self, result: WindowResult) -> tuple[WindowSelection, SecondLook] | None:
        pieces = _pieces(result)
        chosen = self._chooser.choose(self._snapshot, pieces, language=result.language, words=self._words)
        if not chosen.offered:
            return None
        plan, texts = chosen.plan, self._asked(pieces, chosen.offered)
        if max(map(len, texts)) + plan.tokens > _MOST_TOKENS:
            return None
        selection = WindowSelection(result.index, chosen.offered, plan.sha256, plan.tokens)
        written = None if at_several_places(chosen.offered) else _written(result)
        return selection, SecondLook(PromptSet({ANY_LANGUAGE: plan.ids}), texts, written)

    def _asked(self, pieces: Sequence[Piece], offers: Sequence[Candidate]) -> tuple[tuple[int, ...], ...]:
        """A text for each offer; before them the first one, where its score after the prompt is wanted, too."""
        text = "".join(piece.text for piece in pieces)
        first = [text] if at_several_places(offers) else []
        return tuple(tuple(self._counter.encode(each)) for each in (*first, *_with_each(text, offers)))

    def _changed(self, segments: Sequence[DecodedSegment], changes: Sequence[Change]) -> tuple[DecodedSegment, ...]:
        """A change that reaches over the end of a segment belongs to the one it begins in."""
        done: list[DecodedSegment] = []
        at = 0
        for segment in segments:
            end = at + len(segment.text)
            text, words = segment.text, segment.words
            for change in reversed(changes):
                first, last = max(change.start, at) - at, min(change.end, end) - at
                if first < last:
                    new = change.text if change.start >= at else ""
                    text = text[:first] + new + text[last:]
                    words = _words_with(words, segment.text, first, last, new) if words else words
            if text != segment.text:
                segment = replace(segment, text=text, words=words, tokens=tuple(self._counter.encode(text)))
            done.append(segment)
            at = end
        return tuple(segment for segment in done if segment.text.strip())


class SecondPasses:
    """What the second passes of all requests share."""

    def __init__(self, chooser: WindowTermsChooser, counter: TokenCounter, metrics: RelevanceMetrics) -> None:
        self._shared = chooser, counter, metrics

    def of(self, snapshot: GlossarySnapshot, words: RequestWords, selection: TermSelection | None) -> SecondPass | None:
        """None where terms are selected statically. `selection` None: as the glossary says."""
        if (selection or snapshot.selection) is TermSelection.STATIC:
            return None
        return SecondPass(*self._shared, snapshot, words)


def _words_with(words: tuple[DecodedWord, ...], text: str, first: int, last: int, new: str) -> tuple[DecodedWord, ...]:
    """The words that `first` to `last` of the segment's text touch become one, from the first's start to the last's
    end, as probable as they were; what they have beside the span is kept."""
    bounds = [0]
    for word in words:
        bounds.append(bounds[-1] + len(word.text))
    touched = [n for n, (start, end) in enumerate(pairwise(bounds)) if start < last and end > first]
    if not touched:
        return words
    low, high = touched[0], touched[-1]
    spoken = text[bounds[low] : first] + new + text[last : bounds[high + 1]]
    sure = sum(word.probability for word in words[low : high + 1]) / (high + 1 - low)
    one = DecodedWord(words[low].start, words[high].end, spoken, round(sure, 4))
    return (*words[:low], *((one,) if spoken.strip() else ()), *words[high + 1 :])


def _pieces(result: WindowResult) -> tuple[Piece, ...]:
    return tuple(Piece(piece.text, piece.logprob) for piece in result.pieces)


def _with_each(text: str, offers: Sequence[Candidate]) -> Iterator[str]:
    """The text with one of the terms in place of all that was heard alike, for each of `_asked_once`."""
    for term, heard in _asked_once(offers):
        spoken = text
        for offer in sorted(offers, key=lambda offer: -offer.start):
            if (offer.term, offer.heard) == (term, heard):
                spoken = f"{spoken[: offer.start]}{term}{spoken[offer.end :]}"
        yield spoken


def _asked_once(offers: Sequence[Candidate]) -> list[tuple[str, str]]:
    """What is asked of the model: terms with what was heard for them, wherever and however often."""
    return list(dict.fromkeys((offer.term, offer.heard) for offer in offers))


def _gains(first: WindowResult, scores: Sequence[TextScore], offers: Sequence[Candidate]) -> list[Gain]:
    """For each offer; where the first text was scored after the prompt, too, over that."""
    asked, written = _asked_once(offers), _written(first)
    with_prompt = scores[0].prompted + PROMPT_COST if len(scores) > len(asked) else written
    gains = {
        what: Gain(score.prompted - with_prompt, None if score.alone is None else score.alone - written)
        for what, score in zip(asked, scores[-len(asked) :], strict=True)
    }
    return [gains[offer.term, offer.heard] for offer in offers]


def _written(first: WindowResult) -> float:
    """Log-probability of the first transcript, as its own decoding has told."""
    return sum(piece.logprob * piece.tokens for piece in first.pieces)
