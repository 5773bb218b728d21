"""A window that was decoded in pieces, because the model stopped before its end. In: results of the pieces, each on
its own clock. Out: one result. Pure; any thread."""

from collections.abc import Sequence
from dataclasses import replace

from app.decoding.request import DecodedSegment, Outcome, WindowResult


def shifted(piece: WindowResult, offset: float) -> WindowResult:
    """The piece with its times moved `offset` seconds later."""
    if not offset:
        return piece
    return replace(piece, segments=tuple(_later(segment, offset) for segment in piece.segments))


def merged(pieces: Sequence[WindowResult]) -> WindowResult:
    """One result of at least one piece: figures of the least sure one, the worst outcome that still has text, all
    fallbacks."""
    spoken = [piece for piece in pieces if piece.segments] or pieces[:1]
    shown = min(spoken, key=lambda piece: piece.avg_logprob)
    return replace(
        shown,
        outcome=Outcome.GIVEN_UP if any(p.outcome is Outcome.GIVEN_UP for p in spoken) else shown.outcome,
        segments=tuple(segment for piece in pieces for segment in piece.segments),
        fallbacks=tuple(step for piece in pieces for step in piece.fallbacks),
        hit_output_cap=any(piece.hit_output_cap for piece in pieces),
        pieces=tuple(heard for piece in pieces for heard in piece.pieces),
    )


def _later(segment: DecodedSegment, offset: float) -> DecodedSegment:
    words = segment.words
    if words is not None:
        words = tuple(replace(word, start=word.start + offset, end=word.end + offset) for word in words)
    return replace(segment, start=segment.start + offset, end=segment.end + offset, words=words)
