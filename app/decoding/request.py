"""What is asked of the decoder and what it answers. Pure; any thread; everything here can cross to a child process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from app.audio.waveform import Samples

ANY_LANGUAGE = ""


class Task(StrEnum):
    TRANSCRIBE = "transcribe"
    TRANSLATE = "translate"


class Outcome(StrEnum):
    """How a window ended. `given_up`: every rung failed its thresholds, the best of them is kept and marked."""

    DECODED = "decoded"
    NO_SPEECH = "no_speech"
    GIVEN_UP = "given_up"
    PROMPT_ECHO = "prompt_echo"


@dataclass(frozen=True, slots=True)
class PromptSet:
    """Prompt ids by language code, with ANY_LANGUAGE as the rest: the language may be known only after the first
    window has been encoded, and a window is encoded once."""

    by_language: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: {ANY_LANGUAGE: ()})

    def ids(self, language: str) -> tuple[int, ...]:
        return self.by_language.get(language, self.by_language[ANY_LANGUAGE])


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """Options of one request. `language`: Whisper code, None to detect it on the first window."""

    language: str | None = None
    task: Task = Task.TRANSCRIBE
    word_timestamps: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class WindowRequest:
    """One window to decode. `samples`: shape (n,), 16 kHz, at most 30 s. `language` is None only for the window on
    which it is to be detected. `followed`: a second look may come, so say with what doubt each piece was written and
    keep the encoder's output; `texts`, `written`: this is the second look, see SecondLook. `request_id` is the
    caller's, for the log; two requests may bear one, `serial` tells them apart."""

    request_id: str
    index: int
    samples: Samples
    prompts: PromptSet
    options: DecodeOptions
    followed: bool = False
    texts: tuple[tuple[int, ...], ...] = ()
    written: float | None = None
    serial: int = 0

    @property
    def again(self) -> bool:
        """Whether this is a second look: nothing is to be decoded, `texts` are to be scored."""
        return bool(self.texts)


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What a window that has been decoded may have been, too. `texts`: token ids, to be scored after `prompts`, and
    alone where that does not speak against them. `written`: log-probability of what was written; None for that of the
    first of the texts, after the prompt."""

    prompts: PromptSet
    texts: tuple[tuple[int, ...], ...]
    written: float | None


@dataclass(frozen=True, slots=True)
class TextScore:
    """Natural logarithm of the probability of a text given the sound: after the prompt, and `alone`, which is None
    where it is not worth asking."""

    prompted: float
    alone: float | None


@dataclass(frozen=True, slots=True)
class HeardPiece:
    """Characters that the decoder wrote at once and the log-probability of doing so, the mean over its `tokens`."""

    text: str
    logprob: float
    tokens: int = 1


@dataclass(frozen=True, slots=True)
class DecodedWord:
    """Seconds from the start of the window; `text` keeps its leading space."""

    start: float
    end: float
    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class DecodedSegment:
    """Seconds from the start of the window, 0 <= start <= end <= window length."""

    start: float
    end: float
    text: str
    tokens: tuple[int, ...] = ()
    words: tuple[DecodedWord, ...] | None = None


@dataclass(frozen=True, slots=True)
class Fallback:
    """One step down the ladder: the rung that was left behind and why."""

    rung: str
    reason: str


@dataclass(frozen=True, slots=True)
class WindowResult:
    """The answer to one WindowRequest. The figures are those of the rung that was kept. `seconds` is the model's
    time for this window, for metrics only. `pieces`, where a second look was in question: joined they are the
    texts of all segments. `again`: the second look at the same window, if there was one, with `scores` of the texts
    that were asked for."""

    index: int
    language: str
    language_probability: float
    outcome: Outcome
    rung: str
    segments: tuple[DecodedSegment, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    avg_logprob: float = 0.0
    no_speech_prob: float = 0.0
    compression_ratio: float = 0.0
    hit_output_cap: bool = False
    seconds: float = 0.0
    pieces: tuple[HeardPiece, ...] = ()
    again: "WindowResult | None" = None
    scores: tuple[TextScore, ...] = ()
