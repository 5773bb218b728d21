"""The service over HTTP against plain use of faster-whisper, side by side in one run: error, short clips one at a time
and eight at a time, files of several windows, a short clip beside a long file, and what the service adds to the bare
decoding. In: clips of the manifest. Out: ratios. Run: python benchmarks/bench_decoding.py [--clips 30] [--beam-size 5]
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import tempfile
import time
import wave
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import httpx
import numpy as np
import platformdirs
from corpus import AUDIO, Clip, clips, errors, rate, transcribed
from faster_whisper import WhisperModel
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from app.audio.decoder import decode_audio
from app.audio.vad import speech_spans
from app.audio.waveform import SAMPLE_RATE
from app.cli.local_server import local_server
from app.decoding.cores import available_cores
from app.decoding.dispatcher import Dispatcher
from app.decoding.engine import EngineConfig
from app.decoding.metrics import DecodingMetrics
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
    """Where the time of a request goes, and what queue and model process add to the same windows on the bare engine."""
    engine = WhisperEngine(config)
    rows: dict[str, list[tuple[float, ...]]] = {"under a minute": [], "a minute and more": []}
    with asyncio.Runner() as runner:
        dispatcher = Dispatcher(config, DecodingMetrics(CollectorRegistry()), max_pending_audio_seconds=1e6)
        runner.run(dispatcher.start())
        for clip in found:
            timed = [_stages(clip, engine, runner, dispatcher, _service(client)) for _ in range(3)]
            kind = "under a minute" if clip.seconds < 60 else "a minute and more"
            rows[kind].append(tuple(map(statistics.median, zip(*timed, strict=True))))
        runner.run(dispatcher.stop(0))
    print("\n| files | queue + process over bare decoding, median | worst | share of audio decoding | VAD "
          "| HTTP and the rest |\n|---|---|---|---|---|---|")  # fmt: skip
    for name, values in rows.items():
        ratios = [queued / bare for bare, queued, *_ in values]
        whole = sum(row[4] for row in values)
        audio, speech = (sum(row[column] for row in values) / whole for column in (2, 3))
        rest = 1 - audio - speech - sum(row[1] for row in values) / whole
        print(f"| {name}, {len(values)} | {statistics.median(ratios):.2f} | {max(ratios):.2f} | {100 * audio:.0f} % | "
              f"{100 * speech:.0f} % | {100 * rest:.0f} % |")  # fmt: skip


def _stages(
    clip: Clip, engine: WhisperEngine, runner: asyncio.Runner, dispatcher: Dispatcher, service: Transcribe
) -> tuple[float, float, float, float, float]:
    """Seconds: bare engine on as many threads, through queue and process, audio decoding, VAD, whole request."""
    wanted = DecodeOptions(language=clip.language)
    jobs = [[WindowRequest("b", i, samples, PromptSet(), wanted)] for i, samples in enumerate(clip.windows)]

    async def queued() -> None:
        async for _ in dispatcher.submit("b", clip.windows, PromptSet(), wanted):
            pass

    marks = [time.perf_counter()]
    with ThreadPoolExecutor(len(dispatcher.worker_pids) * available_cores()) as threads:
        list(threads.map(engine.decode, jobs))
    marks.append(time.perf_counter())
    runner.run(queued())
    marks.append(time.perf_counter())
    waveform = decode_audio(AUDIO / clip.name, max_seconds=7200)
    marks.append(time.perf_counter())
    speech_spans(waveform.samples)
    marks.append(time.perf_counter())
    service(clip)
    marks.append(time.perf_counter())
    bare, through, audio, speech, whole = (later - sooner for sooner, later in pairwise(marks))
    return bare, through, audio, speech, whole


def _fairness(short: Sequence[Clip], client: httpx.Client) -> None:
    """Latency of a 5 s clip alone and while half an hour of real speech is being decoded."""
    clip, service = min(short, key=lambda one: abs(one.seconds - 5)), _service(client)
    alone = sorted(_timed(service, clip) for _ in range(20))
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        _half_an_hour(Path(file.name))
        _, before = _decoded(client)
        busy = subprocess.Popen(
            ["curl", "-s", "-o", "/dev/null", "-F", f"file=@{file.name}", f"{client.base_url}/transcribe"]
        )
        while _decoded(client)[1] == before:
            time.sleep(0.1)
        beside = sorted(_timed(service, clip) for _ in range(40))
        seconds, windows = _decoded(client)
        while _decoded(client)[1] < windows + 10:
            time.sleep(0.1)
        more, later = _decoded(client)
        assert busy.poll() is None, "the long file was done before the short ones"
        busy.kill()
        busy.wait()
    batch, p95 = (more - seconds) / (later - windows), beside[int(0.95 * (len(beside) - 1))]
    bound = 2 * statistics.median(alone) + batch
    print(f"\n5 s clip: alone {statistics.median(alone):.2f} s; beside half an hour of speech "
          f"{statistics.median(beside):.2f} s, p95 {p95:.2f} s; twice alone and one window of the half hour "
          f"({batch:.2f} s) are {bound:.2f} s: {p95 / bound:.2f} of that")  # fmt: skip


def _half_an_hour(path: Path) -> None:
    """Real recordings of a minute and more, one after the other and again, as 16-bit WAV."""
    found = [clip for clip in clips(folders=("real",)) if clip.seconds >= 60]
    speech = np.concatenate([decode_audio(AUDIO / clip.name, max_seconds=7200).samples for clip in found])
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes((np.resize(speech, 1800 * SAMPLE_RATE) * 32767).astype("<i2").tobytes())


def _decoded(client: httpx.Client) -> tuple[float, int]:
    """Model seconds and number of the windows decoded so far."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    samples = {sample.name: sample.value for family in families for sample in family.samples if not sample.labels}
    return samples["lexicue_decode_seconds_sum"], int(samples["lexicue_decode_seconds_count"])


def _timed(service: Transcribe, clip: Clip) -> float:
    started = time.perf_counter()
    service(clip)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
