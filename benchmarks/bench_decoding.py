"""The service over HTTP against plain use of faster-whisper, side by side in one run: error, short clips one at a time
and eight at a time, files of several windows, a short clip beside a long file, and what the service adds to the bare
decoding. In: clips of the manifest. Out: ratios. Run: python benchmarks/bench_decoding.py [--clips 30] [--beam-size 5]
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import platformdirs
from corpus import AUDIO, Clip, clips, errors, rate, transcribed
from faster_whisper import WhisperModel

from app.cli.local_server import local_server
from app.decoding.cores import available_cores
from app.decoding.engine import EngineConfig
from app.decoding.model_files import resolve_model
from app.decoding.request import DecodeOptions, PromptSet, WindowRequest
from app.decoding.whisper import WhisperEngine

LONG = ("real/en_columbia_bush_199s.wma", "real/en_aws_callcentre_278s_8bit_8k.wav", "real/long_ko_zeroth.m4a")
Transcribe = Callable[[Clip], str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=30, help="short clips, spread over the manifest")
    parser.add_argument("--beam-size", type=int, default=1)
    options = parser.parse_args()
    cores = available_cores()
    os.environ["LEXICUE_BEAM_SIZE"] = str(options.beam_size)
    model = resolve_model("bundled", Path(platformdirs.user_cache_dir("lexicue")))
    library = WhisperModel(str(model), device="cpu", compute_type="int8", cpu_threads=cores)
    short = [clip for clip in transcribed(clips(folders=("real",))) if 2 <= clip.seconds < 12 and clip.windows]
    short = short[:: max(1, len(short) // options.clips)][: options.clips]
    long = clips(folders=("real",), wanted=lambda name: name in LONG)
    print(f"{len(short)} short clips, {len(long)} long ones, {cores} cores, beam {options.beam_size}\n")
    with local_server(sample=False) as url, httpx.Client(base_url=url, timeout=600) as client:
        _compare(short, long, _plain(library, options.beam_size), _service(client))
        _overhead(short + long, client, EngineConfig(model_path=model, beam_size=options.beam_size, workers=cores))
        _fairness(short, client)


def _plain(library: WhisperModel, beam_size: int) -> Transcribe:
    """The library as its own documentation shows it, greedy, with voice detection."""

    def transcribe(clip: Clip) -> str:
        segments, _ = library.transcribe(
            str(AUDIO / clip.name), beam_size=beam_size, vad_filter=True, condition_on_previous_text=False,
            language=clip.language,
        )  # fmt: skip
        return "".join(segment.text for segment in segments)

    return transcribe


def _service(client: httpx.Client) -> Transcribe:
    def transcribe(clip: Clip) -> str:
        with (AUDIO / clip.name).open("rb") as file:
            answer = client.post("/transcribe", files={"file": file}, data={"language": clip.language})
        answer.raise_for_status()
        text: str = answer.json()["text"]
        return text

    return transcribe


def _compare(short: Sequence[Clip], long: Sequence[Clip], plain: Transcribe, service: Transcribe) -> None:
    for transcribe in (plain, service):  # both warm
        transcribe(short[0])
    print("| | plain library s | service s | ratio |\n|---|---|---|---|")
    texts: dict[str, list[str]] = {}
    for name, found, at_a_time in (
        ("short, one at a time", short, 1),
        ("short, eight at a time", short, 8),
        ("long", long, 1),
    ):
        seconds = []
        for way, transcribe in (("plain", plain), ("service", service)):
            started = time.perf_counter()
            with ThreadPoolExecutor(at_a_time) as threads:
                got = list(threads.map(transcribe, found))
            seconds.append(time.perf_counter() - started)
            if at_a_time == 1:
                texts.setdefault(way, []).extend(got)
        print(f"| {name} | {seconds[0]:.2f} | {seconds[1]:.2f} | {seconds[0] / seconds[1]:.2f} |")
    print("\n| error % | plain library | service |\n|---|---|---|")
    everything = [*short, *long]
    for metric in ("WER", "CER"):
        mine = [index for index, clip in enumerate(everything) if clip.reference and clip.metric == metric]
        cells = [100 * rate([errors(everything[i], texts[way][i]) for i in mine]) for way in ("plain", "service")]
        print(f"| {metric}, {len(mine)} clips | {cells[0]:.1f} | {cells[1]:.1f} |")


def _overhead(found: Sequence[Clip], client: httpx.Client, config: EngineConfig) -> None:
    """Wall time of a request over the wall time of the same windows on the bare engine with as many threads."""
    engine, service = WhisperEngine(config), _service(client)
    ratios: dict[str, list[float]] = {"short": [], "a minute and more": []}
    for clip in found:
        wanted = DecodeOptions(language=clip.language)
        jobs = [[WindowRequest("b", i, samples, PromptSet(), wanted)] for i, samples in enumerate(clip.windows)]
        times = []
        for _ in range(3 if clip.seconds < 60 else 1):
            started = time.perf_counter()
            with ThreadPoolExecutor(config.workers) as threads:
                list(threads.map(engine.decode, jobs))
            bare = time.perf_counter() - started
            started = time.perf_counter()
            service(clip)
            times.append((time.perf_counter() - started) / bare)
        ratios["short" if clip.seconds < 60 else "a minute and more"].append(statistics.median(times))
    print("\n| whole request (HTTP, audio, VAD, queue) over bare decoding | median | worst |\n|---|---|---|")
    for name, values in ratios.items():
        if values:
            print(f"| {name} | {statistics.median(values):.2f} | {max(values):.2f} |")


def _fairness(short: Sequence[Clip], client: httpx.Client) -> None:
    """Latency of a 5 s clip alone and while long files are being decoded."""
    clip, service = min(short, key=lambda one: abs(one.seconds - 5)), _service(client)
    alone = [_timed(service, clip) for _ in range(10)]
    (busy,) = clips(folders=("real",), wanted=lambda name: name == LONG[1])
    beside = []
    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(service, busy)
        while not working.done():
            beside.append(_timed(service, clip))
    slowest = sorted(beside)[int(0.95 * (len(beside) - 1))]
    print(f"\n5 s clip: alone {statistics.median(alone):.2f} s; beside a {busy.seconds:.0f} s file p95 {slowest:.2f} s "
          f"of {len(beside)}, median {statistics.median(beside):.2f} s")  # fmt: skip


def _timed(service: Transcribe, clip: Clip) -> float:
    started = time.perf_counter()
    service(clip)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
