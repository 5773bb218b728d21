"""Word and character error of Lexicue and of plain use of faster-whisper on every clip with a trusted transcript, by
language, greedy and with beam 5. In: clips of the manifest. Out: a table with bootstrap intervals of the difference,
and the clips that differ most. Run: python benchmarks/measure_errors.py [--beam-size 5] [--model NAME]
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import platformdirs
from corpus import AUDIO, Clip, Errors, clips, difference, errors, rate, transcribed
from faster_whisper import WhisperModel

from app.decoding.engine import EngineConfig
from app.decoding.model_files import resolve_model
from app.decoding.request import DecodeOptions, PromptSet, WindowRequest
from app.decoding.whisper import WhisperEngine

LONG_SECONDS = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beam-size", type=int, default=1)
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    model = resolve_model(options.model, Path(platformdirs.user_cache_dir("lexicue")))
    engine = WhisperEngine(EngineConfig(model_path=model, beam_size=options.beam_size, workers=options.threads))
    library = WhisperModel(str(model), compute_type="int8", cpu_threads=1, num_workers=options.threads)
    found = [clip for clip in transcribed(clips()) if clip.language in engine.languages()]

    def both(clip: Clip) -> tuple[str, str]:
        return _lexicue(engine, clip), _plain(library, clip, options.beam_size)

    with ThreadPoolExecutor(options.threads) as threads:
        texts = list(threads.map(both, found))
    print(f"{len(found)} clips, {sum(clip.seconds for clip in found):.0f} s, beam {options.beam_size}\n")
    _report(found, texts)


def _lexicue(engine: WhisperEngine, clip: Clip) -> str:
    wanted = DecodeOptions(language=clip.language)
    results = engine.decode([WindowRequest("m", i, part, PromptSet(), wanted) for i, part in enumerate(clip.windows)])
    return " ".join(segment.text for result in results for segment in result.segments)


def _plain(library: WhisperModel, clip: Clip, beam_size: int) -> str:
    segments, _ = library.transcribe(
        str(AUDIO / clip.name), beam_size=beam_size, vad_filter=True, condition_on_previous_text=False,
        language=clip.language,
    )  # fmt: skip
    return " ".join(segment.text for segment in segments)


def _report(found: Sequence[Clip], texts: Sequence[tuple[str, str]]) -> None:
    ours = [errors(clip, text) for clip, (text, _) in zip(found, texts, strict=True)]
    plain = [errors(clip, text) for clip, (_, text) in zip(found, texts, strict=True)]
    print("| clips | n | Lexicue % | plain library % | difference, points (95 %) |\n|---|---|---|---|---|")
    groups = {"all": list(range(len(found)))}
    groups["30 s and more"] = [i for i, clip in enumerate(found) if clip.seconds >= LONG_SECONDS]
    for language in sorted({clip.language for clip in found}):
        groups[language] = [i for i, clip in enumerate(found) if clip.language == language]
    for name, mine in groups.items():
        print(_row(name, [ours[i] for i in mine], [plain[i] for i in mine]))
    worst = sorted(range(len(found)), key=lambda i: abs(ours[i].edits - plain[i].edits), reverse=True)[:12]
    print("\n| most different | edits Lexicue | edits plain | of |\n|---|---|---|---|")
    for i in worst:
        print(f"| {found[i].name} | {ours[i].edits} | {plain[i].edits} | {ours[i].length} |")


def _row(name: str, ours: Sequence[Errors], plain: Sequence[Errors]) -> str:
    low, high = difference(ours, plain)
    mine, theirs = 100 * rate(ours), 100 * rate(plain)
    return (f"| {name} | {len(ours)} | {mine:.1f} | {theirs:.1f} | "
            f"{mine - theirs:+.1f} ({100 * low:+.1f} to {100 * high:+.1f}) |")  # fmt: skip


if __name__ == "__main__":
    main()
