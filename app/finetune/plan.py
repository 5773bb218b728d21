"""The input cut into chunks. In: entries, one at a time. Out: chunks of one split, each with a key that says all that
decides its bytes. Entries lie in files without a name, which vanish with the process however it ends: memory holds
none of them. Blocking; main thread."""

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO

from app.finetune.chunk import Job, Recipe
from app.finetune.entries import Entry, Reject, Rejected, Split
from app.finetune.terms import TermFinder, split_of

# Part of every key: raise it when the same input should give other bytes.
_FORMAT = 1
PLAIN, TERMS = "shard", "terms"
# The next chunk is an eighth of what is left of its group, between these and the most that is wanted.
_SHARE, _SMALLEST = 8, 32
# Enough to tell whether two inputs share recordings, few enough to keep.
_SAMPLE = 64
_Group = tuple[Split, str]


@dataclass(frozen=True, slots=True)
class Division:
    """How entries are divided. `validation`: share in [0, 1). Entries with a term of `oversampled` get shards of
    their own in the training split; those with one of `held_out` go to a split of their own."""

    validation: float
    chunk_files: int
    oversampled: TermFinder
    held_out: TermFinder


@dataclass(frozen=True, slots=True)
class Chunk:
    """`name`: such as `train/shard-00003`. `group`, `at`, `length`: where its entries lie, in bytes."""

    name: str
    key: str
    size: int
    group: _Group
    at: int
    length: int


@dataclass(slots=True)
class Plan:
    """`rejects` are those of the input itself, as JSON lines; `first` counts them by reason. `sample`: the smallest
    hashes of the recordings' names and sizes, in order; two inputs that share none are two inputs. Close it."""

    base: Path
    recipe: Recipe
    chunks: list[Chunk] = field(default_factory=list)
    first: Counter[str] = field(default_factory=Counter)
    entries: int = 0
    sample: list[str] = field(default_factory=list)
    _files: dict[_Group, BinaryIO] = field(default_factory=dict)
    _counts: Counter[_Group] = field(default_factory=Counter)
    _open: ExitStack = field(default_factory=ExitStack)
    rejects: BinaryIO = field(init=False)

    def __post_init__(self) -> None:
        self.rejects = self._scratch()

    def close(self) -> None:
        self._open.close()

    def add(self, group: _Group, entry: Entry) -> None:
        if group not in self._files:
            self._files[group] = self._scratch()
        self._files[group].write(_line(entry))
        self._counts[group] += 1

    def reject(self, reject: Reject) -> None:
        self.first[reject.reason.value] += 1
        self.rejects.write(_line(reject))

    def cut(self, most: int) -> None:
        """Chunks of at most so many entries, by split and group, whatever the input's order of splits."""
        order = list(Split)
        for group in sorted(self._files, key=lambda group: (order.index(group[0]), group[1])):
            self._files[group].seek(0)
            for number, size in enumerate(chunk_sizes(self._counts[group], most)):
                self.chunks.append(self._chunk(group, number, size))

    def job(self, chunk: Chunk, out: str) -> Job:
        file = self._files[chunk.group]
        file.seek(chunk.at)
        lines = file.read(chunk.length).splitlines()
        entries = tuple(Entry(**json.loads(line)) for line in lines)
        return Job(chunk.name, chunk.key, str(self.base), out, self.recipe, entries)

    def _chunk(self, group: _Group, number: int, size: int) -> Chunk:
        file = self._files[group]
        at = file.tell()
        digest = hashlib.sha256(f"{_FORMAT} {_settings(self.recipe)}\n".encode())
        for _ in range(size):
            line = file.readline()
            source = json.loads(line)["source"]
            bytes_heard = _size(self.base / source)
            digest.update(b"%s %s\n" % (line.rstrip(), str(bytes_heard).encode()))
            self._see(source, bytes_heard)
        name = f"{group[0].value}/{group[1]}-{number:05}"
        return Chunk(name, digest.hexdigest(), size, group, at, file.tell() - at)

    def _see(self, source: str, size: int | None) -> None:
        seen = hashlib.sha256(f"{source}\n{size}".encode()).hexdigest()[:16]
        full = len(self.sample) == _SAMPLE
        if not (full and seen >= self.sample[-1]) and seen not in self.sample:
            self.sample = sorted([*self.sample, seen])[:_SAMPLE]

    def _scratch(self) -> BinaryIO:
        file: BinaryIO = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - closed by `close`
        return file


def make_plan(found: Iterable[Entry | Reject], division: Division, recipe: Recipe, base: Path) -> Plan:
    """Walks the input once, then each group of entries."""
    plan = Plan(base, recipe)
    try:
        for entry in found:
            plan.entries += 1
            group = entry if isinstance(entry, Reject) else _placed(entry, division)
            if isinstance(group, Reject):
                plan.reject(group)
            else:
                assert isinstance(entry, Entry)  # noqa: S101 - only entries have a place
                plan.add(group, entry)
        plan.cut(division.chunk_files)
    except BaseException:
        plan.close()
        raise
    return plan


def chunk_sizes(total: int, most: int) -> Iterator[int]:
    """Sizes that add up to `total`, never growing: `most` as long as there is plenty, then an eighth of what is left.
    Workers that take the largest first are then done together, with nothing else in the plan that knows how many there
    are (guided self-scheduling; Polychronopoulos and Kuck, 1987)."""
    left = total
    while left:
        size = min(left, most, max(_SMALLEST, -(-left // _SHARE)))
        yield size
        left -= size


def _placed(entry: Entry, division: Division) -> _Group | Reject:
    if division.held_out.finds(entry.text):
        return Split.HELDOUT, PLAIN
    try:
        split = split_of(entry, division.validation)
    except Rejected as rejected:
        return Reject(entry.source, rejected.reason, rejected.detail, entry.start)
    return split, TERMS if split is Split.TRAIN and division.oversampled.finds(entry.text) else PLAIN


def _line(entry: Entry | Reject) -> bytes:
    return json.dumps(asdict(entry)).encode("ascii") + b"\n"


def _settings(recipe: Recipe) -> str:
    return json.dumps({name: value for name, value in asdict(recipe).items() if name != "tokenizer"}, sort_keys=True)


def _size(path: Path) -> int | None:
    """A recording that was put right since it was rejected nearly always has another size."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return None
