"""Two transcripts of one recording, side by side on its clock. In: two lists of pieces. Out: rows of one stretch of
time each, with the words that differ marked. Pure; any thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from app.audit.probe import Piece


@dataclass(frozen=True, slots=True)
class Run:
    """Words in a row that are all the same on both sides, or all different."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class Row:
    """`start`, `end`: seconds."""

    start: float
    end: float
    left: tuple[Run, ...]
    right: tuple[Run, ...]

    @property
    def differs(self) -> bool:
        return any(run.differs for run in (*self.left, *self.right))


def aligned(left: Sequence[Piece], right: Sequence[Piece]) -> tuple[Row, ...]:
    """Pieces that overlap in time share a row; the words of a side, row after row, are those of its text."""
    spans: list[tuple[float, float]] = []
    texts: list[tuple[list[str], list[str]]] = []
    sides = sorted([(p.start, p.end, 0, p.text) for p in left] + [(p.start, p.end, 1, p.text) for p in right])
    for start, end, side, text in sides:
        if not spans or start >= spans[-1][1]:
            spans.append((start, end))
            texts.append(([], []))
        spans[-1] = (spans[-1][0], max(spans[-1][1], end))
        texts[-1][side].append(text)
    return tuple(
        Row(start, end, *_marked(" ".join(a), " ".join(b))) for (start, end), (a, b) in zip(spans, texts, strict=True)
    )


def _marked(left: str, right: str) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    a, b = left.split(), right.split()
    runs: tuple[list[Run], list[Run]] = ([], [])
    for what, a_from, a_to, b_from, b_to in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        for side, words in ((0, a[a_from:a_to]), (1, b[b_from:b_to])):
            if words:
                runs[side].append(Run(" ".join(words), what != "equal"))
    return tuple(runs[0]), tuple(runs[1])
