"""Whether a request may join the queue. In: seconds of speech and what is asked. Out: nothing, or the error to answer.
No clock: time comes in. Event loop thread."""

import math

from app.decoding.request import DecodeOptions, Task
from app.errors import InvalidRequest, Overloaded


class Admission:
    """Bounds the backlog by seconds of speech; remembers how fast it is worked off, to say when to come back."""

    def __init__(self, max_pending_seconds: float) -> None:
        self._max_pending = max_pending_seconds
        self._speed = 1.0

    def check(self, pending: float, seconds: float) -> None:
        """Raises Overloaded when `seconds` more do not fit over `pending`. An empty queue takes anything."""
        if pending and pending + seconds > self._max_pending:
            raise Overloaded(
                "Too much audio is waiting; try again after the time in Retry-After.",
                retry_after=max(1, math.ceil((pending + seconds - self._max_pending) / self._speed)),
            )

    def observe(self, speech_seconds: float, seconds: float) -> None:
        """`speech_seconds` of speech, all slots together, were decoded in `seconds`; smoothed over some ten batches."""
        self._speed = 0.8 * self._speed + 0.2 * speech_seconds / max(seconds, 1e-3)


def require_known(options: DecodeOptions, languages: frozenset[str]) -> None:
    """Raises InvalidRequest when the model with these `languages` cannot do what is asked."""
    if options.language is not None and options.language not in languages:
        raise InvalidRequest(
            f"This model does not know that language; it knows: {', '.join(sorted(languages))}.",
            param="language",
            code="language_not_supported",
        )
    if options.task is Task.TRANSLATE and languages == {"en"}:
        raise InvalidRequest(
            "This model is English-only and cannot translate.", param="task", code="task_not_supported"
        )
