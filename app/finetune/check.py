"""Is a prepared set what it says it is? In: its address, the model's tokenizer. Out: what was found wrong, and a few
examples to look at. Blocking; one thread; one batch of a shard in memory at a time."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from app.audio.waveform import SAMPLE_RATE, WINDOW_SECONDS
from app.decoding.model_files import file_sha256
from app.decoding.request import Task
from app.errors import InvalidRequest
from app.finetune.card import INDEX, REPORT
from app.finetune.mel import FRAMES, Features, heard_frames
from app.finetune.shard import schema_of
from app.finetune.storage import Storage
from app.finetune.target import Target

# Eight decades of power, over four, and half a step of float16 at either end.
_RANGE = 2.002
_LISTED_PROBLEMS = 100


@dataclass(frozen=True, slots=True)
class Shown:
    """An example to look at: its features, and what its labels say."""

    shard: str
    source: str
    seconds: float
    text: str
    features: Features


@dataclass(slots=True)
class Findings:
    """`problems`: what is wrong, the first hundred; `count` of them all. Empty: the set is sound."""

    shards: int = 0
    rows: int = 0
    hours: float = 0.0
    count: int = 0
    problems: list[str] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)

    def add(self, problem: str) -> None:
        self.count += 1
        if len(self.problems) < _LISTED_PROBLEMS:
            self.problems.append(problem)


def check(address: str, model: Path, *, show: int, tick: Callable[[], None]) -> Findings:
    """Hashes, shapes, numbers and labels of every row; then, if all is well, the whole through `datasets`.

    `show`: how many examples to keep for looking at, one a shard. Raises InvalidRequest when there is no finished set
    there or it was made for another tokenizer."""
    storage = Storage(address)
    text = storage.read_text(REPORT)
    if text is None or storage.read_text(INDEX) is None:
        raise InvalidRequest("There is no finished set; `lexicue finetune prepare` finishes one.", param="out")
    told = _report(text)
    tokenizer = model / "tokenizer.json"
    if file_sha256(tokenizer) != told["options"]["tokenizer_sha256"]:
        raise InvalidRequest("The set was made for another tokenizer; name its model with --model.", param="model")
    target = Target(tokenizer, Task(told["options"]["task"]))
    findings = Findings()
    for shard in told["shards"]:
        _check_shard(storage, shard, target, told["options"]["mels"], findings, show=len(findings.shown) < show)
        tick()
    if not findings.count:
        _check_loading(storage.address, told, findings)
    findings.hours = round(findings.hours, 4)
    return findings


def _report(text: str) -> dict[str, Any]:
    """Raises InvalidRequest for a report that is not the one that was written."""
    try:
        told: dict[str, Any] = json.loads(text)
        hashes = "".join(shard["sha256"] for shard in told["shards"])
        whole = hashlib.sha256(hashes.encode()).hexdigest() == told["sha256"]
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise InvalidRequest(
            f"{REPORT} is damaged; run `lexicue finetune prepare` again, which keeps sound shards.", param="out"
        )
    return told


def _check_shard(
    storage: Storage, shard: dict[str, Any], target: Target, mels: int, findings: Findings, *, show: bool
) -> None:
    name = shard["shard"]
    if storage.size(name) != shard["bytes"]:
        findings.add(f"{name}: missing, or of another size than its record says")
        return
    with storage.reading(name) as path:
        if file_sha256(path) != shard["sha256"]:
            findings.add(
                f"{name}: its bytes are not those that were written; remove it and run `lexicue finetune prepare`"
            )
            return
        rows = 0
        for row in _rows(path, mels, findings, name):
            for problem in _problems(row, target):
                findings.add(f"{name}, row {rows} ({row.source}): {problem}")
            if show and rows == 0:
                text = target.text(row.labels)
                findings.shown.append(Shown(name, row.source, row.seconds, text, row.features.copy()))
            rows += 1
            findings.hours += row.seconds / 3600
    if rows != shard["rows"]:
        findings.add(f"{name}: {rows} rows, its record says {shard['rows']}")
    findings.shards += 1
    findings.rows += rows


@dataclass(frozen=True, slots=True)
class _Row:
    features: Features
    labels: list[int]
    seconds: float
    source: str


def _rows(path: Path, mels: int, findings: Findings, name: str) -> Iterator[_Row]:
    with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
        if stream.schema.names != schema_of(mels).names:
            findings.add(f"{name}: its columns are {stream.schema.names}")
            return
        for batch in stream:
            column = batch.column("input_features")
            lists = column.storage if isinstance(column, pa.ExtensionArray) else column
            features = lists.flatten().flatten().to_numpy(zero_copy_only=True).reshape(len(batch), mels, FRAMES)
            for place, labels in enumerate(batch.column("labels").to_pylist()):
                seconds = batch.column("duration")[place].as_py()
                yield _Row(features[place], labels, seconds, batch.column("source")[place].as_py())


def _problems(row: _Row, target: Target) -> Iterator[str]:
    if not 0 < row.seconds <= WINDOW_SECONDS:
        yield f"a duration of {row.seconds} s"
        return
    lowest, highest = row.features.min(), row.features.max()
    if not np.isfinite(row.features).all() or float(highest) - float(lowest) > _RANGE:
        yield "numbers that no spectrogram has"
    elif lowest == highest:
        yield "a spectrogram of nothing"
    elif not (row.features[:, heard_frames(round(row.seconds * SAMPLE_RATE)) :] == lowest).all():
        yield f"sound after its duration of {row.seconds:.2f} s"
    if not target.is_sound(row.labels):
        yield "labels that are not text between the right control tokens"


def _check_loading(address: str, told: dict[str, Any], findings: Findings) -> None:
    """One call of the library that training uses, and the row counts that it sees."""
    from datasets import load_from_disk  # seconds to import, and only this step needs it

    try:
        loaded = load_from_disk(address)
    except Exception as error:  # noqa: BLE001 - whatever it says of a damaged index is a finding
        findings.add(f"`datasets` cannot load the set ({type(error).__name__}); run `lexicue finetune prepare` again")
        return
    for split in told["rows"]:
        shards = [each for each in told["shards"] if each["shard"].startswith(f"{split}/")]
        expected = sum(each["rows"] * each["times"] for each in shards)
        if split not in loaded or len(loaded[split]) != expected:
            findings.add(f"{split}: `datasets` does not see its {expected} rows")
