"""Between an experiment and the transcriber: each question is asked once and its answer kept. In: file, words, what
else tells two questions apart. Out: an answer, from the journal or fresh. Blocking; any thread."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from app.audit.journal import Journal
from app.audit.probe import Answer, Ask
from app.audit.transcriber import Transcriber
from app.decoding.model_files import file_sha256

Prepare = Callable[[Ask], Ask]


class Asking:
    """`told` is called after each answer, for the progress bar."""

    def __init__(self, transcriber: Transcriber, journal: Journal, told: Callable[[], None]) -> None:
        self._transcriber = transcriber
        self._journal = journal
        self._told = told

    def __call__(self, audio: Path, ask: Ask, *, prepare: Prepare | None = None, **marks: str | int) -> Answer:
        """`marks`: what sets this question apart from one of the same words, such as the number of the run. `prepare`
        turns the question into what is sent, where that needs work on the server first."""
        key = {"audio": sha256_of(audio), "ask": ask.as_json(), **marks}
        known = self._journal.get(key)
        if known is not None:
            answer = Answer.from_json(known)
        else:
            answer = self._transcriber.transcribe(audio, prepare(ask) if prepare else ask)
            self._journal.add(key, answer.as_json())
        self._told()
        return answer


@lru_cache(4096)
def sha256_of(audio: Path) -> str:
    return file_sha256(audio)
