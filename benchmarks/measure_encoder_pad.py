"""How much silence the encoder must see after the speech. In: every clip of the manifest. Out: a table of error, loops,
language detection and timestamps per pad, against Whisper's full 30 s. Run: python benchmarks/measure_encoder_pad.py
"""

import argparse
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from corpus import Clip, Errors, clips, difference, errors, interval, rate, transcribed

from app.decoding.engine import EngineConfig
from app.decoding.model_files import resolve_model
from app.decoding.request import DecodeOptions, PromptSet, WindowRequest, WindowResult
from app.decoding.whisper import WhisperEngine

REFERENCE = 30.0


@dataclass
class Run:
    """One pad over all clips: `errors` in the order of the transcribed clips."""

    errors: list[Errors]
    results: list[list[WindowResult]]
    right_language: int
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pads", type=float, nargs="+", default=[2, 5, 8, 10, 15, 20])
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--beam-size", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    model = resolve_model(options.model, Path(platformdirs.user_cache_dir("lexicue")))
    spoken = [clip for clip in transcribed(clips()) if clip.windows]
    runs = {
        pad: _run(
            EngineConfig(
                model_path=model, workers=options.threads, beam_size=options.beam_size, encoder_pad_seconds=pad
            ),
            spoken,
        )
        for pad in (*options.pads, REFERENCE)
    }
    _report(spoken, runs)


def _run(config: EngineConfig, spoken: Sequence[Clip]) -> Run:
    engine = WhisperEngine(config)

    def given(clip: Clip) -> list[WindowResult]:
        wanted = DecodeOptions(language=clip.language)
        return [
            engine.decode([WindowRequest(clip.name, index, samples, PromptSet(), wanted)])[0]
            for index, samples in enumerate(clip.windows)
        ]

    def detected(clip: Clip) -> bool:
        request = WindowRequest(clip.name, 0, clip.windows[0], PromptSet(), DecodeOptions())
        return engine.decode([request])[0].language == clip.language

    with ThreadPoolExecutor(config.workers) as threads:
        started = time.perf_counter()
        results = list(threads.map(given, spoken))
        seconds = time.perf_counter() - started
        right = sum(threads.map(detected, [clip for clip in spoken if clip.language != "yue"]))
    found = [errors(clip, _text(result)) for clip, result in zip(spoken, results, strict=True)]
    return Run(found, results, right, seconds)


def _text(results: Sequence[WindowResult]) -> str:
    return "".join(segment.text for result in results for segment in result.segments)


def _report(spoken: Sequence[Clip], runs: dict[float, Run]) -> None:
    base = runs[REFERENCE]
    languages = sorted({clip.language for clip in spoken})
    print(
        f"{len(spoken)} clips, {sum(clip.seconds for clip in spoken):.0f} s; "
        f"difference to {REFERENCE:.0f} s in points\n"
    )
    print("| pad s | error % (95 %) | difference (95 %) | fallbacks | given up | language right | end shift s | time |")
    print("|---|---|---|---|---|---|---|---|")
    for pad, run in runs.items():
        low, high = interval(run.errors)
        down, up = difference(run.errors, base.errors)
        flat = [result for results in run.results for result in results]
        print(
            f"| {pad:g} | {100 * rate(run.errors):.1f} ({100 * low:.1f} to {100 * high:.1f}) "
            f"| {100 * (rate(run.errors) - rate(base.errors)):+.1f} ({100 * down:+.1f} to {100 * up:+.1f}) "
            f"| {sum(len(result.fallbacks) for result in flat)} "
            f"| {sum(result.outcome == 'given_up' for result in flat)} | {run.right_language} "
            f"| {_end_shift(run, base):.2f} | {run.seconds / base.seconds:.2f} |"
        )
    print("\n| language | clips | " + " | ".join(f"{pad:g}" for pad in runs) + " |")
    print("|---|---|" + "---|" * len(runs))
    for language in languages:
        mine = [index for index, clip in enumerate(spoken) if clip.language == language]
        cells = []
        for run in runs.values():
            counts = [run.errors[index] for index in mine]
            low, high = interval(counts)
            cells.append(f"{100 * rate(counts):.1f} ({100 * low:.0f} to {100 * high:.0f})")
        print(f"| {language} | {len(mine)} | " + " | ".join(cells) + " |")


def _end_shift(run: Run, base: Run) -> float:
    """Median distance of the last segment's end to the reference's, where both wrote the same text."""
    shifts = [
        abs(mine[-1].segments[-1].end - theirs[-1].segments[-1].end)
        for mine, theirs in zip(run.results, base.results, strict=True)
        if _text(mine) == _text(theirs) and mine[-1].segments
    ]
    return statistics.median(shifts) if shifts else 0.0


if __name__ == "__main__":
    main()
