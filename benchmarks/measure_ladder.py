"""Which rungs, in which order, save a window that greedy decoding got wrong. In: every clip of the manifest, with and
without a prompt, and clips without speech past voice detection. Out: tables of each rung alone and of whole ladders,
against temperature sampling as faster-whisper does it. Run: python benchmarks/measure_ladder.py
"""

import argparse
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import ctranslate2
import platformdirs
from corpus import AUDIO, Clip, clips, errors, rate
from faster_whisper.transcribe import get_suppressed_tokens

from app.audio.decoder import decode_audio
from app.audio.waveform import SAMPLE_RATE, Samples
from app.decoding.engine import EngineConfig
from app.decoding.ladder import LADDER, Attempt, Rung, best, judge
from app.decoding.model_files import resolve_model
from app.decoding.request import DecodeOptions
from app.decoding.whisper import WhisperEngine

FIRST = Rung("first")
RUNGS = (
    Rung("beam", beam_size=5),
    Rung("no_prompt", with_prompt=False),
    Rung("no_prompt_beam", with_prompt=False, beam_size=5),
    Rung("no_repeat", no_repeat_ngram=3),
    Rung("no_prompt_no_repeat", with_prompt=False, no_repeat_ngram=3),
    Rung("no_prompt_penalty", with_prompt=False, repetition_penalty=1.2),
    Rung("no_prompt_beam_no_repeat", with_prompt=False, beam_size=5, no_repeat_ngram=3),
)
TEMPERATURES = (0.2, 0.4, 0.6, 0.8, 1.0)
NO_SPEECH = ("formats/silence_30s.flac", "formats/pink_noise_30s.opus", "real/sil_2s.wav", "real/sil_leopard_empty.wav",
             "real/noise_background_home.flac", "formats/video_silent_audio.mp4")  # fmt: skip
PROMPT_TERMS = 40


@dataclass
class Window:
    """One window and everything that was tried on it; `tried` maps a rung to its attempt, reason and seconds.

    `seconds`: encoding and the first rung. All seconds are the processor's, so that a busy machine changes nothing."""

    clip: int
    prompt: bool
    first: Attempt
    seconds: float
    reason: str | None
    tried: dict[str, tuple[Attempt, str | None, float]] = field(default_factory=dict)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--sampling-runs", type=int, default=3)
    parser.add_argument("--pad", type=float, default=5.0)
    options = parser.parse_args()
    model = resolve_model(options.model, Path(platformdirs.user_cache_dir("lexicue")))
    engine = WhisperEngine(EngineConfig(model_path=model, encoder_pad_seconds=options.pad))
    found = _corpus()
    terms = (AUDIO / "brands" / "glossary_1200.txt").read_text(encoding="utf-8").splitlines()[:PROMPT_TERMS]
    prompts = ((), tuple(engine._model.hf_tokenizer.encode(" " + ", ".join(terms), add_special_tokens=False).ids))
    jobs = [
        (number, samples, prompt) for prompt in prompts for number, clip in enumerate(found) for samples in clip.windows
    ]
    sampled = tuple(f"sampled{run}" for run in range(options.sampling_runs))
    windows = [_try(engine, found[number], number, samples, prompt, sampled) for number, samples, prompt in jobs]
    _report(found, windows, sampled)


def _corpus() -> list[Clip]:
    skipped = ("formats/bomb", "formats/jfk_loop_60min", "real/yue")
    readable = clips(folders=("real", "synth", "formats"), wanted=lambda n: not n.startswith(skipped))
    return [*readable, *(_unguarded(name) for name in NO_SPEECH)]


def _unguarded(name: str) -> Clip:
    """A clip without speech as one window, as if voice detection had let it pass."""
    samples = decode_audio(AUDIO / name, max_seconds=60).samples[: 30 * SAMPLE_RATE]
    return Clip(f"{name} (no VAD)", "en", "WER", "", len(samples) / SAMPLE_RATE, (samples,))


def _try(
    engine: WhisperEngine,
    clip: Clip,
    number: int,
    samples: Samples,
    prompt: tuple[int, ...],
    sampled: Sequence[str],
) -> Window:
    started = time.process_time()
    encoded = engine._encoder.encode(samples)
    encoding = time.process_time() - started
    language = clip.language if clip.language in engine.languages() else engine._detect(encoded)[0]
    tokenizer = engine._tokenizer(DecodeOptions(language=language))
    text = tokenizer.decode(list(prompt))

    def timed(rung: Rung) -> tuple[Attempt, str | None, float]:
        started = time.process_time()
        (attempt,) = engine._attempts(rung, encoded, [(tokenizer, prompt if rung.with_prompt else ())])
        return attempt, judge(attempt, prompt_text=text), time.process_time() - started

    first, reason, seconds = timed(FIRST)
    window = Window(number, bool(prompt), first, encoding + seconds, reason)
    if reason is not None:
        window.tried = {rung.name: timed(rung) for rung in RUNGS if prompt or _differs(rung)}
        for name in sampled:
            window.tried[name] = _sampled(engine, encoded, tokenizer, prompt, text, first)
    return window


def _differs(rung: Rung) -> bool:
    """Without a prompt, whether it decodes otherwise than the first rung."""
    return rung.beam_size is not None or bool(rung.no_repeat_ngram) or rung.repetition_penalty != 1


