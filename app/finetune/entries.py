"""What goes into a training set, and why something does not. In: nothing. Out: the types that the other modules hand
to each other. Pure; any thread."""

from dataclasses import dataclass
from enum import StrEnum


class Split(StrEnum):
    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"
    HELDOUT = "heldout"


class Reason(StrEnum):
    """Why an entry is left out. The values are part of the data card."""

    BAD_ROW = "bad_row"
    BAD_SPLIT = "bad_split"
    BAD_TIMES = "bad_times"
    NO_TEXT = "no_text"
    BAD_TEXT = "bad_text"
    CONTROL_TOKEN = "control_token"  # noqa: S105 - a reason
    TEXT_TOO_LONG = "text_too_long"
    TEXTS_DIFFER = "text_and_segments_differ"
    NO_LANGUAGE = "no_language"
    UNKNOWN_LANGUAGE = "unknown_language"
    MISSING_FILE = "missing_file"
    BAD_AUDIO = "bad_audio"
    DAMAGED_AUDIO = "damaged_audio"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    SILENT = "silent"
    CLIPPED = "clipped"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class Entry:
    """One example: a recording, or the part from `start` to `end` (seconds), and what is said in it. `source` is the
    path as the input names it. `split` is empty where the input leaves it to the hash."""

    source: str
    text: str
    language: str = ""
    split: str = ""
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """An entry left out. `detail` says more without quoting the text."""

    source: str
    reason: Reason
    detail: str = ""
    start: float | None = None


class Rejected(Exception):
    """Raised by a check; whoever walks the entries turns it into a Reject."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason.value)
        self.reason = reason
        self.detail = detail
