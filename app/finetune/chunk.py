"""One chunk of a training set: some 500 entries to one shard. In: a job. Out: the shard and its record under the
output address; only the record goes back to the parent. Blocking; the one thread of a worker process."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from app.audio.decoder import decode_audio
from app.audio.waveform import SAMPLE_RATE, Samples, Waveform
from app.decoding.request import Task
from app.errors import InvalidAudio, TooLarge
from app.finetune.entries import Entry, Reason, Reject, Rejected
from app.finetune.mel import log_mel
from app.finetune.shard import Example, ShardWriter
from app.finetune.sound import Long, fit_sound
from app.finetune.storage import Storage
from app.finetune.target import Target, language_code


@dataclass(frozen=True, slots=True)
class Recipe:
    """What decides a shard's bytes besides its entries. `tokenizer`: path of the file with that hash; `versions`: of
    the libraries that the bytes come from."""

    tokenizer: str
    tokenizer_sha256: str
    mels: int
    task: Task
    long: Long
    max_audio_seconds: float
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class Job:
    """`name`: split and shard, such as `train/shard-00003`. `key`: hash of all that decides the bytes. `base`: the
    folder that sources are relative to. `crashed`: positions of entries that ended a worker's process before."""

    name: str
    key: str
    base: str
    out: str
    recipe: Recipe
    entries: tuple[Entry, ...]
    crashed: tuple[int, ...] = ()

    @property
    def shard(self) -> str:
        return f"{self.name}.arrow"

    @property
    def record(self) -> str:
        return record_name(self.name)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Job":
        fields = json.loads(text)
        recipe = fields["recipe"]
        return cls(
            **fields
            | {
                "recipe": Recipe(**recipe | {"task": Task(recipe["task"]), "long": Long(recipe["long"])}),
                "entries": tuple(Entry(**entry) for entry in fields["entries"]),
                "crashed": tuple(fields["crashed"]),
            }
        )


def record_name(name: str) -> str:
    return f"records/{name}.json"


def prepare_chunk(job: Job, tick: Callable[[int], None]) -> dict[str, Any]:
    """Write the shard, then its record, and return the record. `tick` is called with each entry's position before it
    is read. Raises OSError when the output cannot be written; what is wrong with an entry becomes a reject."""
    storage = Storage(job.out)
    rejects: list[Reject] = []
    languages: Counter[str] = Counter()
    seconds = rows = cut = 0
    with storage.writing(job.shard) as path, ShardWriter(path, job.recipe.mels) as shard:
        for position, entry in enumerate(job.entries):
            tick(position)
            try:
                if position in job.crashed:
                    raise Rejected(Reason.CRASHED, "reading it ended the worker process")
                example, was_cut = _example(entry, job)
            except Rejected as rejected:
                rejects.append(Reject(entry.source, rejected.reason, rejected.detail, entry.start))
                continue
            except Exception as error:  # noqa: BLE001 - no single file may end a run of days; it is counted and named
                rejects.append(Reject(entry.source, Reason.CRASHED, type(error).__name__, entry.start))
                continue
            shard.add(example)
            rows += 1
            cut += was_cut
            seconds += round(example.seconds * SAMPLE_RATE)
            languages[example.language] += 1
    record = {
        "key": job.key,
        "shard": job.shard,
        "sha256": shard.sha256,
        "bytes": shard.size,
        "rows": rows,
        "seconds": seconds / SAMPLE_RATE,
        "cut": cut,
        "languages": dict(sorted(languages.items())),
        "rejects": [asdict(reject) for reject in rejects],
    }
    storage.write_text(job.record, json.dumps(record, ensure_ascii=True, indent=1) + "\n")
    return record


def _example(entry: Entry, job: Job) -> tuple[Example, bool]:
    recipe = job.recipe
    target = _target(recipe.tokenizer, recipe.task)
    labels = target.labels(entry.text, entry.language)
    heard = _part(_waveform(str(Path(job.base, entry.source)), recipe.max_audio_seconds).samples, entry)
    samples = fit_sound(heard, recipe.long)
    example = Example(
        log_mel(samples, recipe.mels),
        labels,
        len(samples) / SAMPLE_RATE,
        entry.start or 0.0,
        entry.source,
        language_code(entry.language),
    )
    return example, len(samples) < len(heard)


def _part(samples: Samples, entry: Entry) -> Samples:
    start = round((entry.start or 0.0) * SAMPLE_RATE)
    end = len(samples) if entry.end is None else round(entry.end * SAMPLE_RATE)
    if start and start >= len(samples):
        raise Rejected(Reason.BAD_TIMES, f"the recording ends at {len(samples) / SAMPLE_RATE:.2f} s")
    return samples[start:end]


@lru_cache(1)
def _target(tokenizer: str, task: Task) -> Target:
    return Target(Path(tokenizer), task)


@lru_cache(1)
def _waveform(path: str, max_seconds: float) -> Waveform:
    """The last recording is kept: its parts follow one another in most inputs."""
    if not Path(path).is_file():
        raise Rejected(Reason.MISSING_FILE, "a folder, not a file" if Path(path).is_dir() else "")
    try:
        waveform = decode_audio(Path(path), max_seconds=max_seconds)
    except InvalidAudio as error:
        raise Rejected(Reason.BAD_AUDIO, error.code) from None
    except TooLarge:
        raise Rejected(Reason.TOO_LONG, f"over {max_seconds:.0f} s") from None
    if not waveform.complete:
        raise Rejected(Reason.DAMAGED_AUDIO, waveform.warnings[0])
    return waveform
