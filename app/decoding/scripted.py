"""An engine without a model, for tests and for trying the service out. In: windows. Out: text that follows from the
window alone. Thread-safe."""

from collections.abc import Sequence

from app.audio.waveform import SAMPLE_RATE
from app.decoding.languages import LANGUAGES
from app.decoding.request import DecodedSegment, Outcome, WindowRequest, WindowResult


class ScriptedEngine:
    """Says how many tenths of a second it heard and how many prompt ids it got, so that tests can see both arrive."""

    def fingerprint(self) -> dict[str, str]:
        return {"engine": "scripted"}

    def languages(self) -> frozenset[str]:
        return frozenset(LANGUAGES)

    def decode(self, batch: Sequence[WindowRequest]) -> list[WindowResult]:
        return [self._answer(request) for request in batch]

    def _answer(self, request: WindowRequest) -> WindowResult:
        seconds = len(request.samples) / SAMPLE_RATE
        language = request.options.language or "en"
        prompt = request.prompts.ids(language)
        text = f" window {request.index} of {round(seconds * 10)} tenths with {len(prompt)} prompt tokens."
        return WindowResult(
            index=request.index,
            language=language,
            language_probability=1.0,
            outcome=Outcome.DECODED,
            rung="first",
            segments=(DecodedSegment(0.0, round(seconds, 2), text),),
            avg_logprob=-0.1,
            compression_ratio=1.0,
        )
