"""The input cut into chunks. In: entries, one at a time. Out: chunks of some 500 of one split, each with a key that
says all that decides its bytes, kept in a scratch folder: memory holds one unfinished chunk a group. Blocking."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TextIO

from app.finetune.chunk import Job, Recipe
from app.finetune.entries import Entry, Reject, Rejected, Split
from app.finetune.terms import TermFinder, split_of

# Part of every key: raise it when the same input should give other bytes.
_FORMAT = 1
PLAIN, TERMS = "shard", "terms"
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
    """`name`: such as `train/shard-00003`."""

    name: str
    key: str
    size: int


@dataclass(slots=True)
class Plan:
    """`rejects` are those of the input itself, in a file of JSON lines; `first` counts them by reason. `numbers`: of
    the next chunk of each group."""

    scratch: Path
    base: Path
    recipe: Recipe
    chunks: list[Chunk] = field(default_factory=list)
    first: Counter[str] = field(default_factory=Counter)
    numbers: Counter[_Group] = field(default_factory=Counter)
    entries: int = 0

    @property
    def rejects(self) -> Path:
        return self.scratch / "rejects.jsonl"

    def reject(self, reject: Reject, file: TextIO) -> None:
        self.first[reject.reason.value] += 1
        file.write(json.dumps(asdict(reject)) + "\n")

    def job(self, chunk: Chunk, out: str) -> Job:
        lines = self.path(chunk.name).read_text(encoding="ascii").splitlines()
        entries = tuple(Entry(**json.loads(line)) for line in lines)
        return Job(chunk.name, chunk.key, str(self.base), out, self.recipe, entries)

    def path(self, name: str) -> Path:
        return self.scratch / f"{name}.jsonl"


def make_plan(found: Iterable[Entry | Reject], division: Division, recipe: Recipe, base: Path, scratch: Path) -> Plan:
    """Walks the input once. Chunks come out by split, group and number, whatever the input's order of splits."""
    plan = Plan(scratch, base, recipe)
    waiting: dict[_Group, list[Entry]] = {}
    with plan.rejects.open("w", encoding="ascii") as rejects:
        for entry in found:
            plan.entries += 1
            if isinstance(entry, Reject):
                plan.reject(entry, rejects)
                continue
            group = _placed(entry, division)
            if isinstance(group, Reject):
                plan.reject(group, rejects)
                continue
            waiting.setdefault(group, []).append(entry)
            if len(waiting[group]) == division.chunk_files:
                _close(plan, group, waiting.pop(group))
    for group, entries in waiting.items():
        _close(plan, group, entries)
    splits = list(Split)
    plan.chunks.sort(key=lambda chunk: (splits.index(Split(chunk.name.partition("/")[0])), chunk.name))
    return plan


def _placed(entry: Entry, division: Division) -> _Group | Reject:
    if division.held_out.finds(entry.text):
        return Split.HELDOUT, PLAIN
    try:
        split = split_of(entry, division.validation)
    except Rejected as rejected:
        return Reject(entry.source, rejected.reason, rejected.detail, entry.start)
    return split, TERMS if split is Split.TRAIN and division.oversampled.finds(entry.text) else PLAIN


def _close(plan: Plan, group: _Group, entries: list[Entry]) -> None:
    split, kind = group
    name = f"{split.value}/{kind}-{plan.numbers[group]:05}"
    plan.numbers[group] += 1
    digest = hashlib.sha256(f"{_FORMAT} {_settings(plan.recipe)}\n".encode())
    path = plan.path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="ascii") as file:
        for entry in entries:
            line = json.dumps(asdict(entry))
            file.write(line + "\n")
            digest.update(f"{line} {_size(plan.base / entry.source)}\n".encode())
    plan.chunks.append(Chunk(name, digest.hexdigest(), len(entries)))


def _settings(recipe: Recipe) -> str:
    return json.dumps({name: value for name, value in asdict(recipe).items() if name != "tokenizer"}, sort_keys=True)


def _size(path: Path) -> int | None:
    """A recording that was put right since it was rejected nearly always has another size."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return None
