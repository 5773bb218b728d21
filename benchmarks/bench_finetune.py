"""How fast recordings become training shards: one worker, two workers, and `datasets.map(num_proc=2)` with the same
decoder and tokenizer, once with the features of transformers and once with ours. Beside them what the machine can give:
the same decoding and features in one and in two processes that share nothing and write nothing. All write to memory,
since `map` never waits for a disk, and ours once more to the disk. In: nothing. Out: a table on stdout, clips a second
and ratios, every way in every round of one run; numeric libraries on one thread."""

import functools
import multiprocessing
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from datasets import Array2D, Dataset, Features, List, Value, disable_progress_bars
from transformers import WhisperFeatureExtractor, WhisperTokenizer

from app.audio.decoder import decode_audio
from app.decoding.model_files import resolve_model
from app.finetune.mel import log_mel
from app.finetune.prepare import Options, prepare
from app.finetune.worker import ONE_THREAD

CLIP = Path(__file__).resolve().parents[1] / "tests" / "data" / "audio" / "jfk.mp3"
TEXT = "And so, my fellow Americans, ask not what your country can do for you."
# So many that the second or two of starting and finishing is under a tenth of the shortest way.
CLIPS, CLIPS_REFERENCE, CLIPS_ALONE, ROUNDS = 1400, 60, 150, 2
MEMORY = next((path for path in ("/dev/shm",) if Path(path).is_dir()), None)  # noqa: S108 - unguessable folders in it
COLUMNS = Features({"input_features": Array2D((80, 3000), "float16"), "labels": List(Value("int32"))})


@functools.cache
def reference(model: str) -> tuple[WhisperFeatureExtractor, WhisperTokenizer]:
    return WhisperFeatureExtractor(), WhisperTokenizer.from_pretrained(model, language="en", task="transcribe")


def map_row(row: dict[str, Any], model: str, ours: bool) -> dict[str, Any]:
    extractor, tokenizer = reference(model)
    samples = decode_audio(Path(row["audio"]), max_seconds=60).samples
    if ours:
        features = log_mel(samples, 80)
    else:
        features = extractor(samples, sampling_rate=16_000, return_tensors="np").input_features[0].astype(np.float16)
    return {"input_features": features, "labels": tokenizer(row["text"]).input_ids}


def mapped(folder: Path, scratch: Path, model: Path, clips: int, *, ours: bool) -> None:
    rows = Dataset.from_dict({"audio": [str(folder / f"{n}.mp3") for n in range(clips)], "text": [TEXT] * clips})
    scratch.mkdir()
    arguments = {"model": str(model), "ours": ours}
    done = rows.map(
        map_row,
        fn_kwargs=arguments,
        num_proc=2,
        features=COLUMNS,
        remove_columns=["audio", "text"],
        cache_file_name=str(scratch / "mapped.arrow"),
        load_from_cache_file=False,
        writer_batch_size=32,
    )
    assert len(done) == clips


def prepared(folder: Path, scratch: Path, model: Path, workers: int) -> None:
    options = Options(model=model, workers=workers, validation=0.0)
    assert prepare(folder / "manifest.tsv", str(scratch), options, lambda told: None)["rows"] == {"train": CLIPS}


def hear(clips: int) -> None:
    for _ in range(clips):
        log_mel(decode_audio(CLIP, max_seconds=60).samples, 80)


def alone(processes: int) -> float:
    """Clips a second of processes that know nothing of each other, their start not counted."""
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        pool.map(hear, [5] * processes, chunksize=1)
        begun = time.perf_counter()
        pool.map(hear, [CLIPS_ALONE] * processes, chunksize=1)
        return processes * CLIPS_ALONE / (time.perf_counter() - begun)


def rate(clips: int, scratch: Path, work: Callable[[Path], None]) -> float:
    begun = time.perf_counter()
    work(scratch)
    taken = time.perf_counter() - begun
    shutil.rmtree(scratch)
    return clips / taken


def main() -> None:
    disable_progress_bars()
    model = resolve_model("bundled", platformdirs.user_cache_path("lexicue"))
    with (
        tempfile.TemporaryDirectory(prefix="lexicue-bench-") as disk,
        tempfile.TemporaryDirectory(prefix="lexicue-bench-", dir=MEMORY) as name,
    ):
        folder = Path(name, "clips")
        folder.mkdir()
        for number in range(CLIPS):
            shutil.copyfile(CLIP, folder / f"{number}.mp3")
        rows = "".join(f"{number}.mp3\t{TEXT}\ten\n" for number in range(CLIPS))
        (folder / "manifest.tsv").write_text("audio\ttext\tlanguage\n" + rows)
        on_disk = Path(disk, "set")
        ways: dict[str, tuple[int, Callable[[Path], None]]] = {
            "prepare, 1 worker": (CLIPS, lambda scratch: prepared(folder, scratch, model, 1)),
            "prepare, 2 workers": (CLIPS, lambda scratch: prepared(folder, scratch, model, 2)),
            "prepare, 1 worker, to the disk": (CLIPS, lambda _: prepared(folder, on_disk, model, 1)),
            "prepare, 2 workers, to the disk": (CLIPS, lambda _: prepared(folder, on_disk, model, 2)),
            "map, 2 processes, our features": (CLIPS, lambda at: mapped(folder, at, model, CLIPS, ours=True)),
            "map, 2 processes, transformers": (
                CLIPS_REFERENCE,
                lambda at: mapped(folder, at, model, CLIPS_REFERENCE, ours=False),
            ),
        }
        ceilings = {f"decoding and features only, {count} process(es)": count for count in (1, 2)}
        rates: dict[str, list[float]] = {way: [] for way in [*ways, *ceilings]}
        for _ in range(ROUNDS):
            for way, count in ceilings.items():
                rates[way].append(alone(count))
                print(f"{way}: {rates[way][-1]:.1f} clips/s", file=sys.stderr)
            for way, (clips, work) in ways.items():
                rates[way].append(rate(clips, on_disk if way.endswith("disk") else Path(name, "scratch"), work))
                print(f"{way}: {rates[way][-1]:.1f} clips/s", file=sys.stderr)
    both = statistics.median(rates["prepare, 2 workers"])
    one, two = (statistics.median(rates[way]) for way in ceilings)
    print(f"{CLIPS} clips of 11 s. Two processes that share nothing are {two / one:.2f} times as fast as one here.\n")
    print("| way | clips a second (median, all) | 2 workers against it |\n|---|---|---|")
    for way, found in rates.items():
        middle = statistics.median(found)
        print(f"| {way} | {middle:.1f} ({', '.join(f'{each:.1f}' for each in found)}) | {both / middle:.2f} x |")


if __name__ == "__main__":
    if os.environ.get("OMP_NUM_THREADS") != "1":  # read when numpy is imported: begin again
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE_THREAD)  # noqa: S606 - itself
    main()
