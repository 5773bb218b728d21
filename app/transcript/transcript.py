"""Transcript and receipt. In: window results, the windows they came from, the prompt plan. Out: segments on the
recording's clock and the account of what was done. Pure; any thread."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from app.audio.waveform import Window
from app.decoding.request import DecodedSegment, Outcome, WindowResult
from app.glossary.term import GlossarySnapshot, TermSelection
from app.prompt.acceptance import WindowSelection
from app.prompt.budget import PRECEDENCE
from app.prompt.plan import PromptPlan

# A glossary may have 100,000 terms; an answer that names them all would be megabytes.
LISTED_DROPPED = 1000


@dataclass(frozen=True, slots=True)
class Word:
    """`start`, `end`: seconds on the recording's clock; `word` keeps its leading space."""

    start: float
    end: float
    word: str
    probability: float


@dataclass(frozen=True, slots=True)
class Segment:
    """`start`, `end`: seconds, 0 <= start <= end <= duration, in order. The figures are those of its window;
    `tokens` are the ids of its text."""

    id: int
    start: float
    end: float
    text: str
    avg_logprob: float
    no_speech_prob: float
    compression_ratio: float
    rung: str
    words: tuple[Word, ...] | None = None
    tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptReceipt:
    """What was sent in front of every window. `budget - tokens == headroom`. `blocks` counts the
    kept terms by block, in order of precedence: the first gives way last. `dropped` lists the LISTED_DROPPED most
    important terms that were left out; `dropped_by_reason` counts them all."""

    sha256: str
    glossary: str | None
    revision: int | None
    tokens: int
    estimated_tokens: int
    budget: int
    headroom: int
    kept: tuple[str, ...]
    blocks: dict[str, int]
    dropped: tuple[dict[str, str], ...]
    dropped_by_reason: dict[str, int]
    stale: bool
    selection: TermSelection = TermSelection.STATIC


@dataclass(frozen=True, slots=True)
class DecodingReceipt:
    """What the decoder did. `covered_seconds`: speech that ended up under a segment, at most `speech_seconds`."""

    fingerprint: str
    windows: int
    fallbacks: dict[str, int]
    speech_seconds: float
    covered_seconds: float
    skipped_windows: int


