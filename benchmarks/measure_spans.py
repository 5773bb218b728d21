"""Where speech without a pause is cut. In: clips over 29 s with trusted transcripts, and the two recordings that say
brands in every window. Out: a table of error, time, windows and brands per span length (docs/adr/0032). Run:
python benchmarks/measure_spans.py"""

import argparse
import dataclasses
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import platformdirs
from corpus import AUDIO, Clip, clips, errors, rate, transcribed

from app.audio import vad
from app.audio.decoder import decode_audio
from app.audio.waveform import Samples
from app.audio.windows import pack_windows
from app.decoding.engine import EngineConfig
from app.decoding.model_files import resolve_model
from app.decoding.request import ANY_LANGUAGE, DecodeOptions, PromptSet, WindowRequest
from app.decoding.whisper import WhisperEngine
from app.prompt.tokens import WhisperTokens

BRANDS = ("Sonalift", "Velnora", "Qarvelle", "Zytriflex", "Brixomab", "Doctor Kwon")
PROMPT = " Oculina, Ferrodexa, Taminol, Doctor Kwon, Brixomab, Zytriflex, Qarvelle, Velnora, Sonalift"
RECORDINGS = ("windows_late", "windows_alt")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, nargs="+", default=[30, 25, 20, 15])
    options = parser.parse_args()
    model = resolve_model("bundled", Path(platformdirs.user_cache_dir("lexicue")))
    engine = WhisperEngine(EngineConfig(model_path=model, workers=2))
    ids = tuple(WhisperTokens.from_file(model / "tokenizer.json").encode(PROMPT))
    long = [clip for clip in transcribed(clips(folders=("real",))) if clip.seconds > 29]
    print(f"{len(long)} clips\n\n| cut at s | error % | time s | recording: windows, brands right |\n|---|---|---|---|")
    for seconds in options.seconds:
        vad._OPTIONS = dataclasses.replace(vad._OPTIONS, max_speech_duration_s=seconds)

        def heard(clip: Clip) -> str:
            return _text(engine, _windows(AUDIO / clip.name), clip.language.split("+")[0])

        started = time.perf_counter()
        with ThreadPoolExecutor(2) as threads:
            counts = [errors(clip, text) for clip, text in zip(long, threads.map(heard, long), strict=True)]
        spent = time.perf_counter() - started
        brands = "; ".join(_brands(engine, name, ids) for name in RECORDINGS)
        print(f"| {seconds:g} | {100 * rate(counts):.2f} | {spent:.1f} | {brands} |", flush=True)


def _windows(path: Path) -> list[Samples]:
    samples = decode_audio(path, max_seconds=7200).samples
    return [window.cut(samples) for window in pack_windows(vad.speech_spans(samples))]


def _text(engine: WhisperEngine, windows: Sequence[Samples], language: str, ids: tuple[int, ...] = ()) -> str:
    prompts, options = PromptSet({ANY_LANGUAGE: ids}), DecodeOptions(language=language)
    asked = [WindowRequest("r", index, samples, prompts, options) for index, samples in enumerate(windows)]
    return "".join(segment.text for result in engine.decode(asked) for segment in result.segments)


def _brands(engine: WhisperEngine, name: str, ids: tuple[int, ...]) -> str:
    windows = _windows(AUDIO / "brands" / f"{name}.flac")
    text, said = _text(engine, windows, "en", ids), (AUDIO / "brands" / f"{name}.txt").read_text()
    right = sum(min(text.count(brand), said.count(brand)) for brand in BRANDS)
    lengths = ", ".join(f"{len(window) / 16_000:.1f}" for window in windows)
    return f"{name}: {lengths}; {right} of {sum(map(said.count, BRANDS))}"


if __name__ == "__main__":
    main()
