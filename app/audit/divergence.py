"""Where runs of the same recording part. In: what was heard in each run. Out: the first divergence for each file, and
whether it sits on a window that took a second attempt. Pure; any thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from app.audit.probe import Answer, Piece
from app.audit.rates import exact_character_errors


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place where a run is not the first one. `at`: seconds. `near_fallback`: the window of that place, or
    one next to it, took a second attempt in either run. `cer`: by every character of the whole file."""

    run: int
    at: float
    text_differs: bool
    near_fallback: bool
    cer: float


@dataclass(frozen=True, slots=True)
class FileFinding:
    """One file under one setting, `runs` times. Windows are those of the first run that have text;
    `near` counts those that have a fallback in them or beside them."""

    file: str
    runs: int
    texts: int
    windows: int
    with_fallback: int
    near: int
    divergences: tuple[Divergence, ...]
    refused: str | None = None

    @property
    def agrees(self) -> bool:
        return not self.divergences


@dataclass(frozen=True, slots=True)
class Totals:
    """All files of one setting. The share of divergences near a fallback says something only beside the share of
    windows that are near one."""

    files: int
    identical: int
    clean_files: int
    clean_identical: int
    divergences: int
    near_fallback: int
    windows: int
    with_fallback: int
    near: int
    worst_cer: float


def compare(file: str, answers: Sequence[Answer]) -> FileFinding:
    """`answers`: one for each run, at least one; the first is what the others are held against."""
    first = answers[0]
    refused = next((answer.refused for answer in answers if answer.refused is not None), None)
    near = windows_near_fallback(first.timed)
    found = (divergence(first, answer, run) for run, answer in enumerate(answers[1:], start=2))
    return FileFinding(
        file=file,
        runs=len(answers),
        texts=len({answer.text for answer in answers}),
        windows=len({piece.window for piece in first.timed}),
        with_fallback=len({piece.window for piece in first.timed if piece.fallback}),
        near=len(near),
        divergences=tuple(each for each in found if each is not None),
        refused=refused,
    )


def divergence(first: Answer, other: Answer, run: int) -> Divergence | None:
    """None when both are the same in every text and time."""
    if _told(first) == _told(other):
        return None
    pairs = zip_longest(first.timed, other.timed)
    parted = next(((a, b) for a, b in pairs if a is None or b is None or _heard(a) != _heard(b)), (None, None))
    near = any(
        piece is not None and piece.window in windows_near_fallback(side.timed)
        for piece, side in zip(parted, (first, other), strict=True)
    )
    return Divergence(
        run=run,
        at=min((piece.start for piece in parted if piece is not None), default=0.0),
        text_differs=first.text != other.text,
        near_fallback=near,
        cer=round(exact_character_errors(first.text, other.text).rate, 4),
    )


def windows_near_fallback(pieces: Sequence[Piece]) -> frozenset[int]:
    """Windows with text that took a second attempt, or stand beside one that did."""
    fallen = {piece.window for piece in pieces if piece.fallback}
    return frozenset(piece.window for piece in pieces if fallen & {piece.window - 1, piece.window, piece.window + 1})


def totals(files: Sequence[FileFinding]) -> Totals:
    clean = [file for file in files if not file.with_fallback]
    parted = [each for file in files for each in file.divergences]
    return Totals(
        files=len(files),
        identical=sum(file.agrees for file in files),
        clean_files=len(clean),
        clean_identical=sum(file.agrees for file in clean),
        divergences=len(parted),
        near_fallback=sum(each.near_fallback for each in parted),
        windows=sum(file.windows for file in files),
        with_fallback=sum(file.with_fallback for file in files),
        near=sum(file.near for file in files),
        worst_cer=max((each.cer for each in parted), default=0.0),
    )


def _told(answer: Answer) -> tuple[str, str | None, list[tuple[float, float, str]]]:
    return answer.text, answer.refused, [_heard(piece) for piece in answer.pieces]


def _heard(piece: Piece) -> tuple[float, float, str]:
    return piece.start, piece.end, piece.text
