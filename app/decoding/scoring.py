"""How well a text explains the sound of a window. In: encoder output, texts as token ids. Out: log-probabilities. Runs
on the worker process's threads.

Nothing is decoded: the model reads each text and says how likely each token was (CTranslate2's `align`).
"""

import math

import ctranslate2
from faster_whisper.tokenizer import Tokenizer

from app.decoding.request import Outcome, TextScore, WindowRequest, WindowResult

# A text that is less likely than what was written by this much, the prompt for it notwithstanding, is not worth being
# read without the prompt; measured in docs/adr/0080.
_WORTH_READING_ALONE = -10.0
_LEAST_PROBABILITY = 1e-9
# Only the probabilities are wanted: the frames over which words are placed in time may be few.
_FRAMES, _MEDIAN_WIDTH = 2, 1


def look_again(
    request: WindowRequest,
    model: ctranslate2.models.Whisper,
    tokenizer: Tokenizer,
    encoded: ctranslate2.StorageView,
) -> WindowResult:
    """A result without segments, with a score for each of the request's texts."""
    language = request.options.language or "en"
    alone = list(tokenizer.sot_sequence)
    prompt_ids = request.prompts.ids(language)
    prompted = [tokenizer.sot_prev, *prompt_ids, *alone] if prompt_ids else alone

    def logprob(start: list[int], text: tuple[int, ...]) -> float:
        (found,) = model.align(encoded, start, [list(text)], _FRAMES, median_filter_width=_MEDIAN_WIDTH)
        return sum(math.log(max(_LEAST_PROBABILITY, probability)) for probability in found.text_token_probs)

    written, scores = request.written, list[TextScore]()
    for text in request.texts:
        score = logprob(prompted, text)
        worth = written is not None and score - written >= _WORTH_READING_ALONE
        scores.append(TextScore(score, logprob(alone, text) if worth else None))
        written = score if written is None else written
    return WindowResult(request.index, language, 1.0, Outcome.DECODED, "scored", scores=tuple(scores))