@dataclass(frozen=True, slots=True)
class Receipt:
    prompt: PromptReceipt
    decoding: DecodingReceipt
    warnings: tuple[str, ...]
    relevance: tuple[WindowSelection, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """`language`: Whisper code, None when there is no speech. `duration`: seconds of the whole recording."""

    text: str
    language: str | None
    duration: float
    segments: tuple[Segment, ...]
    receipt: Receipt


def prompt_receipt(
    plan: PromptPlan, snapshot: GlossarySnapshot | None, selection: TermSelection = TermSelection.STATIC
) -> PromptReceipt:
    return PromptReceipt(
        sha256=plan.sha256,
        glossary=snapshot.slug if snapshot else None,
        revision=snapshot.revision if snapshot else None,
        tokens=plan.tokens,
        estimated_tokens=plan.estimated_tokens,
        budget=plan.budget,
        headroom=plan.headroom,
        kept=tuple(term.text for term in plan.kept),
        blocks={block.value: sum(term.block is block for term in plan.kept) for block in PRECEDENCE},
        dropped=tuple(
            {"text": term.text, "reason": term.reason.value} for term in islice(plan.dropped, LISTED_DROPPED)
        ),
        dropped_by_reason={reason.value: count for reason, count in plan.dropped_by_reason.items()},
        stale=bool(snapshot and snapshot.stale),
        selection=selection,
    )


def assemble(
    windows: Sequence[Window],
    results: Sequence[WindowResult],
    *,
    duration: float,
    prompt: PromptReceipt,
    fingerprint: str,
    warnings: Sequence[str] = (),
    relevance: Sequence[WindowSelection] = (),
) -> Transcript:
    """One transcript from the results of all windows, in window order.

    `duration` in seconds bounds every time. A window that was given up, cut at the output cap or dropped as an echo
    of the prompt is named in `receipt.warnings`.
    """
    segments: list[Segment] = []
    for window, result in zip(windows, results, strict=True):
        floor = segments[-1].end if segments else 0.0
        for decoded in result.segments:
            segment = _on_recording(decoded, window, result, len(segments), floor, duration)
            segments.append(segment)
            floor = segment.end
    speech = round(sum(window.seconds for window in windows), 2)
    return Transcript(
        text=join_texts([segment.text for segment in segments]),
        language=results[0].language if results else None,
        duration=round(duration, 3),
        segments=tuple(segments),
        receipt=Receipt(
            prompt=prompt,
            decoding=DecodingReceipt(
                fingerprint=fingerprint,
                windows=len(windows),
                fallbacks=dict(sorted(Counter(step.rung for result in results for step in result.fallbacks).items())),
                speech_seconds=speech,
                covered_seconds=min(speech, round(sum(map(covered_seconds, results)), 2)),
                skipped_windows=sum(result.outcome is Outcome.NO_SPEECH for result in results),
            ),
            warnings=(*warnings, *_window_warnings(windows, results)),
            relevance=tuple(relevance),
        ),
    )


def told(transcript: Transcript, warnings: Sequence[str]) -> Transcript:
    """The same transcript with more to warn of."""
    receipt = replace(transcript.receipt, warnings=(*transcript.receipt.warnings, *warnings))
    return replace(transcript, receipt=receipt)


def covered_seconds(result: WindowResult) -> float:
    """Seconds of the window that lie under one of its segments; overlaps count once."""
    covered = end = 0.0
    for segment in result.segments:
        covered += max(0.0, segment.end - max(segment.start, end))
        end = max(end, segment.end)
    return covered


def _on_recording(
    decoded: DecodedSegment, window: Window, result: WindowResult, id_: int, floor: float, duration: float
) -> Segment:
    start = min(max(floor, round(window.on_recording(decoded.start), 2)), duration)
    end = min(max(start, round(window.on_recording(decoded.end, end=True), 2)), duration)
    words = None
    if decoded.words is not None:
        placed: list[Word] = []
        at = start
        for word in decoded.words:
            word_start = min(max(at, round(window.on_recording(word.start), 2)), end)
            at = min(max(word_start, round(window.on_recording(word.end, end=True), 2)), end)
            placed.append(Word(word_start, at, word.text, round(word.probability, 4)))
        words = tuple(placed)
    return Segment(
        id=id_,
        start=start,
        end=end,
        text=decoded.text,
        avg_logprob=round(result.avg_logprob, 4),
        no_speech_prob=round(result.no_speech_prob, 4),
        compression_ratio=round(result.compression_ratio, 4),
        rung=result.rung,
        words=words,
        tokens=decoded.tokens,
    )


def join_texts(texts: Sequence[str]) -> str:
    """Whisper's segments bring their own leading space; two that do not meet as they are only in scripts that write
    without spaces."""
    joined = ""
    for text in texts:
        needs_space = joined and text and joined[-1].isascii() and text[0].isascii() and not text[0].isspace()
        joined += f" {text}" if needs_space and not joined[-1].isspace() else text
    return joined.strip()


def _window_warnings(windows: Sequence[Window], results: Sequence[WindowResult]) -> list[str]:
    found = []
    for window, result in zip(windows, results, strict=True):
        at = f"window {window.index} (at {window.on_recording(0.0):.1f} s)"
        if result.outcome is Outcome.GIVEN_UP:
            found.append(f"{at}: every rung failed its thresholds; the best of them was kept")
        if result.outcome is Outcome.PROMPT_ECHO:
            found.append(f"{at}: only the prompt came back, nothing was spoken; dropped")
        if result.hit_output_cap:
            found.append(f"{at}: the output limit was reached; text may be missing at its end")
        if result.outcome in (Outcome.DECODED, Outcome.GIVEN_UP) and not result.segments:
            found.append(f"{at}: speech was found but no text came out")
    return found
