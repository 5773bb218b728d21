"""The ladder in place of sampling: named rungs, each at temperature 0, and the thresholds that send a window down.
In: figures of an attempt. Out: accept, or the reason to go on. Pure; any thread."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

# faster-whisper's own thresholds (transcribe.py, WhisperModel.transcribe).
COMPRESSION_RATIO = 2.4
LOGPROB = -1.0
NO_SPEECH = 0.6


class Reason(StrEnum):
    """Why an attempt was not accepted."""

    REPETITIVE = "compression_ratio"
    UNSURE = "avg_logprob"
    ECHO = "prompt_echo"


@dataclass(frozen=True, slots=True)
class Rung:
    """One way to decode a window. `beam_size` None: the configured one. `no_repeat_ngram`: 0 is off.
    `repetition_penalty`: 1 is off. `mends`: the only reason that leads here, None for any."""

    name: str
    with_prompt: bool = True
    beam_size: int | None = None
    no_repeat_ngram: int = 0
    repetition_penalty: float = 1.0
    mends: Reason | None = None


# Rungs and order are measured: docs/adr/0031-ladder.md. What a rung may cost decides what leads to it: a loop has run
# long already, so mending it costs less than it did; a doubtful text is searched more widely, not for its repeats.
LADDER: tuple[Rung, ...] = (
    Rung("first"),
    Rung("no_prompt", with_prompt=False),
    Rung("no_prompt_beam", with_prompt=False, beam_size=5, mends=Reason.UNSURE),
    Rung("no_prompt_penalty", with_prompt=False, repetition_penalty=1.2, mends=Reason.REPETITIVE),
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one rung gave. `tokens`: ids without prompt, timestamps included; `logprobs`: one for each, if asked for."""

    rung: str
    tokens: tuple[int, ...]
    text: str
    avg_logprob: float
    no_speech_prob: float
    logprobs: tuple[float, ...] = ()

    @property
    def compression_ratio(self) -> float:
        return compression_ratio(self.text)

    @property
    def is_silence(self) -> bool:
        """Whisper's own rule: it doubts that anybody speaks, and doubts the text too."""
        return self.no_speech_prob > NO_SPEECH and self.avg_logprob < LOGPROB


@dataclass(frozen=True, slots=True)
class Climb:
    """How a window went down the ladder: the attempt that is kept, the rungs left behind with the reason of each, and
    whether the thresholds accepted what is kept."""

    kept: Attempt
    left: tuple[tuple[Rung, Reason], ...]
    accepted: bool


def climb(decode: Callable[[Rung], Attempt], *, prompt_text: str, beam_size: int) -> Climb:
    """Down the ladder until a rung is accepted. `decode` gives a rung's attempt; `prompt_text`: empty for no prompt.

    What is decoded without the prompt cannot be an echo of it, and an echo is never kept: when no rung is accepted,
    the best of the others is. There is one, since an echo always leads to a rung without the prompt.
    """
    heard: list[Attempt] = []
    left: list[tuple[Rung, Reason]] = []
    reason: Reason | None = None
    for rung in LADDER:
        if not leads_to(rung, reason, beam_size=beam_size, has_prompt=bool(prompt_text)):
            continue
        attempt = decode(rung)
        reason = judge(attempt, prompt_text=prompt_text if rung.with_prompt else "")
        if reason is None:
            return Climb(attempt, tuple(left), accepted=True)
        left.append((rung, reason))
        if reason is not Reason.ECHO:
            heard.append(attempt)
    return Climb(best(heard), tuple(left), accepted=False)


def leads_to(rung: Rung, reason: Reason | None, *, beam_size: int, has_prompt: bool) -> bool:
    """Whether a window that failed for `reason` (None: it was not tried yet) is to be decoded by `rung`: not when
    that would repeat the first rung, nor for a reason that the rung does not mend. `beam_size`: the configured one."""
    if reason is None:
        return rung is LADDER[0]
    same_prompt = rung.with_prompt or not has_prompt
    same_search = rung.beam_size in (None, beam_size) and not rung.no_repeat_ngram and rung.repetition_penalty == 1
    return not (same_prompt and same_search) and rung.mends in (None, reason)


def judge(attempt: Attempt, *, prompt_text: str) -> Reason | None:
    """None to accept. Silence is accepted here: whoever asks turns it into a skipped window."""
    if prompt_text and is_echo(attempt, prompt_text):
        return Reason.ECHO
    if attempt.is_silence:
        return None
    if attempt.compression_ratio > COMPRESSION_RATIO:
        return Reason.REPETITIVE
    if attempt.avg_logprob < LOGPROB:
        return Reason.UNSURE
    return None


def best(attempts: Sequence[Attempt]) -> Attempt:
    """The attempt to keep when every rung failed: the likeliest of those that do not loop, the earlier on a tie."""
    sound = [attempt for attempt in attempts if attempt.compression_ratio <= COMPRESSION_RATIO]
    return max(sound or attempts, key=lambda attempt: attempt.avg_logprob)


def is_echo(attempt: Attempt, prompt_text: str) -> bool:
    """The model doubts that anybody speaks, yet gives words of the prompt and no others (DESIGN fact 11).

    Real speech of the same words has a low no-speech probability and is kept.
    """
    if attempt.no_speech_prob <= NO_SPEECH or not attempt.text:
        return False
    return set(_words(attempt.text)) <= set(_words(prompt_text))


def compression_ratio(text: str) -> float:
    """UTF-8 bytes over their zlib size; over 2.4 the text loops. 0 for no text."""
    data = text.encode()
    return len(data) / len(zlib.compress(data)) if data else 0.0


def _words(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text.casefold()).split()