def _sampled(engine, encoded: ctranslate2.StorageView, tokenizer, prompt, text: str, first: Attempt):  # type: ignore[no-untyped-def]
    """faster-whisper's fallback: five draws at each temperature until one passes."""
    started = time.process_time()
    ids = [*((tokenizer.sot_prev, *prompt) if prompt else ()), *tokenizer.sot_sequence]
    attempts = [first]
    for temperature in TEMPERATURES:
        drawn = engine._model.model.generate(
            encoded, [ids], beam_size=1, num_hypotheses=5, sampling_topk=0, sampling_temperature=temperature,
            max_length=448, return_scores=True, return_no_speech_prob=True,
            suppress_tokens=get_suppressed_tokens(tokenizer, [-1]), max_initial_timestamp_index=50,
        )[0]  # fmt: skip
        tokens = tuple(drawn.sequences_ids[0])
        attempt = Attempt("sampled", tokens, tokenizer.decode(list(tokens)).strip(),
                          drawn.scores[0] * len(tokens) / (len(tokens) + 1), drawn.no_speech_prob)  # fmt: skip
        if judge(attempt, prompt_text="") is None:
            return attempt, None, time.process_time() - started
        attempts.append(attempt)
    return best(attempts), "given_up", time.process_time() - started


def _text(attempt: Attempt) -> str:
    return "" if attempt.is_silence else attempt.text


def _climb(window: Window, ladder: Sequence[Rung]) -> tuple[str, float, bool]:
    """Text, seconds and whether a rung was accepted, for a ladder put together from what was tried."""
    attempts, seconds = [window.first], window.seconds
    if window.reason is None:
        return _text(window.first), seconds, True
    reason = window.reason
    for rung in ladder:
        if rung.name not in window.tried or rung.mends not in (None, reason):
            continue
        attempt, reason, spent = window.tried[rung.name]
        seconds += spent
        if reason is None:
            return _text(attempt), seconds, True
        attempts.append(attempt)
    return _text(best(attempts)), seconds, False


def _report(found: Sequence[Clip], windows: Sequence[Window], sampled: Sequence[str]) -> None:
    failed = [window for window in windows if window.reason is not None]
    print(f"{len(windows)} windows of {len(found)} clips; {len(failed)} failed the first rung:")
    for window in failed:
        kind = "prompt" if window.prompt else "no prompt"
        print(f"- {found[window.clip].name}, {kind}: {window.reason} after {window.seconds:.2f} s")
        for name, (attempt, reason, seconds) in window.tried.items():
            print(f"  {name}: {reason or 'accepted'} after {seconds:.2f} s, {len(attempt.tokens)} tokens")
    print("\n| rung alone | tried | accepted | mean seconds / first |")
    print("|---|---|---|---|")
    for name in (*(rung.name for rung in RUNGS), *sampled):
        mine = [(window, window.tried[name]) for window in failed if name in window.tried]
        accepted = sum(reason is None for _, (_, reason, _) in mine)
        ratio = sum(spent for _, (_, _, spent) in mine) / max(1e-9, sum(window.seconds for window, _ in mine))
        print(f"| {name} | {len(mine)} | {accepted} | {ratio:.1f} |")
    ladders: dict[str, tuple[Rung, ...]] = {"greedy alone": (), "as shipped": LADDER[1:]}
    ladders |= {f"sampling, run {number + 1}": (Rung(name),) for number, name in enumerate(sampled)}
    fixed = len(ladders)
    for size in (1, 2, 3):
        ladders |= {" > ".join(rung.name for rung in order): order for order in itertools.permutations(RUNGS, size)}
    rows = [(name, *_score(found, windows, ladder)) for name, ladder in ladders.items()]
    shown, tried = rows[:fixed], sorted(rows[fixed:], key=lambda row: (row[1] + row[2], row[3], row[5]))
    print(
        "\n| ladder | error % no prompt | error % prompt | invented words | given up | slowest clip / its greedy time |"
    )
    print("|---|---|---|---|---|---|")
    for name, plain, prompted, invented, given_up, worst in (*shown, *tried[:20]):
        print(f"| {name} | {100 * plain:.2f} | {100 * prompted:.2f} | {invented} | {given_up} | {worst:.1f} |")


def _score(
    found: Sequence[Clip], windows: Sequence[Window], ladder: Sequence[Rung]
) -> tuple[float, float, int, int, float]:
    texts: dict[tuple[bool, int], list[str]] = {}
    spent: dict[tuple[bool, int], float] = {}
    greedy: dict[tuple[bool, int], float] = {}
    given_up = 0
    for window in windows:
        text, seconds, accepted = _climb(window, ladder)
        key = (window.prompt, window.clip)
        texts.setdefault(key, []).append(text)
        spent[key] = spent.get(key, 0.0) + seconds
        greedy[key] = greedy.get(key, 0.0) + window.seconds
        given_up += not accepted
    rates, invented = [], 0
    for prompt in (False, True):
        pairs = [(found[clip], " ".join(parts)) for (kind, clip), parts in texts.items() if kind is prompt]
        rates.append(rate([errors(clip, text) for clip, text in pairs if clip.reference]))
        invented += sum(len(text.split()) for clip, text in pairs if clip.reference == "")
    return rates[0], rates[1], invented, given_up, max(spent[key] / greedy[key] for key in spent)


if __name__ == "__main__":
    main()
