"""Whisper on CTranslate2: one window in, one answer out, always the same. In: samples, prompt ids. Out: segments and
their figures. Runs on the worker process's threads; every call is independent of every other."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import ctranslate2
from faster_whisper import WhisperModel
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.transcribe import get_suppressed_tokens

from app.audio.waveform import SAMPLE_RATE
from app.decoding.alignment import with_words
from app.decoding.encoding import Encoder, row_of
from app.decoding.engine import EngineConfig
from app.decoding.fingerprint import details_of
from app.decoding.heard import KeptEncodings, pieces_of, token_logprobs
from app.decoding.ladder import LADDER, Attempt, Climb, Reason, Rung, climb
from app.decoding.languages import LANGUAGES
from app.decoding.pieces import merged, shifted
from app.decoding.request import DecodeOptions, Fallback, Outcome, WindowRequest, WindowResult
from app.decoding.scoring import look_again
from app.decoding.segments import SplitTokens, split_tokens

_MAX_LENGTH = 448
_MAX_OUTPUT = 224
_MAX_PIECES = 8
_KEPT_ENCODINGS = 16  # 3 MB each for the base model, 8 for the large one


class WhisperEngine:
    """Loads the model at construction. Raises what the library raises when the files or the device are bad."""

    def __init__(self, config: EngineConfig) -> None:
        assert config.model_path is not None  # noqa: S101 - a whisper engine always has files
        self._config = config
        self._model = WhisperModel(
            str(config.model_path),
            device=config.device,
            device_index=config.device_index,
            compute_type=config.compute_type,
            cpu_threads=1,
            num_workers=config.threads,
        )
        self._encoder = Encoder(self._model, pad_seconds=config.encoder_pad_seconds, device=config.device)
        self._kept = KeptEncodings(_KEPT_ENCODINGS)
        self._suppressed = get_suppressed_tokens(self._tokenizer(DecodeOptions(language="en")), [-1])

    def fingerprint(self) -> dict[str, str]:
        return details_of(self._config)

    def languages(self) -> frozenset[str]:
        if not self._model.model.is_multilingual:
            return frozenset({"en"})
        vocabulary = self._model.hf_tokenizer
        return frozenset(code for code in LANGUAGES if vocabulary.token_to_id(f"<|{code}|>") is not None)

    def decode(self, batch: Sequence[WindowRequest]) -> list[WindowResult]:
        """See `Engine`. Windows of one batch that are equally long for the encoder share its first `generate`; what
        goes further down the ladder, is to tell its language, or is looked at again, goes alone."""
        if len(batch) == 1 or any(request.options.language is None or request.again for request in batch):
            return [self._decode_window(request) for request in batch]
        results: dict[int, WindowResult] = {}
        for positions, encoded in self._encoder.encode_together([request.samples for request in batch]):
            requests = [batch[position] for position in positions]
            rows = [(self._tokenizer(one.options), one.prompts.ids(one.options.language or "en")) for one in requests]
            scored = any(request.followed for request in requests)
            firsts = self._attempts(LADDER[0], encoded, rows, scored=scored)
            for row, (position, first) in enumerate(zip(positions, firsts, strict=True)):
                heard = row_of(encoded, row) if len(positions) > 1 else encoded
                results[position] = self._decode_window(batch[position], encoded=heard, first=first)
        return [results[position] for position in range(len(batch))]

    def _decode_window(
        self,
        request: WindowRequest,
        *,
        encoded: ctranslate2.StorageView | None = None,
        first: Attempt | None = None,
    ) -> WindowResult:
        """Decode the window; while the model stops before its end, decode the rest alone, as Whisper's own seek.
        `encoded` and `first`: what the window's batch has already given."""
        started = time.perf_counter()
        options, probability = request.options, 1.0
        if request.again:
            encoded = self._kept.take(request, self._encoder.encode)
            scored = look_again(request, self._model.model, self._tokenizer(options), encoded)
            return replace(scored, seconds=time.perf_counter() - started)
        offset, pieces, resume = 0.0, list[WindowResult](), None
        while len(pieces) < _MAX_PIECES:
            samples = request.samples[round(offset * SAMPLE_RATE) :]
            if encoded is None:
                encoded = self._encoder.encode(samples)
            if request.followed and not pieces:
                self._kept.keep(request, encoded)
            if options.language is None:
                language, probability = self._detect(encoded)
                options = replace(options, language=language)
            piece, resume = self._decode_piece(request, options, encoded, len(samples) / SAMPLE_RATE, first)
            pieces.append(shifted(piece, offset))
            if resume is None:
                break
            offset, encoded, first = offset + resume, None, None
        whole = merged(pieces)
        return replace(
            whole,
            language_probability=probability,
            hit_output_cap=whole.hit_output_cap or resume is not None,
            seconds=time.perf_counter() - started,
            index=request.index,
        )

    def _detect(self, encoded: ctranslate2.StorageView) -> tuple[str, float]:
        if not self._model.model.is_multilingual:
            return "en", 1.0
        token, probability = self._model.model.detect_language(encoded)[0][0]
        return token[2:-2], float(probability)

    def _decode_piece(
        self,
        request: WindowRequest,
        options: DecodeOptions,
        encoded: ctranslate2.StorageView,
        seconds: float,
        first: Attempt | None,
    ) -> tuple[WindowResult, float | None]:
        tokenizer = self._tokenizer(options)
        language = options.language or "en"
        prompt_ids = request.prompts.ids(language)
        climbed = self._climb(encoded, tokenizer, prompt_ids, first, scored=request.followed)
        kept = climbed.kept
        result = WindowResult(
            index=request.index,
            language=language,
            language_probability=1.0,
            outcome=Outcome.DECODED if climbed.accepted else Outcome.GIVEN_UP,
            rung=kept.rung,
            fallbacks=tuple(Fallback(rung.name, reason.value) for rung, reason in climbed.left),
            avg_logprob=kept.avg_logprob,
            no_speech_prob=kept.no_speech_prob,
            compression_ratio=kept.compression_ratio,
        )
        if kept.is_silence:
            echoed = any(reason is Reason.ECHO for _, reason in climbed.left)
            return replace(result, outcome=Outcome.PROMPT_ECHO if echoed else Outcome.NO_SPEECH), None
        split, hit_cap = self._split(kept, tokenizer, prompt_ids, seconds)
        segments = split.segments
        if request.followed:
            heard = pieces_of(segments, kept.tokens, kept.logprobs, tokenizer.decode)
            result = replace(result, pieces=heard)
        if options.word_timestamps:
            segments = with_words(self._model, tokenizer, encoded, segments, seconds)
        return replace(result, segments=segments, hit_output_cap=hit_cap and split.resume is None), split.resume

    def _climb(
        self,
        encoded: ctranslate2.StorageView,
        tokenizer: Tokenizer,
        prompt_ids: tuple[int, ...],
        first: Attempt | None,
        *,
        scored: bool,
    ) -> Climb:
        def decode(rung: Rung) -> Attempt:
            if rung is LADDER[0] and first is not None:
                return first
            row = (tokenizer, prompt_ids if rung.with_prompt else ())
            (attempt,) = self._attempts(rung, encoded, [row], scored=scored)
            return attempt

        return climb(decode, prompt_text=tokenizer.decode(list(prompt_ids)), beam_size=self._config.beam_size)

    def _attempts(
        self,
        rung: Rung,
        encoded: ctranslate2.StorageView,
        rows: Sequence[tuple[Tokenizer, tuple[int, ...]]],
        *,
        scored: bool = False,
    ) -> list[Attempt]:
        """One `generate` call: `rows` hold tokenizer and prompt ids, of equal length, one for each row of `encoded`.
        `scored`: with the log-probability of every token; a beam tells none, so there it is the mean of them all.

        Raises FloatingPointError when a figure is no number, RuntimeError from the library.
        """
        beam_size = rung.beam_size or self._config.beam_size
        generated = self._model.model.generate(
            encoded,
            [
                [*((tokenizer.sot_prev, *prompt_ids) if prompt_ids else ()), *tokenizer.sot_sequence]
                for tokenizer, prompt_ids in rows
            ],
            beam_size=beam_size,
            no_repeat_ngram_size=rung.no_repeat_ngram,
            repetition_penalty=rung.repetition_penalty,
            max_length=_MAX_LENGTH,
            return_scores=True,
            return_logits_vocab=scored and beam_size == 1,
            return_no_speech_prob=True,
            suppress_blank=True,
            suppress_tokens=self._suppressed,
            max_initial_timestamp_index=50,
        )
        return [_attempt(rung, one, tokenizer, scored) for one, (tokenizer, _) in zip(generated, rows, strict=True)]

    def _split(
        self, kept: Attempt, tokenizer: Tokenizer, prompt_ids: tuple[int, ...], seconds: float
    ) -> tuple[SplitTokens, bool]:
        framing = len(tokenizer.sot_sequence) + (len(prompt_ids) + 1 if prompt_ids else 0)
        hit_cap = len(kept.tokens) >= min(_MAX_OUTPUT, _MAX_LENGTH - framing)
        split = split_tokens(
            kept.tokens,
            timestamp_begin=tokenizer.timestamp_begin,
            end_of_text=tokenizer.eot,
            seconds=seconds,
            hit_cap=hit_cap,
            decode=tokenizer.decode,
        )
        return split, hit_cap

    def _tokenizer(self, options: DecodeOptions) -> Tokenizer:
        return Tokenizer(
            self._model.hf_tokenizer,
            self._model.model.is_multilingual,
            task=options.task.value,
            language=options.language,
        )


def _attempt(
    rung: Rung, generated: ctranslate2.models.WhisperGenerationResult, tokenizer: Tokenizer, scored: bool = False
) -> Attempt:
    tokens = tuple(generated.sequences_ids[0])
    if not math.isfinite(generated.scores[0]) or not math.isfinite(generated.no_speech_prob):
        raise FloatingPointError("the model gave a figure that is no number; try another compute type")
    avg_logprob = generated.scores[0] * len(tokens) / (len(tokens) + 1)
    logprobs: tuple[float, ...] = ()
    if scored:
        steps = generated.logits[0] if generated.logits else ()
        logprobs = token_logprobs(tokens, steps) if steps else (avg_logprob,) * len(tokens)
    return Attempt(
        rung=rung.name,
        tokens=tokens,
        text=tokenizer.decode(list(tokens)).strip(),
        avg_logprob=avg_logprob,
        no_speech_prob=generated.no_speech_prob,
        logprobs=logprobs,
    )
